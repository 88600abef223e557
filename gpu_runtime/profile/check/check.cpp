#include "profile/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "profile/check/by_shadow.hpp"
#include "profile/check/checker.hpp"
#include "profile/check/compared.hpp"

namespace xcuda::profile::check {

namespace {

constexpr Rule table[] = {
    {"race", "two threads, one element, a write, and neither barrier nor atomic between"},
    {"overlap", "a race through two arguments that share memory"},
    {"uninitialised-read", "an element of a shared, local or device array that is read before it is written"},
    {"divergent-barrier", "a barrier that some threads of a block come to and others do not"},
    {"out-of-range", "an index that leaves its array"},
    {"order-dependent", "results that differ with the order of threads and blocks"},
    {"nan", "an operation that makes a nan of finite numbers"},
    {"inf", "an operation that makes an inf of finite numbers"},
};

}  // namespace

std::span<const Rule> rules() { return table; }

std::span<const unsigned char> unset_pattern() {
    static constexpr unsigned char bytes[16] = {0xb5, 0x1f, 0x9a, 0x7f, 0xe3, 0x42, 0xd6, 0xff,
                                                0x8d, 0x61, 0xc9, 0x7f, 0x37, 0xae, 0xf4, 0xff};
    return bytes;
}

namespace {

/// What ended a run, where that is a mistake which has a rule of its own.
void tell_fault(Findings& findings, const launch::Listened& ran) {
    const Place place = ran.fault->place.value_or(Place{});
    if (ran.kind == device::FaultKind::index) {
        if (Finding* f = findings.add("out-of-range", place, {}, "")) {
            f->evidence = std::string(ran.fault->python_type) + ": " + ran.fault->what();
            f->advice =
                "let no thread come here with such an index: where the grid has more threads than elements, "
                "guard the body (if i < x.shape[0])";
        }
    } else if (ran.kind == device::FaultKind::barrier) {
        if (Finding* f = findings.add("divergent-barrier", place, {}, "")) {
            f->evidence = ran.fault->what();
            f->advice =
                "let all threads of the block reach the same barrier: take cuda.syncthreads() out of the "
                "condition, and guard only the reads and writes before and after it";
        }
    }
}

/// One form of check over one launch: `run` gives how a run ended, once it has added what it saw.
template <class Run>
void in_orders(Checked& made, const launch::Lowered& lowered, const std::vector<std::string>& parameters,
               std::span<const launch::Argument> arguments, const Options& options, Findings& findings,
               Run run) {
    const Image before(arguments);
    std::optional<Image> first;
    for (int order = 0; order < std::max(options.orders, 1); ++order) {
        if (order > 0) before.put_back();
        const launch::Listened ran = run(order);
        ++made.orders;
        if (ran.fault) {
            if (ran.kind == device::FaultKind::interrupted) throw *ran.fault;
            tell_fault(findings, ran);
            if (order == 0) made.fault = ran.fault;
            if (order > 0 && !made.fault && ran.kind != device::FaultKind::index)
                made.notes.push_back("in another order of threads it ends with: " +
                                     std::string(ran.fault->what()));
            break;  // cut short: there is nothing to compare
        }
        if (order == 0)
            first.emplace(arguments);
        else
            compare(lowered, parameters, arguments, *first, findings, made.notes);
    }
    made.findings = findings.take();
}

constexpr std::int64_t most_told = 20'000'000, most_shadowed = std::int64_t{1} << 60;

}  // namespace

Checked check(const launch::Lowered& lowered, const std::vector<std::string>& parameters,
              std::span<const launch::Argument> arguments, const device::Shape& shape, const Options& asked) {
    Checked made;
    Options options = asked;
    if (options.most_steps <= 0) options.most_steps = options.shadow ? most_shadowed : most_told;
    Findings findings;
    if (options.shadow) {
        ShadowRuns runs(lowered, arguments, shape, options);
        made.shape = runs.shape();
        if (shape.grid.count() == 0 || shape.block.count() == 0) return made;
        in_orders(made, lowered, parameters, arguments, options, findings, [&](int order) {
            launch::Listened ran = runs.run(order, findings);
            made.steps += runs.steps();
            made.cut |= runs.cut();
            return ran;
        });
        for (const std::string& note : runs.notes()) made.notes.push_back(note);
        return made;
    }
    const launch::Watched kernel = launch::watched(lowered, shape);
    made.shape = kernel.shape;
    if (shape.grid.count() == 0 || shape.block.count() == 0) return made;
    in_orders(made, lowered, parameters, arguments, options, findings, [&](int order) {
        Checker checker(kernel, arguments, options, order, findings);
        launch::Listened ran = launch::run_watched(kernel, arguments, checker);
        checker.finish(!ran.fault);
        made.steps += checker.steps();
        made.cut |= checker.cut();
        return ran;
    });
    return made;
}

}  // namespace xcuda::profile::check
