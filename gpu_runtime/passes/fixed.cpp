#include "passes/fixed.hpp"

#include <bit>
#include <map>
#include <utility>

#include "ir/walk.hpp"
#include "passes/uniform.hpp"

namespace xcuda::passes {

using namespace ir;

namespace {

template <class T>
T low_bytes(std::uint64_t bits) {
    T out;
    static_assert(std::endian::native == std::endian::little);
    __builtin_memcpy(&out, &bits, sizeof out);
    return out;
}

// Nothing for the types that a constant can't hold.
ExprP scalar_constant(const Type& type, std::uint64_t bits, const Place& place) {
    switch (type.dtype) {
        case DType::b1: return constant((bits & 0xff) != 0, type, place);
        case DType::i8: return constant(std::int64_t{low_bytes<std::int8_t>(bits)}, type, place);
        case DType::i16: return constant(std::int64_t{low_bytes<std::int16_t>(bits)}, type, place);
        case DType::i32: return constant(std::int64_t{low_bytes<std::int32_t>(bits)}, type, place);
        case DType::i64: return constant(low_bytes<std::int64_t>(bits), type, place);
        case DType::u8: return constant(std::uint64_t{low_bytes<std::uint8_t>(bits)}, type, place);
        case DType::u16: return constant(std::uint64_t{low_bytes<std::uint16_t>(bits)}, type, place);
        case DType::u32: return constant(std::uint64_t{low_bytes<std::uint32_t>(bits)}, type, place);
        case DType::u64: return constant(bits, type, place);
        case DType::f32: return constant(double{low_bytes<float>(bits)}, type, place);
        case DType::f64: return constant(low_bytes<double>(bits), type, place);
        default: return nullptr;
    }
}

}  // namespace

std::vector<bool> fix_arguments(Module& module, const std::vector<Known>& known) {
    Function& kernel = module.kernel();
    const std::vector<int> counts = assignment_counts(kernel, kernel.body);
    std::vector<bool> mentioned(kernel.vars.size());
    each_expr(kernel.body, [&](const Expr& e) {
        if (e.op == Op::var) mentioned[static_cast<std::size_t>(var_of(e))] = true;
    });
    each_stmt(kernel.body, [&](const Stmt& s) {
        if (s.kind == Stmt::Kind::store && s.exprs[0]->op == Op::var)
            mentioned[static_cast<std::size_t>(var_of(*s.exprs[0]))] = true;
    });

    std::vector<bool> read(known.size());
    std::map<VarId, std::pair<std::size_t, std::uint64_t>> scalars;  // which of `known`, and its bits
    for (std::size_t i = 0; i < known.size(); ++i) {
        const Known& k = known[i];
        const VarId id = kernel.params[static_cast<std::size_t>(k.parameter)];
        Var& v = kernel.vars[static_cast<std::size_t>(id)];
        if (k.axis < 0) {
            if (counts[static_cast<std::size_t>(id)] == 0) scalars[id] = {i, k.bits};
            continue;
        }
        // Not a constant in the tree: proofs compare an array's length with itself.
        v.lengths.resize(static_cast<std::size_t>(v.type.ndim), -1);
        v.lengths[static_cast<std::size_t>(k.axis)] = static_cast<std::int64_t>(k.bits);
        read[i] = mentioned[static_cast<std::size_t>(id)];
    }
    rewrite_exprs(kernel.body, [&](const ExprP& e) -> ExprP {
        if (e->op != Op::var || !e->type.is_scalar()) return e;
        const auto found = scalars.find(var_of(*e));
        if (found == scalars.end()) return e;
        ExprP value = scalar_constant(e->type, found->second.second, e->place);
        if (!value) return e;
        read[found->second.first] = true;
        return value;
    });
    return read;
}

}  // namespace xcuda::passes
