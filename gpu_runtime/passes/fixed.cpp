#include "passes/fixed.hpp"

#include <bit>

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
    std::vector<bool> read(known.size());
    rewrite_exprs(kernel.body, [&](const ExprP& e) -> ExprP {
        for (std::size_t i = 0; i < known.size(); ++i) {
            const Known& k = known[i];
            const VarId id = kernel.params[static_cast<std::size_t>(k.parameter)];
            if (k.axis >= 0 && e->op == Op::dim && e->args[0]->op == Op::var && var_of(*e->args[0]) == id &&
                std::get<Axis>(e->payload).value == k.axis) {
                read[i] = true;
                return constant(static_cast<std::int64_t>(k.bits), e->type, e->place);
            }
            if (k.axis < 0 && e->op == Op::var && var_of(*e) == id && e->type.is_scalar() && counts[id] == 0)
                if (ExprP value = scalar_constant(e->type, k.bits, e->place)) {
                    read[i] = true;
                    return value;
                }
        }
        return e;
    });
    return read;
}

}  // namespace xcuda::passes
