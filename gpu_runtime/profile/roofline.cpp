#include "profile/roofline.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "base/settings.hpp"

namespace xcuda::profile {
namespace {

constexpr int format = 1;  // of the file; another is measured again

struct State {
    std::mutex measuring;  // one measurement at a time: two would disturb each other
    std::mutex mutex;      // of the two below
    std::map<std::string, Ceilings> kept;
    std::set<std::string> started;
    // Empty: nothing is kept on disk.
    const std::filesystem::path folder = settings().cache_bytes > 0 ? settings().cache_dir
                                                                    : std::filesystem::path();
};
/// Never destroyed: the process may end while the background thread measures.
State& state() {
    static State& only = *new State;
    return only;
}

/// Ceilings belong to a processor as it is shared out here: another name, or another
/// count of workers or multiprocessors, is another machine.
std::string machine(const device::Info& device) {
    const std::string architecture = device.kind == "cpu" ? "" : " (" + device.architecture + ")";
    return device.name + architecture + " x " + std::to_string(device.multiprocessors);
}

std::filesystem::path file() { return state().folder / "ceilings.json"; }

nlohmann::json read_file() {
    std::ifstream in;
    if (!state().folder.empty()) in.open(file());
    auto all = nlohmann::json::parse(in, nullptr, false);
    return all.is_object() && all.value("format", 0) == format ? all : nlohmann::json{{"format", format}};
}

std::optional<Ceilings> from_file(const std::string& key) {
    const auto all = read_file();
    const auto found = all.find(key);
    if (found == all.end() || !found->is_object()) return std::nullopt;
    const Ceilings c{found->value("copy", 0.0), found->value("flops_f32", 0.0),
                     found->value("flops_f64", 0.0), found->value("flops_computed", false)};
    if (!(c.copy_bytes_per_second > 0 && c.flops_f32 > 0 && c.flops_f64 > 0)) return std::nullopt;
    return c;
}

/// Another process may write too: each renames its own file into place, the last one stays. No disk, no file.
void to_file(const std::string& key, const Ceilings& c) {
    if (state().folder.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(state().folder, ignored);
    auto all = read_file();
    all[key] = {{"copy", c.copy_bytes_per_second},
                {"flops_f32", c.flops_f32},
                {"flops_f64", c.flops_f64},
                {"flops_computed", c.flops_computed}};
    auto own = file();
    own += "." + std::to_string(getpid());
    std::ofstream out(own);
    out << all.dump(1) << '\n';
    out.close();
    if (out) {
        std::filesystem::rename(own, file(), ignored);
    } else {
        std::filesystem::remove(own, ignored);
    }
}

bool measurable_in_background(const device::Info& device) { return device.kind == "cpu"; }

std::optional<Ceilings> measured(const device::Info& device) {
    if (device.kind == "cpu") return measure_ceilings(device.multiprocessors);
    for (const auto& d : device::devices()) {
        if (d->info().kind == device.kind && d->info().ordinal == device.ordinal) return gpu_ceilings(*d);
    }
    return std::nullopt;
}

}  // namespace

std::optional<Ceilings> known_ceilings(const device::Info& device) {
    const auto key = machine(device);
    std::lock_guard lock(state().mutex);
    if (const auto found = state().kept.find(key); found != state().kept.end()) return found->second;
    const auto read = from_file(key);
    if (read) state().kept.emplace(key, *read);
    return read;
}

std::optional<Ceilings> ceilings(const device::Info& device) {
    std::lock_guard one(state().measuring);
    if (const auto known = known_ceilings(device)) return known;
    const auto found = measured(device);
    if (!found) return std::nullopt;
    std::lock_guard lock(state().mutex);
    state().kept.emplace(machine(device), *found);
    to_file(machine(device), *found);
    return found;
}

void measure_in_background(const device::Info& device) {
    if (!measurable_in_background(device) || known_ceilings(device)) return;
    {
        std::lock_guard lock(state().mutex);
        if (!state().started.insert(machine(device)).second) return;
    }
    std::thread([device] {
        try {
            ceilings(device);
        } catch (...) {  // out of memory, no thread: the figure stays absent
        }
    }).detach();
}

std::optional<Roofline> roofline(const Ceilings& ceilings, bool float64, double flops, double bytes,
                                 double seconds) {
    if (!(seconds > 0) || !(flops >= 0) || !(bytes >= 0) || flops + bytes <= 0) return std::nullopt;
    const double arithmetic = flops / (float64 ? ceilings.flops_f64 : ceilings.flops_f32);
    const double memory = bytes / ceilings.copy_bytes_per_second;
    return Roofline{std::max(arithmetic, memory) / seconds, memory >= arithmetic ? "memory" : "arithmetic"};
}

}  // namespace xcuda::profile
