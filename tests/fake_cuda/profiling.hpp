// What the driver tells the profiling library in this file (cupti.cpp), as the real one tells CUPTI.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "state.hpp"

namespace fake {

/// At the begin of each entry point, without the mutex: gives the call a number and tells who has subscribed.
void profile_call(const char* function);
/// Of the call that this thread is in.
std::uint32_t call_number();
/// Where work comes from that a graph holds.
struct OfGraph {
    std::uint32_t call = 0;  // that launched it
    std::uint32_t graph = 0, node = 0;
};
/// While one lives, work on this thread is a graph's.
class Replaying {
public:
    explicit Replaying(const OfGraph& of);
    ~Replaying();

private:
    OfGraph before_;
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
/// All of a graph's work is done.
void profile_graph(const OfGraph& of, Context* context, Stream* stream);

/// For the counters (cupti_counters.cpp): kernels run in the context so far.
std::int64_t kernels_in(Context* context);

}  // namespace fake
