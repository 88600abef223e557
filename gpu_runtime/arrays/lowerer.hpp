// What the kernels of array expressions share: parameters, the threads' indices, what they read and write.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arrays/structure.hpp"
#include "base/error.hpp"
#include "passes/build.hpp"

namespace xcuda::arrays {

inline ir::Type integer() { return ir::scalar(DType::i64, true); }

struct Lowerer {
    const Structure& s;
    const std::vector<ir::Type>& types;
    ir::Module module;
    ir::Function& f;
    std::vector<ir::VarId> axis;  // the index along each axis of the kernel

    explicit Lowerer(const Structure& structure, const std::vector<ir::Type>& parameters)
        : s(structure),
          types(parameters),
          f(module.functions.emplace_back()) {
        f.name = "fused";
        module.sites.push_back({});
    }

    ir::VarId local(const std::string& name, ir::Type type) {
        return f.add({name, std::move(type), ir::Var::Role::local, {}});
    }
    ir::ExprP read(ir::VarId id) const { return var(id, f.vars[static_cast<std::size_t>(id)].type); }
    ir::ExprP parameter(std::size_t i) const { return read(f.params[i]); }

    void parameters() {
        for (std::size_t i = 0; i < types.size(); ++i) {
            const std::size_t slot = i - s.outputs.size();
            std::string name = i < s.outputs.size()    ? "out" + (i ? std::to_string(i) : "")
                               : slot < s.slots.size() ? std::string(1, static_cast<char>('a' + slot % 26)) +
                                                             (slot < 26 ? "" : std::to_string(slot / 26))
                                                       : "n" + std::to_string(slot - s.slots.size());
            f.params.push_back(f.add({std::move(name), types[i], ir::Var::Role::parameter, {}}));
        }
    }

    std::vector<ir::ExprP> indices(const Axes& axes) const {
        std::vector<ir::ExprP> out;
        for (int i = 0; i < axes.count; ++i) out.push_back(read(axis[static_cast<std::size_t>(axes[i])]));
        if (out.empty()) out.push_back(ir::int_constant(0));
        return out;
    }

    ir::ExprP element(const ir::ExprP& array, std::vector<ir::ExprP> index, DType dtype) const {
        index.insert(index.begin(), array);
        auto node = std::make_shared<ir::Expr>(*make(ir::Op::load, ir::scalar(dtype), std::move(index)));
        node->payload = ir::Access{0, 0, 0};
        return node;
    }

    ir::ExprP slot(int i) const {
        const Slot& slot = s.slots[static_cast<std::size_t>(i)];
        const ir::ExprP parameter = this->parameter(s.outputs.size() + static_cast<std::size_t>(i));
        if (slot.number) return cast(parameter, ir::scalar(slot.dtype));
        if (slot.ramp) return cast(distance(parameter, slot.axes), ir::scalar(slot.dtype));
        return element(parameter, indices(slot.axes), slot.dtype);
    }

    // How far the element lies from the array's first one.
    ir::ExprP distance(const ir::ExprP& array, const Axes& axes) const {
        ir::ExprP sum = ir::int_constant(0);
        for (int i = 0; i < axes.count; ++i) {
            const bool last = i + 1 == axes.count && unit_stride(array->type.layout);
            ir::ExprP step = ir::int_constant(1);
            if (array->type.layout == ir::Layout::contiguous)  // kernels are told no strides of it
                for (int k = i + 1; k < axes.count; ++k) step = passes::mul(step, dim(array, k));
            else if (!last)
                step = dim(array, array->type.ndim + i);
            sum = passes::add(sum, passes::mul(read(axis[static_cast<std::size_t>(axes[i])]), step));
        }
        return sum;
    }

    // The loop of these operands. What it reads more than once has a variable first: a chain of such loops would else grow
    // by a factor a link.
    ir::ExprP built(ir::Body& body, const Loop& loop, std::vector<ir::ExprP> args) {
        const ir::ExprP made = loop.build(loop, args);
        std::map<const ir::Expr*, int> readings;
        std::map<const ir::Expr*, ir::ExprP> known;
        for (const ir::ExprP& arg : args) known[arg.get()] = arg;  // what is in them has its variables
        count(made, readings, known);
        return with_variables(body, made, readings, known);
    }

    static void count(const ir::ExprP& e, std::map<const ir::Expr*, int>& readings,
                      const std::map<const ir::Expr*, ir::ExprP>& operands) {
        if (e->args.empty() || ++readings[e.get()] > 1 || operands.contains(e.get())) return;
        for (const ir::ExprP& part : e->args) count(part, readings, operands);
    }

    ir::ExprP with_variables(ir::Body& body, const ir::ExprP& e, std::map<const ir::Expr*, int>& readings,
                             std::map<const ir::Expr*, ir::ExprP>& known) {
        if (e->args.empty()) return e;
        ir::ExprP& at = known[e.get()];
        if (!at) {
            std::vector<ir::ExprP> parts;
            for (const ir::ExprP& part : e->args)
                parts.push_back(with_variables(body, part, readings, known));
            at = parts == e->args ? e : with_args(*e, std::move(parts));
        }
        if (std::exchange(readings[e.get()], 1) > 1) {
            const ir::VarId t = local("t", e->type);
            body.push_back(assign(t, std::move(at)));
            at = read(t);
        }
        return at;
    }

    ir::Stmt put(std::size_t output, ir::ExprP value) const {
        const Output& o = s.outputs[output];
        return store(parameter(output), indices(o.axes), std::move(value), ir::Access{0, 0, 0});
    }

    int threads() const {
        return s.axes - (s.folding.empty() ? 0 : s.folding[0].axes) - (s.rows.empty() ? 0 : s.rows[0].axes);
    }
    std::size_t first_integer() const { return s.outputs.size() + s.slots.size(); }
    ir::ExprP figure(std::size_t i) const { return cast(parameter(first_integer() + i), integer()); }

    // The threads' indices and the guard around the body.
    ir::Body guarded(ir::Body inner, std::size_t lengths_at) {
        ir::Body body;
        const int n = threads();
        const int shared = folds_axes(n) ? n - thread_axes + 1 : 1;  // axes in the grid's first one
        ir::ExprP guard;
        for (int g = 0; g < std::min(n, thread_axes); ++g) {
            const int first = g == 0 ? 0 : g + shared - 1;
            const bool folded = g == 0 && shared > 1;
            const ir::VarId at = folded ? local("at", integer()) : axis[static_cast<std::size_t>(first)];
            body.push_back(assign(at, coord(ir::Coord::Kind::global, g)));
            ir::ExprP length;
            if (folded) {
                for (int d = 0; d < shared; ++d)
                    length = length ? passes::mul(length, figure(lengths_at + static_cast<std::size_t>(d)))
                                    : figure(lengths_at + static_cast<std::size_t>(d));
                ir::ExprP rest = read(at);
                for (int d = shared - 1; d >= 0; --d) {
                    const ir::ExprP here = figure(lengths_at + static_cast<std::size_t>(d));
                    inner.insert(inner.begin(),
                                 assign(axis[static_cast<std::size_t>(d)],
                                        d == 0 ? rest : make(ir::Op::mod, integer(), {rest, here})));
                    rest = make(ir::Op::floordiv, integer(), {rest, here});
                }
            } else {
                length = dim(parameter(0), output_axis(first));
            }
            guard = passes::both(guard, passes::compare(ir::Op::lt, read(at), length));
        }
        body.push_back(branch(guard, std::move(inner)));
        return body;
    }

    // Which axis of the first output an axis of the kernel is.
    int output_axis(int kernel_axis) const {
        const Axes& axes = s.outputs[0].axes;
        for (int i = 0; i < axes.count; ++i)
            if (axes[i] == kernel_axis) return i;
        throw bug("an output lacks an axis of its kernel");
    }
};

/// The body of a kernel of rows.
void lower_rows(Lowerer& lowerer);

}  // namespace xcuda::arrays
