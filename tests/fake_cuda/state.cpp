#include "state.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "control.hpp"
#include "profiling.hpp"

namespace fake {

State& state() {
    static State& the_state = *[] {
        auto* made = new State;
        if (const char* orders = std::getenv("FAKE_CUDA")) read_orders(*made, orders);
        return made;
    }();
    return the_state;
}

Context*& current() {
    thread_local Context* context = nullptr;
    return context;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

// The mutex is held.
CUresult allowed(const char* function, Needs needs) {
    State& s = state();
    ++s.calls[function];
    if (const auto ordered = s.failures.find(function); ordered != s.failures.end()) {
        Failure& f = ordered->second;
        if (f.after > 0)
            --f.after;
        else if (f.times > 0) {
            --f.times;
            return f.result;
        }
    }
    if (needs == Needs::nothing) return CUDA_SUCCESS;
    if (!s.initialised || s.process != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
    if (needs == Needs::driver) return CUDA_SUCCESS;
    Context* c = current();
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    if (!c->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return c->broken;
}

void serve() {
    State& s = state();
    std::unique_lock lock(s.mutex);
    for (;;) {
        s.changed.wait(lock, [&] { return !s.work.empty() && s.options.hold == 0; });
        State::Work work = std::move(s.work.front());
        s.work.pop_front();
        const bool runs = work.always || (work.context->alive && work.context->resets == work.generation &&
                                          work.context->broken == CUDA_SUCCESS);
        s.running = true;
        lock.unlock();
        if (runs) work.run();
        work.run = nullptr;
        lock.lock();
        s.running = false;
        s.done = work.number;
        s.changed.notify_all();
    }
}

}  // namespace

CUresult enter(const char* function, Needs needs, const std::function<CUresult()>& body) {
    profile_call(function);
    const std::lock_guard lock(state().mutex);
    const CUresult result = allowed(function, needs);
    return result == CUDA_SUCCESS ? body() : result;
}

CUresult enter_unlocked(const char* function, Needs needs, const std::function<CUresult()>& body) {
    profile_call(function);
    {
        const std::lock_guard lock(state().mutex);
        if (const CUresult result = allowed(function, needs); result != CUDA_SUCCESS) return result;
    }
    return body();
}

Stream* stream_of(CUstream handle) {
    State& s = state();
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        auto& made = s.default_streams[current()];
        if (!made) made = std::make_unique<Stream>(Stream{current(), 0, 0, 0, nullptr});
        return made.get();
    }
    const auto at = s.streams.find(reinterpret_cast<Stream*>(handle));
    return at == s.streams.end() ? nullptr : at->second.get();
}

void add(Stream& stream, std::function<void()> run, bool always) {
    State& s = state();
    if (stream.capturing) {
        stream.capturing->work.push_back(std::move(run));
        return;
    }
    if (!s.served) {
        std::thread(serve).detach();
        s.served = true;
    }
    stream.last = ++s.added;
    s.work.push_back({s.added, stream.context, stream.context->resets, std::move(run), always});
    s.changed.notify_all();
}

void destroy(Context& context, std::unique_lock<std::mutex>& lock) {
    State& s = state();
    s.changed.wait(lock, [&] { return !s.running; });
    ++context.resets;
    context.alive = false;
    context.broken = CUDA_SUCCESS;
    std::erase_if(s.streams, [&](const auto& each) { return each.second->context == &context; });
    std::erase_if(s.events, [&](const auto& each) { return each.second->context == &context; });
    std::erase_if(s.functions, [&](const auto& each) { return each.second->module->context == &context; });
    std::erase_if(s.modules, [&](const auto& each) { return each.second->context == &context; });
    s.default_streams.erase(&context);
    for (auto at = s.memory.begin(); at != s.memory.end();) {
        if (at->second.context != &context) {
            ++at;
            continue;
        }
        release_bytes(at->first, at->second);
        at = s.memory.erase(at);
    }
    for (const auto& pool : s.pools)
        if (pool->device == context.device) *pool = Pool{pool->device};
    std::erase_if(s.live_pools, [&](Pool* pool) {
        return pool->device == context.device &&
               pool != s.default_pools[static_cast<std::size_t>(pool->device)];
    });
}

}  // namespace fake
