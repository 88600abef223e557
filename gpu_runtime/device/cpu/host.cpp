#include "device/cpu/host.hpp"

#include <cpuid.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "base/settings.hpp"

namespace xcuda::device::cpu {

namespace {

std::array<unsigned, 4> cpuid(unsigned leaf, unsigned subleaf = 0) {
    std::array<unsigned, 4> out{};
    __get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2], &out[3]);
    return out;
}

std::string brand() {
    char text[49] = {};
    for (unsigned part = 0; part < 3; ++part) {
        const auto words = cpuid(0x80000002u + part);
        std::memcpy(text + 16 * part, words.data(), 16);
    }
    std::string name(text);
    const auto begin = name.find_first_not_of(' ');
    return begin == std::string::npos ? "x86-64 processor"
                                      : name.substr(begin, name.find_last_not_of(' ') - begin + 1);
}

struct Level {
    bool have;
    int vector_bytes;
    const char* vectors;
    const char* architecture;
};

Level level() {
    __builtin_cpu_init();
    const Level levels[] = {
        {__builtin_cpu_supports("x86-64-v4") > 0, 64, "AVX-512", "x86-64-v4"},
        {__builtin_cpu_supports("x86-64-v3") > 0, 32, "AVX2", "x86-64-v3"},
        {__builtin_cpu_supports("x86-64-v2") > 0, 16, "SSE4.2", "x86-64-v2"},
    };
    for (const Level& each : levels)
        if (each.have) return each;
    return {true, 16, "SSE2", "x86-64"};
}

/// A number after `key` in a file of "key: value" or bare-number lines; 0 if absent.
double number_in(const char* file, const std::string& key = {}) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(key, 0) != 0) continue;
        const auto digit = line.find_first_of("0123456789", key.size());
        if (digit != std::string::npos) return std::stod(line.substr(digit));
    }
    return 0;
}

double clock_hz() {
    if (const double khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); khz > 0)
        return khz * 1e3;
    return number_in("/proc/cpuinfo", "cpu MHz") * 1e6;
}

}  // namespace

int cores() {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

int worker_count() { return settings().workers > 0 ? settings().workers : cores(); }

std::int64_t memory_total() {
    auto total = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    const auto limit = static_cast<std::int64_t>(number_in("/sys/fs/cgroup/memory.max"));
    return limit > 0 ? std::min(total, limit) : total;
}

std::int64_t memory_available() {
    return static_cast<std::int64_t>(number_in("/proc/meminfo", "MemAvailable")) * 1024;
}

std::string features_hash() {
    // Leaf 1's ebx holds the number of the core that asked, so it is left out.
    const auto one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1), extended = cpuid(0x80000001u);
    std::uint64_t hash = 1469598103934665603ull;
    for (const unsigned word :
         {one[0], one[2], one[3], seven[1], seven[2], seven[3], seven_one[0], seven_one[3], extended[2],
          extended[3], static_cast<unsigned>(level().vector_bytes)})
        hash = (hash ^ word) * 1099511628211ull;
    return fmt::format("{:016x}", hash);
}

Info host_info() {
    Info info;
    const Level vectors = level();
    const int count = cores();
    info.kind = "cpu";
    info.name = fmt::format("{}, {} core{}, {}", brand(), count, count == 1 ? "" : "s", vectors.vectors);
    info.architecture = vectors.architecture;
    info.multiprocessors = worker_count();
    info.vector_bytes = vectors.vector_bytes;
    info.warp_size = vectors.vector_bytes / 4;
    info.memory_bytes = memory_total();
    info.clock_hz = clock_hz();
    info.limits.shared_bytes_per_block_optin = 256 * 1024;
    return info;
}

}  // namespace xcuda::device::cpu
