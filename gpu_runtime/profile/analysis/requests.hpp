// A block's accesses gathered into requests: what the lanes of a warp ask for in one step, as the hardware meets it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "launch/trace.hpp"

namespace xcuda::profile::analysis {

constexpr int warp_lanes = 32;

struct Lane {
    std::uint32_t thread;
    std::uint64_t value;  // an address; of a branch, whether it was taken
};

/// Lanes that met the same place for the same time. Where threads part and meet again this takes the n-th visit of
/// one with the n-th of the other, which is how the hardware runs code whose branches close.
struct Request {
    launch::TraceRecord::What what;
    std::int32_t where;
    std::uint32_t warp;
    std::uint32_t visit;
    std::span<const Lane> lanes;
};

struct Requests {
    std::vector<Lane> lanes;
    std::vector<Request> all;  // ordered by what, where, warp, visit

    /// Those of one kind of step, by place: `each(where, requests of it)`.
    void by_place(launch::TraceRecord::What what,
                  const std::function<void(std::int32_t, std::span<const Request>)>& each) const;
};

Requests gather(const launch::BlockTrace& block);

/// Of all blocks together, the requests of each place.
using PlacesOf = std::vector<std::pair<std::int32_t, std::vector<std::span<const Request>>>>;
PlacesOf places(const std::vector<Requests>& blocks, launch::TraceRecord::What what);

}  // namespace xcuda::profile::analysis
