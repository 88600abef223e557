// What tests order the fake driver to do, and ask it. C functions, for ctypes.
#pragma once

#include <cstdint>
#include <string>

#include "state.hpp"

namespace fake {

/// "devices=2 init=100 fail=cuMemHostAlloc:2:0:1" (fail: function, result, after, times).
void read_orders(State& state, const std::string& orders);
/// Sets an option by name; false where there is none.
bool set_option(Options& options, const std::string& name, std::int64_t value);
/// The bytes of an allocation, where they are the fake's own. The mutex is held.
void release_bytes(std::uintptr_t address, const Allocation& allocation);

}  // namespace fake

extern "C" {

/// Sets an option of fake::Options by name; 0 where it is none.
int fake_cuda_set(const char* option, long long value);
/// A counter: "launches", "contexts", "streams", "events", "modules", "allocations", "host_allocations", "used",
/// "resets", "graphs", "work" (not done yet), or "calls:cuInit" and the like. -1 where there is none of the name.
long long fake_cuda_get(const char* counter);
/// The calls of `function` after the first `after` answer `result`, `times` times.
void fake_cuda_fail(const char* function, int result, long long after, long long times);
/// The device's context answers `result` from now on, until it is reset.
void fake_cuda_break(int device, int result);
/// One line a launch: name gx gy gz bx by bz shared-bytes parameter-bytes-in-hex. Lives until the next call.
const char* fake_cuda_launches();
/// Called in stream order, on the fake's thread, for each launch, with the parameters as packed.
void fake_cuda_on_launch(void (*call)(const char* name, const unsigned* grid_and_block, void* parameters,
                                      unsigned long long bytes));
}
