// What the fake driver knows: its options, its devices with their contexts, and which handles are alive.
#pragma once

#include <cuda.h>
#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fake {

/// To order from outside: FAKE_CUDA="devices=2 memory=1000000" in the environment, or fake_cuda_set().
struct Options {
    std::int64_t devices = 1;
    std::int64_t version = 13000;                 // of the driver: 12040 is CUDA 12.4
    std::int64_t architecture = 90;               // sm_90
    std::int64_t memory = std::int64_t{4} << 30;  // bytes of each device
    std::int64_t others = 0;                      // of them, in use by other processes
    std::int64_t init = 0;                        // what cuInit answers
    std::int64_t hold = 0;                        // 1: streams do no work
    std::int64_t break_at_launch = 0;             // the next kernel ends its context with this error
    std::int64_t fault_kind = 0, fault_site = -1, fault_index = 0,
                 fault_length = 0;  // the next kernel records these
    std::int64_t drop = 0;          // CUPTI says that it lost so many records
    // What CUPTI tells of a graph's kernels:
    std::int64_t astray = 0;  // the call so many numbers later
    std::int64_t no_numbers =
        0;                    // 1: neither the node's nor the graph's number; 2: the latter is not to be had
    std::int64_t untold = 0;  // of so many kernels, the next, nothing; negative: of each so many-th
    std::int64_t graphs_whole = 0;  // 1: a record for each replay, none for its kernels
    std::int64_t drops_nan = 0;     // 1: the relu of products gives 0 for nan
    std::int64_t idle =
        0;  // 1: launches, events' records and questions whether work is over cost a few instructions
};

/// A failure to order: the calls of `function` after the first `after` ones answer `result`, `times` times.
struct Failure {
    CUresult result;
    std::int64_t after, times;
};

struct Context {
    int device = 0;
    bool primary = false, alive = false;
    std::int64_t retained = 0, resets = 0;
    CUresult broken = CUDA_SUCCESS;  // every call then answers this
    std::size_t stack = 1024;        // bytes of a thread's
};

struct Pool {
    int device;
    std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0, threshold = 0;
};

/// Memory without an address of its own: of a device, or (-1) of the host.
struct Piece {
    std::uint64_t bytes;
    int device;
    int file;
    int holders = 1;  // its handle, and where it is mapped
    bool released = false;
};

struct Allocation {
    std::uint64_t bytes;
    int device;  // -1: pinned host memory
    Pool* pool;  // null: cuMemAlloc's, or host memory
    Context* context;
    bool owned;              // the fake's own bytes; false: registered
    Piece* piece = nullptr;  // what is mapped there
};

struct Graph {
    std::vector<std::function<void()>> work;
    std::uint32_t number = 0;  // CUPTI's, of an instantiated one
};

struct Stream {
    Context* context;
    unsigned flags = 0;
    int priority = 0;
    std::uint64_t last = 0;  // number of its last piece of work
    std::unique_ptr<Graph> capturing;
};

struct Event {
    Context* context;
    bool timing;
    std::uint64_t at = 0;  // the piece of work that records it; 0: never recorded
    double time = 0;
};

struct Module {
    Context* context;
    std::string image;
};

struct Function {
    Module* module;
    std::string name;
    std::size_t parameter_bytes = 0;
    int dynamic_shared = 48 * 1024;
};

struct State {
    std::mutex mutex;  // of all below
    Options options;
    bool initialised = false;
    pid_t process = 0;
    std::map<std::string, std::int64_t> calls;
    std::map<std::string, Failure> failures;
    std::vector<std::unique_ptr<Context>> primaries;
    std::map<std::uintptr_t, Allocation> memory;  // by address
    std::map<Piece*, std::unique_ptr<Piece>> pieces;
    std::map<std::uintptr_t, std::size_t> reserved;  // ranges of addresses
    std::vector<std::unique_ptr<Pool>> pools;
    std::vector<Pool*> default_pools;
    std::set<Pool*> live_pools;
    std::map<Stream*, std::unique_ptr<Stream>> streams;
    std::map<Event*, std::unique_ptr<Event>> events;
    std::map<Module*, std::unique_ptr<Module>> modules;
    std::map<Function*, std::unique_ptr<Function>> functions;
    std::set<Graph*> graphs;
    std::map<Context*, std::unique_ptr<Stream>> default_streams;
    std::string launches;  // one line a launch
    std::int64_t launch_count = 0;
    std::string ranges;  // NVTX: +name or -, one line each

    // Work of all streams, in the order of the calls.
    struct Work {
        std::uint64_t number;
        Context* context;
        std::int64_t generation;  // the context's resets when it was added
        std::function<void()> run;
        bool always;  // also where the context is broken or gone
    };
    std::deque<Work> work;
    std::uint64_t added = 0, done = 0;
    std::condition_variable changed;
    bool served = false, running = false;
};
State& state();

Context*& current();  // of this thread

/// Runs one entry point under the mutex: counts the call, answers an ordered failure, and, where a context is needed,
/// what a missing, destroyed or broken one answers.
enum class Needs { nothing, driver, context };
CUresult enter(const char* function, Needs needs, const std::function<CUresult()>& body);
/// Like it, without holding the mutex while `body` runs.
CUresult enter_unlocked(const char* function, Needs needs, const std::function<CUresult()>& body);

/// The stream's object, the context's default stream for the null ones; null where it is not alive.
Stream* stream_of(CUstream stream);
/// Adds work to a stream, or to the graph it captures. The mutex is held.
void add(Stream& stream, std::function<void()> run, bool always = false);
/// Ends with everything in it, as a reset does, once the work that runs is over. `lock` is of the state's mutex.
void destroy(Context& context, std::unique_lock<std::mutex>& lock);
double now();
/// Bytes of a device that nobody has.
std::uint64_t available(int device);

}  // namespace fake
