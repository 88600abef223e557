// What the driver tells the profiling library in this file (cupti.cpp), as the real one tells CUPTI.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "state.hpp"

namespace fake {

/// At the begin of each entry point, without the mutex: gives the call a number and tells who has subscribed.
void profile_call(const char* function);
/// Of the call that this thread is in; while a graph's work runs, of the call that launched it.
std::uint32_t call_number();
/// While one lives, work on this thread belongs to that call.
class OfCall {
public:
    explicit OfCall(std::uint32_t call);
    ~OfCall();

private:
    std::uint32_t before_;
};

/// Work that was done, on the fake's thread: `call` is that of the capture or of the launch.
struct Done {
    std::uint32_t call;
    Context* context;
    Stream* stream;
    double begin, end;
};
void profile_kernel(const Done& done, const std::string& name, const std::array<unsigned, 6>& shape,
                    unsigned shared);
void profile_copy(const Done& done, const void* to, const void* from, std::size_t bytes);
void profile_fill(const Done& done, std::size_t bytes);

/// For the counters (cupti_counters.cpp): kernels run in the context so far.
std::int64_t kernels_in(Context* context);

}  // namespace fake
