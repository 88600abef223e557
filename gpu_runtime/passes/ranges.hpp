// Which integers a function's variables and expressions can hold, from constants, loops, guards, lengths and accesses that
// went well: an abstract run of the function over intervals.
#pragma once

#include <functional>
#include <vector>

#include "passes/knowledge.hpp"

namespace xcuda::passes {

class XCUDA_API Ranges {
public:
    Ranges(const ir::Function& function, RangeOptions options);

    using Visit = std::function<void(ir::Stmt&)>;
    /// Runs over the function's body, or a copy of it, and shows each statement with what holds before it; the visitor
    /// may change its expressions, not its bodies.
    void run(ir::Body& body, const Visit& visit);

    // For the visitor, at the statement it is shown; a `while` is shown as it is before every turn.
    Interval of(const ir::ExprP& e) const;
    /// `inner` runs with what also holds where the condition does, or does not.
    void under(const ir::ExprP& condition, bool holds, const std::function<void()>& inner);
    bool reached() const { return now_.reached; }
    /// Everything that a variable was assigned in the last run, and what it was before.
    const Interval& ever(ir::VarId v) const { return ever_[static_cast<std::size_t>(v)]; }

    /// Of a range from one of `start` to one of `stop`, at most.
    static Whole turns(const Interval& start, const Interval& stop, std::int64_t step);

private:
    struct Loop {
        Knowledge broke, continued;
    };
    struct Turn {
        Interval counter;  // of a range
        Whole most = -1;   // turns, where that is known
    };

    void set(ir::VarId v, const Interval& to);
    void body(ir::Body& b);
    void stmt(ir::Stmt& s);
    void loop(ir::Stmt& s, const std::vector<ir::ExprP>& exprs);
    Knowledge turn(ir::Stmt& s, const std::vector<ir::ExprP>& exprs, const Turn& loop, const Knowledge& head,
                   Knowledge& left);
    void unknown(Knowledge& k, const ir::Stmt& loop) const;
    Knowledge widened(const Knowledge& before, Knowledge after, int round) const;
    void clamp(Knowledge& head, const Knowledge& entry, const ir::Body& body, Whole turns) const;

    const ir::Function& f_;
    RangeOptions options_;
    std::vector<Whole> thresholds_;
    std::vector<Interval> ever_;
    Knowledge now_, broke_;
    std::vector<Loop> loops_;
    const Visit* visit_ = nullptr;  // null: in search of a loop's fixpoint
    int steps_ = 0;                 // statements run so far
};

/// Ranges::ever of each variable.
XCUDA_API std::vector<Interval> variable_ranges(const ir::Function& function, const RangeOptions& options);

}  // namespace xcuda::passes
