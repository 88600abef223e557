#include "control.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "launches.hpp"

namespace fake {

namespace {

struct Named {
    const char* name;
    std::int64_t Options::* member;
};
constexpr Named options[] = {
    {"devices", &Options::devices},
    {"version", &Options::version},
    {"architecture", &Options::architecture},
    {"memory", &Options::memory},
    {"others", &Options::others},
    {"init", &Options::init},
    {"hold", &Options::hold},
    {"break_at_launch", &Options::break_at_launch},
    {"fault_kind", &Options::fault_kind},
    {"fault_site", &Options::fault_site},
    {"fault_index", &Options::fault_index},
    {"fault_length", &Options::fault_length},
    {"drop", &Options::drop},
    {"drops_nan", &Options::drops_nan},
    {"idle", &Options::idle},
    {"astray", &Options::astray},
    {"no_numbers", &Options::no_numbers},
    {"untold", &Options::untold},
    {"graphs_whole", &Options::graphs_whole},
};

std::int64_t counter(State& s, const std::string& name) {
    if (name.starts_with("calls:")) return s.calls[name.substr(6)];
    const auto count_of = [](const auto& all) { return static_cast<std::int64_t>(all.size()); };
    const auto on_host = std::count_if(s.memory.begin(), s.memory.end(),
                                       [](const auto& each) { return each.second.device < 0; });
    std::int64_t used = 0, alive = 0, resets = 0;
    for (const auto& [address, a] : s.memory) used += a.device >= 0 ? static_cast<std::int64_t>(a.bytes) : 0;
    for (const auto& c : s.primaries) alive += c->alive, resets += c->resets;
    if (name.starts_with("on_host:")) {  // what is at an address: 1 where it is the host's memory
        const auto at = s.memory.find(std::stoull(name.substr(8)));
        return at == s.memory.end() || !at->second.piece ? -1 : at->second.piece->device < 0;
    }
    const std::map<std::string, std::int64_t> counters = {
        {"launches", s.launch_count},
        {"contexts", alive},
        {"resets", resets},
        {"streams", count_of(s.streams)},
        {"events", count_of(s.events)},
        {"modules", count_of(s.modules)},
        {"graphs", count_of(s.graphs)},
        {"allocations", count_of(s.memory) - on_host},
        {"host_allocations", on_host},
        {"used", used},
        {"work", static_cast<std::int64_t>(s.added - s.done)},
    };
    const auto at = counters.find(name);
    return at == counters.end() ? -1 : at->second;
}

}  // namespace

bool set_option(Options& to, const std::string& name, std::int64_t value) {
    for (const Named& each : options)
        if (name == each.name) return to.*each.member = value, true;
    return false;
}

void read_orders(State& s, const std::string& orders) {
    std::istringstream words(orders);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name != "fail") {
            set_option(s.options, name, std::strtoll(value.c_str(), nullptr, 0));
            continue;
        }
        std::istringstream parts(value);
        std::string function, result, after = "0", times = "1";
        std::getline(parts, function, ':');
        std::getline(parts, result, ':');
        std::getline(parts, after, ':');
        std::getline(parts, times, ':');
        s.failures[function] = {static_cast<CUresult>(std::atoi(result.c_str())), std::atoll(after.c_str()),
                                std::atoll(times.c_str())};
    }
}

}  // namespace fake

using fake::state;

extern "C" {

int fake_cuda_set(const char* option, long long value) {
    const std::lock_guard lock(state().mutex);
    const bool known = fake::set_option(state().options, option, value);
    state().changed.notify_all();
    return known;
}

long long fake_cuda_get(const char* counter) {
    const std::lock_guard lock(state().mutex);
    return fake::counter(state(), counter);
}

void fake_cuda_fail(const char* function, int result, long long after, long long times) {
    const std::lock_guard lock(state().mutex);
    state().failures[function] = {static_cast<CUresult>(result), after, times};
}

void fake_cuda_break(int device, int result) {
    const std::lock_guard lock(state().mutex);
    const auto at = static_cast<std::size_t>(device);
    if (at < state().primaries.size()) state().primaries[at]->broken = static_cast<CUresult>(result);
}

const char* fake_cuda_launches() {
    static std::string& told = *new std::string;
    const std::lock_guard lock(state().mutex);
    told = state().launches;
    return told.c_str();
}

void fake_cuda_on_launch(void (*call)(const char*, const unsigned*, void*, unsigned long long)) {
    fake::on_launch(call);
}
}
