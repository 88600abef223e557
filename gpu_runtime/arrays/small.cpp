#include "arrays/small.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

namespace xcuda::arrays {
namespace {

constexpr std::size_t most_operands = 3;

struct Strided {
    char* at = nullptr;
    std::int64_t step = 0;  // in bytes
};

// out[i] = f(in[0][i], ...) for i under n.
using Row = void (*)(const Strided& out, const Strided* in, std::int64_t n);

template <class T>
T& element(const Strided& s, std::int64_t i) {
    return *reinterpret_cast<T*>(s.at + i * s.step);
}

template <class Out, class In, class F>
void unary(const Strided& out, const Strided* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) element<Out>(out, i) = F{}(element<In>(in[0], i));
}

template <class Out, class In, class F>
void binary(const Strided& out, const Strided* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
        element<Out>(out, i) = F{}(element<In>(in[0], i), element<In>(in[1], i));
}

// Integers wrap around.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T, class F>
struct Wrapped {
    T operator()(T a, T b) const {
        using W = Wrapping<T>;
        return static_cast<T>(F{}(static_cast<W>(a), static_cast<W>(b)));
    }
};

template <class T>
struct Negative {
    T operator()(T a) const {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
        else
            return -a;
    }
};

template <class T>
struct Absolute {
    T operator()(T a) const {
        if constexpr (std::is_integral_v<T>)
            return a < 0 ? Negative<T>{}(a) : a;
        else
            return std::fabs(a);
    }
};

template <class T>
struct Square {
    T operator()(T a) const { return Wrapped<T, std::multiplies<>>{}(a, a); }
};

template <class T>
struct Root {
    T operator()(T a) const { return std::sqrt(a); }
};

template <class Out>
struct Cast {
    template <class In>
    Out operator()(In a) const {
        if constexpr (std::is_same_v<Out, bool>)
            return a != In{0};
        else
            return static_cast<Out>(a);
    }
};

template <class T>
Row arithmetic(const Loop& loop) {
    const std::string& name = loop.name;
    if (loop.in.size() == 1) {
        if (name == "negative") return unary<T, T, Negative<T>>;
        if (name == "absolute") return unary<T, T, Absolute<T>>;
        if (name == "square") return unary<T, T, Square<T>>;
        if constexpr (std::is_floating_point_v<T>)
            if (name == "sqrt") return unary<T, T, Root<T>>;
        return nullptr;
    }
    if (name == "add") return binary<T, T, Wrapped<T, std::plus<>>>;
    if (name == "subtract") return binary<T, T, Wrapped<T, std::minus<>>>;
    if (name == "multiply") return binary<T, T, Wrapped<T, std::multiplies<>>>;
    if constexpr (std::is_floating_point_v<T>)
        if (name == "divide") return binary<T, T, std::divides<T>>;
    return nullptr;
}

template <class T>
Row comparison(const std::string& name) {
    if (name == "less") return binary<bool, T, std::less<T>>;
    if (name == "less_equal") return binary<bool, T, std::less_equal<T>>;
    if (name == "equal") return binary<bool, T, std::equal_to<T>>;
    if (name == "not_equal") return binary<bool, T, std::not_equal_to<T>>;
    if (name == "greater") return binary<bool, T, std::greater<T>>;
    if (name == "greater_equal") return binary<bool, T, std::greater_equal<T>>;
    return nullptr;
}

template <class T>
Row bits(const Loop& loop) {
    if constexpr (std::is_integral_v<T>) {
        if (loop.name == "bitwise_and") return binary<T, T, std::bit_and<>>;
        if (loop.name == "bitwise_or") return binary<T, T, std::bit_or<>>;
        if (loop.name == "bitwise_xor") return binary<T, T, std::bit_xor<>>;
    }
    return nullptr;
}

// Calls f with a value of the element's type; null for those that only kernels compute.
template <class F>
Row with_type(DType d, F f) {
    switch (d) {
        case DType::f64: return f(double{});
        case DType::f32: return f(float{});
        case DType::i64: return f(std::int64_t{});
        case DType::i32: return f(std::int32_t{});
        default: return nullptr;
    }
}

template <std::size_t size>
void moved(const Strided& out, const Strided* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(out.at + i * out.step, in[0].at + i * in[0].step, size);
}

template <std::size_t size>
void chosen(const Strided& out, const Strided* in, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const Strided& from = element<bool>(in[0], i) ? in[1] : in[2];
        std::memcpy(out.at + i * out.step, from.at + i * from.step, size);
    }
}

// A function per element size: what moves bytes needs no type.
template <class Of>
Row by_size(DType d, Of of) {
    switch (info(d).size) {
        case 1: return of(std::integral_constant<std::size_t, 1>{});
        case 2: return of(std::integral_constant<std::size_t, 2>{});
        case 4: return of(std::integral_constant<std::size_t, 4>{});
        case 8: return of(std::integral_constant<std::size_t, 8>{});
        case 16: return of(std::integral_constant<std::size_t, 16>{});
        default: return nullptr;
    }
}

Row move_row(DType d) {
    return by_size(d, [](auto size) -> Row { return moved<size()>; });
}

Row choice_row(DType d) {
    return by_size(d, [](auto size) -> Row { return chosen<size()>; });
}

// Casts that C++ and NumPy define alike: none of a float to an integer.
Row cast_row(DType from, DType to) {
    if (from == to && to != DType::b1) return move_row(to);
    const auto of = [to]<class In>(In) -> Row {
        if (to == DType::b1) return unary<bool, In, Cast<bool>>;
        return with_type(to, []<class Out>(Out) -> Row {
            if constexpr (std::is_floating_point_v<Out> || !std::is_floating_point_v<In>)
                return unary<Out, In, Cast<Out>>;
            return nullptr;
        });
    };
    return from == DType::b1 ? of(bool{}) : with_type(from, of);
}

Row find_row(const Loop& loop) {
    if (loop.name == "copy" || loop.name == "astype") return cast_row(loop.in[0], loop.out);
    const DType in = loop.in[0];
    if (loop.name == "where" && in == DType::b1) return choice_row(loop.out);
    if (loop.in.size() > 2 || (loop.in.size() == 2 && loop.in[1] != in)) return nullptr;
    if (in == DType::b1 && loop.out == in && loop.in.size() == 2) {
        const Row compared = comparison<bool>(loop.name);
        return compared ? compared : bits<bool>(loop);
    }
    if (loop.out == DType::b1 && loop.in.size() == 2)
        return with_type(in, [&]<class T>(T) { return comparison<T>(loop.name); });
    if (loop.out != in) return nullptr;
    return with_type(in, [&]<class T>(T) {
        const Row row = arithmetic<T>(loop);
        return row || loop.in.size() == 1 ? row : bits<T>(loop);
    });
}

Row row_of(const Loop& loop) {
    static auto* known = new std::vector<std::pair<bool, Row>>;
    const auto id = static_cast<std::size_t>(loop.id);
    if (known->size() <= id) known->resize(id + 64);
    auto& [asked, row] = (*known)[id];
    if (!asked) {
        row = find_row(loop);
        asked = true;
    }
    return row;
}

std::int64_t limit = 32;
std::uint64_t computed = 0;

bool has_rows(const Loop& loop, std::span<const Operand> operands) {
    if (operands.size() > most_operands || !row_of(loop)) return false;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].dtype != loop.in[i] &&
            (!operands[i].value || !cast_row(operands[i].dtype, loop.in[i])))
            return false;
    return true;
}

// `visits`: how many values may still be looked at; chains that share much are left to a kernel.
bool possible(const Value& v, int& visits) {
    if (!v.pending()) return v.buffer && v.buffer->on_default_stream_alone();
    if (--visits < 0 || v.reduction || v.size() > limit || !has_rows(*v.loop, v.operands)) return false;
    for (const Operand& o : v.operands)
        if (o.value && !possible(*o.value, visits)) return false;
    return true;
}

// The row function over all axes of `shape`.
void over(const View& shape, Row row, const Strided& out, const View& out_view, std::int64_t out_size,
          std::span<const Strided> in, std::span<const View* const> views,
          std::span<const std::int64_t> sizes) {
    const int outer = std::max(shape.ndim - 1, 0);
    const std::int64_t n = shape.ndim ? shape.lengths[static_cast<std::size_t>(outer)] : 1;
    std::array<std::int64_t, max_axes> at{};
    std::array<Strided, most_operands> from;
    const auto place = [&](const View& view, char* base, std::int64_t size) {
        std::int64_t offset = 0;
        for (int d = 0; d < outer; ++d)
            offset += at[static_cast<std::size_t>(d)] * view.strides[static_cast<std::size_t>(d)];
        const std::int64_t step = shape.ndim ? view.strides[static_cast<std::size_t>(outer)] : 0;
        return Strided{base + offset * size, step * size};
    };
    for (;;) {
        for (std::size_t i = 0; i < in.size(); ++i)
            from[i] = views[i] ? place(*views[i], in[i].at, sizes[i]) : in[i];
        row(place(out_view, out.at, out_size), from.data(), n);
        int d = outer - 1;
        while (d >= 0 && ++at[static_cast<std::size_t>(d)] == shape.lengths[static_cast<std::size_t>(d)])
            at[static_cast<std::size_t>(d--)] = 0;
        if (d < 0) return;
    }
}

std::int64_t size_of(DType d) { return static_cast<std::int64_t>(info(d).size); }

// The loop over operands in memory, into memory of this layout.
void fill(const Loop& loop, std::span<Operand> operands, const View& layout, const Value& memory) {
    std::array<Strided, most_operands> in;
    std::array<const View*, most_operands> views{};
    std::array<std::int64_t, most_operands> sizes{};
    std::array<std::vector<char>, most_operands> cast;
    std::array<View, most_operands> dense_views;
    const std::int64_t n = layout.size();
    if (n == 0) return;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        Operand& o = operands[i];
        if (!o.value) {
            in[i] = {reinterpret_cast<char*>(&o.bits), 0};
            continue;
        }
        sizes[i] = size_of(o.dtype);
        in[i].at = o.value->address + o.view.offset * sizes[i];
        views[i] = &o.view;
        const DType wanted = loop.in[i];
        if (o.dtype == wanted) continue;
        dense_views[i] = dense(layout.shape());
        cast[i].resize(static_cast<std::size_t>(n * size_of(wanted)));
        over(layout, cast_row(o.dtype, wanted), {cast[i].data(), 0}, dense_views[i], size_of(wanted),
             std::span(&in[i], 1), std::span(&views[i], 1), std::span(&sizes[i], 1));
        in[i].at = cast[i].data();
        views[i] = &dense_views[i];
        sizes[i] = size_of(wanted);
    }
    over(layout, row_of(loop), {memory.address, 0}, layout, size_of(loop.out), {in.data(), operands.size()},
         {views.data(), operands.size()}, {sizes.data(), operands.size()});
}

void evaluate(Value& v, const Queue& queue) {
    for (const Operand& o : v.operands)
        if (o.value && o.value->pending()) evaluate(*o.value, queue);
    const ValueP memory = allocated(queue.device, v.dtype, v.layout, queue.stream);
    fill(*v.loop, v.operands, v.layout, *memory);
    ++computed;
    v.settle(*memory);
}

}  // namespace

bool compute_small(const ValueP& value, const Queue& queue) {
    int visits = 32;
    if (queue.stream || !queue.device->host_accessible() || !possible(*value, visits)) return false;
    if (value->pending()) evaluate(*value, queue);
    return true;
}

ValueP applied_small(const std::shared_ptr<device::Device>& device, const Loop& loop,
                     std::span<Operand> operands, Shape shape, const View* like) {
    if (!device->host_accessible()) return nullptr;
    std::int64_t n = 1;
    for (const std::int64_t length : shape) n *= length;
    if (n > limit || !has_rows(loop, operands)) return nullptr;
    for (const Operand& o : operands)
        if (o.value && (o.value->pending() || !o.value->buffer || !o.value->buffer->on_default_stream_alone()))
            return nullptr;
    ValueP made = allocated(device, loop.out, layout_of_result(loop, operands, shape, like), nullptr);
    fill(loop, operands, made->layout, *made);
    ++computed;
    return made;
}

ValueP folded_small(const Operand& operand, const Reduction& reduction, DType out, bool keepdims) {
    const ValueP& value = operand.value;
    const Loop& loop = *reduction.fold;
    const View& view = operand.view;
    const std::int64_t n = view.size();
    const std::uint64_t all = view.ndim ? ~std::uint64_t{0} >> (64 - view.ndim) : 0;
    if (!value->device->host_accessible() || value->pending() || n < 1 || n > limit ||
        reduction.axes != all || (view.ndim > 1 && !is_c_contiguous(view)) || !value->buffer ||
        !value->buffer->on_default_stream_alone())
        return nullptr;
    const Row link = row_of(loop), taken = cast_row(operand.dtype, loop.out), given = cast_row(loop.out, out);
    if (!link || !taken || !given) return nullptr;
    // In the kernel's order: parts side by side, what is left over goes to the first.
    constexpr std::int64_t parts = 4;
    struct alignas(16) Number {
        std::uint64_t bits[2];
        Strided at() { return {reinterpret_cast<char*>(bits), 0}; }
    };
    std::array<Number, parts> part;
    part.fill({{reduction.identity, reduction.more_identity}});
    Number one{};
    const auto join = [&](Number& into, Number& with) {
        const std::array in{into.at(), with.at()};
        link(into.at(), in.data(), 1);
    };
    const std::int64_t size = size_of(operand.dtype), step = view.ndim == 1 ? view.strides[0] : 1;
    for (std::int64_t i = 0; i < n; ++i) {
        const Strided from{value->address + (view.offset + i * step) * size, 0};
        taken(one.at(), &from, 1);
        join(part[static_cast<std::size_t>(i < n / parts * parts ? i % parts : 0)], one);
    }
    join(part[0], part[1]);
    join(part[2], part[3]);
    join(part[0], part[2]);
    ValueP made = allocated(value->device, out, layout_of_fold(view, reduction.axes, keepdims), nullptr);
    const Strided total = part[0].at();
    given({made->address, 0}, &total, 1);
    ++computed;
    return made;
}

bool store_small(Value& target, const View& view, const Operand& from, const Queue& queue) {
    const Row row = cast_row(from.dtype, target.dtype);
    if (queue.stream || !queue.device->host_accessible() || view.size() > limit || !row ||
        !target.buffer->on_default_stream_alone())
        return false;
    int visits = 32;
    if (from.value && !possible(*from.value, visits)) return false;
    if (from.value && from.value->pending()) evaluate(*from.value, queue);
    std::array<std::uint64_t, 2> number{from.bits, from.more_bits};
    const std::int64_t size = size_of(from.dtype), out_size = size_of(target.dtype);
    const Strided in = from.value ? Strided{from.value->address + from.view.offset * size, 0}
                                  : Strided{reinterpret_cast<char*>(number.data()), 0};
    const View* const seen = from.value ? &from.view : nullptr;
    over(view, row, {target.address + view.offset * out_size, 0}, view, out_size, {&in, 1}, {&seen, 1},
         {&size, 1});
    ++computed;
    return true;
}

std::int64_t small_limit() { return limit; }
void set_small_limit(std::int64_t elements) { limit = elements; }
std::uint64_t small_count() { return computed; }

}  // namespace xcuda::arrays
