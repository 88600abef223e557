#include "profile/check/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace xcuda::profile::check {

namespace {

std::string shown(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string times(std::uint32_t n) {
    return n == 0 ? std::string("never") : n == 1 ? "once" : fmt::format("{} times", n);
}

std::string advice_on(const Meeting& m, const MeetingWords& words, bool overlap) {
    const bool shared = m.space == ir::Space::shared;
    // The line reads and writes the same element: what an atomic does at once.
    const bool one_line = m.then.line == m.now.line && !(*m.did == 'w' && *m.does == 'w');
    if (overlap)
        return fmt::format("pass arrays that do not share memory ({}.copy())",
                           *m.does == 'r' ? m.name : m.other);
    if (one_line && words.adds)
        return fmt::format(
            "where each thread adds to it, cuda.atomic.add({}, index, value); else {}", m.name,
            shared ? "put cuda.syncthreads() between the turns" : "let each thread write its own element");
    if (one_line && !shared)
        return "write to another array than the one that is read, or make two launches of it";
    if (shared)
        return "put cuda.syncthreads() between the two lines (in a loop: also before the next turn writes)";
    if (words.one_block)
        return "put cuda.syncthreads() between the two lines, or let each thread write its own element";
    return "let each thread write its own element, use cuda.atomic, or make two launches of it: blocks run "
           "in any order";
}

}  // namespace

Finding* Findings::add(std::string_view rule, const Place& place, const Place& other,
                       const std::string& subject, std::int64_t count) {
    const auto [at, fresh] =
        found_.try_emplace({rule, place.file, place.line, other.line, subject}, Finding{});
    if (!fresh) {
        at->second.count += count;
        return nullptr;
    }
    at->second.rule = rule;
    at->second.place = place;
    at->second.other = other;
    at->second.subject = subject;
    at->second.count = count;
    return &at->second;
}

std::vector<Finding> Findings::take() {
    std::vector<Finding> all;
    // An element that is read too early, by a race, has often no value yet: the race is what is to be mended.
    std::set<std::tuple<std::string, std::string, int>> raced;
    for (const auto& [key, f] : found_)
        if (f.rule == "race" || f.rule == "overlap")
            for (const int line : {f.place.line, f.other.line}) raced.emplace(f.subject, f.place.file, line);
    for (auto& [key, f] : found_)
        if (f.rule != "uninitialised-read" || !raced.contains({f.subject, f.place.file, f.place.line}))
            all.push_back(std::move(f));
    std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
        return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
    });
    return all;
}

bool Findings::any_cause() const {
    return std::any_of(found_.begin(), found_.end(), [](const auto& entry) {
        const std::string_view rule = entry.second.rule;
        return rule == "race" || rule == "overlap" || rule == "uninitialised-read";
    });
}

std::string triple(std::int64_t linear, const device::Dim3& d) {
    return fmt::format("({}, {}, {})", linear % d.x, linear / d.x % d.y, linear / d.x / d.y);
}

std::string thread_words(const device::Shape& shape, std::int64_t block, std::int64_t thread,
                         bool with_block) {
    std::string text = "thread " + triple(thread, shape.block);
    if (with_block) text += " of block " + triple(block, shape.grid);
    return text;
}

void tell(Findings& findings, const Meeting& m, const std::function<MeetingWords()>& seen) {
    const bool swapped = m.then.line > m.now.line;
    const bool overlap = m.space == ir::Space::global && m.other != m.name && !m.other.empty();
    const std::string subject =
        overlap ? fmt::format("{}, {}", std::min(m.name, m.other), std::max(m.name, m.other)) : m.name;
    Finding* f = findings.add(overlap ? "overlap" : "race", swapped ? m.now : m.then,
                              swapped ? m.then : m.now, subject, m.count);
    if (!f) return;
    const MeetingWords words = seen();
    f->evidence = fmt::format(
        "{}{}: {} {} it at line {}, {} {} it at line {}, with no {} between: which comes first is left to "
        "chance",
        words.element, overlap ? " and " + words.other_element + " are the same memory" : "",
        words.then_thread, m.did, m.then.line, words.now_thread, m.does, m.now.line,
        words.one_block ? "barrier or atomic" : "atomic and fence");
    f->advice = advice_on(m, words, overlap);
}

void tell_unset(Findings& findings, const Place& place, const std::string& array, ir::Space space,
                const std::function<std::string()>& element, const std::string& thread, std::int64_t count) {
    Finding* f = findings.add("uninitialised-read", place, {}, array, count);
    if (!f) return;
    f->evidence = fmt::format("{} is read by {} before anything was written to it", element(), thread);
    f->advice =
        space == ir::Space::shared
            ? "set every element first, then cuda.syncthreads(): shared memory starts with whatever lay there"
        : space == ir::Space::local
            ? "set every element first: a local array starts with whatever lay there"
            : "make it with cuda.zeros(...) or cuda.to_device(...), or write every element first: "
              "cuda.device_array starts with whatever lay there";
}

void tell_parted(Findings& findings, const Place& place, const Parted& seen, std::int64_t count) {
    Finding* f = findings.add("divergent-barrier", place, {}, "", count);
    if (!f) return;
    f->evidence = fmt::format("in block {} thread {} comes to this barrier {}, thread {} {}", seen.block,
                              seen.most, times(seen.most_times), seen.least, times(seen.least_times));
    f->advice =
        "let all threads of the block reach it: take cuda.syncthreads() out of the condition, and guard only "
        "the reads and writes before and after it";
}

void tell_born(Findings& findings, const emit::WatchedOperation& op, double value, double a, double b,
               const std::string& thread, std::int64_t count) {
    Finding* f = findings.add(std::isnan(value) ? "nan" : "inf", op.place, {}, op.name, count);
    if (!f) return;
    const bool infix = !std::isalpha(static_cast<unsigned char>(op.name.front()));
    const std::string text = infix             ? fmt::format("{} {} {}", shown(a), op.name, shown(b))
                             : op.operands > 1 ? fmt::format("{}({}, {})", op.name, shown(a), shown(b))
                                               : fmt::format("{}({})", op.name, shown(a));
    f->evidence = fmt::format("{} gives {} in {}, of finite numbers", text, shown(value), thread);
    f->advice = std::isnan(value)
                    ? "keep such values away from it (an if, or max(x, 0.0)), or use what is defined "
                      "for them"
                : op.name == "/" ? "keep the divisor from 0: if y != 0.0, or x / max(y, least)"
                                 : "compute in float64, or scale the numbers first";
}

}  // namespace xcuda::profile::check
