// How the table of kernel functions is filled: one function a group of names, in functions_*.cpp.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/functions.hpp"

namespace xcuda::frontend {

struct FunctionTable {
    std::vector<KernelFunction> functions;
    std::vector<Overload> overloads;
    std::deque<std::string> texts;  // what the string_views of both point into

    std::string_view keep(std::string text);
    /// Starts a function; its overloads follow, narrowest first: the first that holds the arguments is taken.
    void begin(std::string_view name, std::vector<std::string_view> spellings, std::string_view numpy,
               std::string_view doc);
    void add(std::vector<DType> in, DType out, std::string cpu, std::string cuda, std::string vector);
    /// Of the function begun last.
    void takes(std::vector<std::string_view> parameters) {
        functions.back().parameters = std::move(parameters);
    }
    void has(ir::Effect effect, bool sited = false, bool gives = true) {
        functions.back().effect = effect;
        functions.back().sited = sited;
        functions.back().gives = gives;
    }
    void add(std::vector<DType> in, DType out, std::string both, std::string vector = {}) {
        add(std::move(in), out, both, both, std::move(vector));
    }
    /// Of the function's float32 and float64 overloads.
    struct Ulp {
        float cpu32, cuda32, cpu64, cuda64;
    };
    void within(const Ulp& ulp);
    enum class Complex { same, part, boolean };
    /// complex64 and complex128, after the real overloads: the same text for both devices, lane by lane.
    void add_complex(std::string text, Complex gives = Complex::same);
};

/// What the function of libm with this name is off by more than its last rounding; nothing for exact ones.
void state_accuracy(FunctionTable&, std::string_view name);

void add_math(FunctionTable&);        // libm: sin, exp, hypot, ...
void add_special(FunctionTable&);     // erfinv, digamma, Bessel functions, expit, ...
void add_rounding(FunctionTable&);    // floor, rint, isnan, copysign, ...
void add_numbers(FunctionTable&);     // min, maximum, abs, sign, where, ...
void add_whole(FunctionTable&);       // gcd, factorial, spacing, isposinf, ...
void add_warps(FunctionTable&);       // shuffles, votes, barriers with a value, fences, clocks
void add_bits(FunctionTable&);        // popc, clz, fma, mulhi, ...
void add_named(FunctionTable&);       // cuda.libdevice.*
void add_complex(FunctionTable&);     // real, imag, conjugate, angle
void add_reductions(FunctionTable&);  // numpy.sum, numpy.argmax, ... of whole arrays
void add_times(FunctionTable&);       // what datetime64 and timedelta64 lower to
void add_bfloat(FunctionTable&);      // cuda.bf16.*
void add_float8(FunctionTable&);      // cuda.fp8.*
void add_internal(FunctionTable&);    // what operators lower to and no user writes

/// By its name alone, for functions that the lowering itself calls.
const KernelFunction& internal_function(std::string_view name);

}  // namespace xcuda::frontend
