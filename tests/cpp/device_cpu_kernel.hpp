// Kernels as hand-written C++ for the CPU device's tests: what the emitter's prelude would declare, and a
// launcher.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "device/device.hpp"

namespace xcuda::test {

inline const std::string cpu_prelude = R"text(
typedef signed int i32; typedef signed long long i64; typedef float f32; typedef double f64;
struct Worker;
struct LaunchBlock { i64 grid[3]; i64 block[3]; i64 dynamic_shared_bytes; const volatile i32* stop; };
typedef void (*ThreadFunction)(const LaunchBlock*, const void*, Worker*, i64, i64, i64, i64, i64, i64);
struct Worker {
    char* shared;
    void (*fail)(Worker*, i32 site, i32 kind, i64, i64, i64, i64, i64, i64, i64, i64) __attribute__((noreturn));
    void (*run_fibers)(Worker*, const LaunchBlock*, const void*, i64 block, ThreadFunction);
    unsigned long long (*barrier)(Worker*, i32 site, bool predicate);
    void (*leave)(Worker*) __attribute__((noreturn));
};
#define UNITS(name, expression) extern "C" i64 name##_units(const LaunchBlock* launch, const void* packed) { \
    (void)packed; return (expression); }
#define KERNEL(name) extern "C" void name(const LaunchBlock* launch, const void* packed, Worker* worker, \
    i64 begin, i64 end)
#define POLL() do { if (*launch->stop) worker->leave(worker); } while (0)
)text";

inline std::shared_ptr<device::Device> cpu_device() { return device::devices().back(); }

inline std::shared_ptr<device::Function> kernel(const std::string& name, const std::string& text,
                                                const std::string& options = "O2") {
    const device::Source source{cpu_prelude + text, name, options};
    return cpu_device()->load(cpu_device()->compile(source));
}

template <class Arguments>
std::shared_ptr<device::Device::Launch> launch(const std::shared_ptr<device::Function>& function,
                                               const device::Shape& shape, const Arguments& arguments,
                                               device::Stream* stream = nullptr) {
    return cpu_device()->launch(function, shape, std::as_bytes(std::span(&arguments, 1)), stream);
}

}  // namespace xcuda::test
