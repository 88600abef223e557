#include "_runtime_declared.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "_runtime_error.hpp"
#include "_runtime_inspect.hpp"
#include "launch/converted.hpp"

namespace xcuda::python {
namespace {

constexpr int never = 1000;

// How far a Python number is from a declared type: 0 is its own, 1 loses nothing, 2 may, 3 cuts a fraction off.
int distance(DType number, DType declared) {
    const DTypeInfo& to = info(declared);
    if (is_half(declared) || to.kind > DKind::complex) return number == declared ? 0 : never;
    switch (number) {
        case DType::b1:
            return declared == DType::b1 ? 0 : is_integer(declared) ? 1 : is_floating(declared) ? 2 : 3;
        case DType::i64:
        case DType::u64:
            return declared == number ? 0 : declared == DType::f64 ? 1 : declared == DType::b1 ? never : 2;
        case DType::f64:
            return declared == DType::f64    ? 0
                   : declared == DType::c128 ? 1
                   : declared == DType::b1   ? never
                   : is_integer(declared)    ? 3
                                             : 2;
        default: return declared == DType::c128 ? 0 : declared == DType::c64 ? 2 : never;
    }
}

int distance(const Declared& declared, std::span<const launch::Argument> given) {
    if (declared.signature.size() != given.size()) return never;
    int all = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ir::Type type = launch::type_of(declared.signature[i]);
        if (declared.pointers[i] && !given[i].is_array) {
            if (given[i].dtype != DType::i64 && given[i].dtype != DType::u64) return never;
            continue;
        }
        if (type.is_array() != given[i].is_array) return never;
        if (type.is_array()) {
            if (type.dtype != given[i].dtype || type.ndim != given[i].ndim) return never;
        } else if (given[i].weak && !type.weak) {
            all += distance(given[i].dtype, type.dtype);
        } else if (type.dtype != given[i].dtype) {
            all += 2;
        }
    }
    return all;
}

bool alike(DType a, DType b) {  // integers of other signs too: numba takes such an array's bits
    return a == b || (is_integer(a) && is_integer(b) && info(a).size == info(b).size);
}

// Whether a call's arguments can be of the declared types: arrays of the same numbers and axes, no complex number for a
// real one. Their layouts may differ, signs and real numbers: these compile a version of their own.
bool takes(const Declared& declared, std::span<const launch::Argument> given) {
    if (declared.signature.size() != given.size()) return false;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ir::Type type = launch::type_of(declared.signature[i]);
        if (declared.pointers[i]) continue;
        if (type.is_array() != given[i].is_array) return false;
        if (type.is_array() && (!alike(type.dtype, given[i].dtype) || type.ndim != given[i].ndim))
            return false;
        if (!type.is_array() && is_complex(given[i].dtype) && !is_complex(type.dtype)) return false;
    }
    return true;
}

// A type as a signature has it: float32[:, :], int64.
std::string told(DType dtype, bool is_array, int ndim) {
    std::string axes;
    for (int axis = 0; axis < ndim; ++axis) axes += axis ? ", :" : ":";
    return std::string(info(dtype).name) + (is_array ? "[" + axes + "]" : "");
}

std::string told(const Declared& declared) {
    std::vector<std::string> types;
    for (const launch::Key key : declared.signature) {
        const ir::Type type = launch::type_of(key);
        types.push_back(told(type.dtype, type.is_array(), type.ndim));
    }
    return fmt::format("({})", fmt::join(types, ", "));
}

void expect_declared(const KernelState& k, std::span<const launch::Argument> given) {
    if (std::any_of(k.declared.begin(), k.declared.end(), [&](const Declared& d) { return takes(d, given); }))
        return;
    std::vector<std::string> found;
    for (const launch::Argument& a : given)
        found.push_back(told(a.dtype, a.is_array, a.is_array ? a.ndim : 0));
    std::string wanted;
    for (std::size_t i = 0; i < k.declared.size(); ++i)
        wanted += (i == 0 ? "" : i + 1 == k.declared.size() ? " and " : ", ") + told(k.declared[i]);
    raise(
        "TypeError",
        fmt::format("No matching definition: {} was declared for {}, found ({}); declare these types too, or "
                    "leave the signature out",
                    k.name, wanted, fmt::join(found, ", ")));
}

}  // namespace

void take_declared(const KernelState& k, Arguments& arguments) {
    const std::span<launch::Argument> given = arguments.values();
    expect_declared(k, given);
    if (std::all_of(given.begin(), given.end(), [](const auto& a) { return a.is_array; })) return;
    const Declared* best = nullptr;
    int least = never;
    for (const Declared& declared : k.declared) {
        const int d = distance(declared, given);
        if (d < least) least = d, best = &declared;
    }
    if (!best) return;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ir::Type type = launch::type_of(best->signature[i]);
        if (best->pointers[i] && !given[i].is_array) {
            arguments.take_address(i, type.dtype);
            continue;
        }
        if (given[i].is_array || !given[i].weak || type.weak) continue;
        if (!launch::convert_scalar(given[i], type.dtype))
            raise("OverflowError", fmt::format("'{}' does not fit {}, the type that {} was declared with",
                                               k.parameters[i], info(type.dtype).name, k.name));
    }
}

void bind_declared(nb::module_& module) {
    module.def(
        "declare",
        [](nb::handle kernel, nb::handle types) {
            KernelState* k = kernel_state(kernel.ptr());
            if (!k) raise("TypeError", "a kernel is wanted here");
            Declared declared{signature_from(types), {}};
            for (nb::handle type : types)
                declared.pointers.push_back(nb::cast<std::string>(nb::object(type[0])) == "pointer");
            k->declared.push_back(std::move(declared));
        },
        nb::arg("kernel"), nb::arg("types"));
}

}  // namespace xcuda::python
