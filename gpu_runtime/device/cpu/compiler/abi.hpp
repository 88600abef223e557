// What the runtime and the compiler module (libxcuda_cpu_jit.so) agree on: plain C, no object crosses it.
#pragma once

#include <cstddef>

namespace xcuda::device::cpu {

constexpr int compiler_abi = 2;

enum class Output : int { object, assembly, log };

/// Receives what the compiler made; called once for each kind of output, before the call that was given it
/// returns.
using OutputSink = void (*)(void* context, Output kind, const char* data, std::size_t bytes);

struct CompileRequest {
    const char* text;
    std::size_t text_bytes;
    const char* options;  // words: "O0".."O3", or clang cc1 options that start with '-'
    Output want;          // object or assembly
};

struct LoadRequest {
    const char* object;
    std::size_t object_bytes;
    const char* entry;
    void* (*resolve)(const char* symbol);  // null: no such symbol
};

struct LoadedObject {
    void* handle;              // for unload
    void* run;                 // ENTRY
    void* units;               // ENTRY_units, null where it has none; so too the next three
    const void* cut;           // ENTRY_cut
    void* domain;              // ENTRY_domain
    void* tiles;               // ENTRY_tiles
    const void* shared_bytes;  // ENTRY_shared_bytes, null if the kernel has none
    std::size_t stack_bytes;   // the object's frames added up: a bound, as kernels don't recurse
};

}  // namespace xcuda::device::cpu

extern "C" {
/// compiler_abi of the module as it was built.
int xcuda_cpu_jit_abi();
/// 0: done; 1: the text did not compile, the log says why.
int xcuda_cpu_jit_compile(const xcuda::device::cpu::CompileRequest*, xcuda::device::cpu::OutputSink,
                          void* context);
/// 0: linked into this process; 1: it could not be, the log says why. Needs no compiler state and makes none.
int xcuda_cpu_jit_load(const xcuda::device::cpu::LoadRequest*, xcuda::device::cpu::LoadedObject*,
                       xcuda::device::cpu::OutputSink, void* context);
/// The code must not run any more.
void xcuda_cpu_jit_unload(void* handle);
}
