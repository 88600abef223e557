#include "device/cuda/queue.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/recycled.hpp"
#include "device/cuda/activity.hpp"
#include "device/cuda/context.hpp"
#include "device/cuda/counters.hpp"
#include "device/cuda/print_buffers.hpp"
#include "device/cuda/wait.hpp"

namespace xcuda::device::cuda {

namespace {

struct All {
    std::mutex mutex;
    std::vector<std::weak_ptr<Queue>> queues;
};
All& all() {
    static All& every = *new All;
    return every;
}

std::vector<std::shared_ptr<Queue>> queues_of(CUcontext context) {
    std::vector<std::shared_ptr<Queue>> its;
    const std::lock_guard lock(all().mutex);
    for (const auto& weak : all().queues)
        if (auto queue = weak.lock(); queue && queue->context() == context) its.push_back(std::move(queue));
    return its;
}

}  // namespace

std::shared_ptr<Queue> Queue::make(CUcontext context, CUstream stream, bool owned) {
    auto made = std::make_shared<Queue>(context, stream, owned);
    const std::lock_guard lock(all().mutex);
    std::erase_if(all().queues, [](const auto& queue) { return queue.expired(); });
    all().queues.push_back(made);
    return made;
}

Queue::~Queue() {
    try {
        const Current here(context_);
        const Driver& d = driver();
        for (const CUevent event : spare_) d.cuEventDestroy(event);
        if (base_) d.cuEventDestroy(base_);
        if (gate_) d.cuMemFree(gate_);
        if (owned_) d.cuStreamDestroy(stream_);
    } catch (...) {
        // The GPU is lost, and the stream with it.
    }
}

void Queue::abandon_all(CUcontext context) {
    for (const auto& queue : queues_of(context)) queue->abandon();
}

void Queue::poll_all(CUcontext context) {
    for (const auto& queue : queues_of(context))
        if (queue->stream_ != CU_STREAM_PER_THREAD) queue->poll();
}

void Queue::abandon() {
    std::vector<Entry> over;  // released without the lock
    const std::lock_guard lock(mutex_);
    for (; first_ < next_; ++first_) {
        Entry& e = entry(first_);
        e.launch->fault.kind = static_cast<std::int32_t>(FaultKind::lost);
        e.launch->timed = false;
        e.launch->done.store(true, std::memory_order_release);
        over.push_back(std::exchange(e, {}));
    }
}

void Queue::hold(std::shared_ptr<void> owner) {
    if (!owner) return;
    const std::lock_guard lock(mutex_);
    for (const auto& held : owners_)
        if (held == owner) return;
    owners_.push_back(std::move(owner));
}

CUevent Queue::take_event() {
    CUevent event = nullptr;
    if (!spare_.empty()) {
        event = spare_.back();
        spare_.pop_back();
    } else {
        check(driver().cuEventCreate(&event, CU_EVENT_DEFAULT), "making an event");
    }
    return event;
}

// `start` asks the driver for the work; it is given the fault record's address on the device, the record and the launch.
template <class Start>
std::shared_ptr<Device::Launch> Queue::enqueue(Entry&& held, Start start) {
    const Driver& d = driver();
    auto launch = make_recycled<Device::Launch>();
    std::unique_lock lock(mutex_);
    if (!faults_) [[unlikely]] {
        faults_ = std::make_unique<FaultRing>();
        entries_.resize(FaultRing::size);
    }
    while (next_ - first_ == FaultRing::size) [[unlikely]] {
        lock.unlock();
        make_room();
        lock.lock();
    }
    faults_->prepare(next_);
    Entry& mine = entry(next_);
    const double asked = first_ == next_ ? now() : 0;
    const bool timed = next_ - waited_ < timed_after_wait || next_ % timed_each == 0;
    if (timed) {
        mine.begin = take_event();
        mine.end = take_event();
        check(d.cuEventRecord(mine.begin, stream_), "recording an event");
    }
    const CUresult result = [&] {
        const Launching known(*launch);
        return start(faults_->address(next_), faults_->at(next_), *launch);
    }();
    if (result != CUDA_SUCCESS) [[unlikely]] {
        if (timed) {
            spare_.insert(spare_.end(), {mine.begin, mine.end});
            mine.begin = mine.end = nullptr;
        }
        throw driver_error(result, "launching a kernel");
    }
    if (timed) {
        const CUresult result = d.cuEventRecord(mine.end, stream_);
        // A kernel that has ended the GPU already is under way like any other, so that it is named.
        if (is_sticky(result)) [[unlikely]]
            static_cast<void>(driver_error(result, "recording an event"));
        else
            check(result, "recording an event");
    }
    if (timed && first_ == next_) {  // nothing before it: it begins now
        if (base_) spare_.push_back(base_);
        base_ = mine.begin;
        base_time_ = asked;
    }
    mine.launch = launch;
    mine.keep = std::move(held.keep);
    mine.graph = std::move(held.graph);
    ++next_;
    return launch;
}

std::shared_ptr<Device::Launch> Queue::launch(CUfunction function, std::shared_ptr<Function> keep,
                                              const Shape& shape, const void* arguments) {
    return enqueue(
        {nullptr, std::move(keep), nullptr}, [&](CUdeviceptr fault, FaultSlot& slot, Device::Launch& launch) {
            const Driver& d = driver();
            if (shape.print_words > 0) [[unlikely]]
                launch.printed = take_print_buffer(shape.print_words, &slot.print);
            if (shape.whole_grid) [[unlikely]] {
                if (!gate_)
                    check(d.cuMemAlloc(&gate_, sizeof(unsigned)), "getting memory for a grid's barrier");
                check(d.cuMemsetD8Async(gate_, 0, sizeof(unsigned), stream_), "clearing a grid's barrier");
                slot.gate = gate_;
            }
            void* parameters[] = {const_cast<void*>(arguments), &fault};
            const auto call = [&](auto&& launcher, auto... more) {
                return launcher(
                    function, static_cast<unsigned>(shape.grid.x), static_cast<unsigned>(shape.grid.y),
                    static_cast<unsigned>(shape.grid.z), static_cast<unsigned>(shape.block.x),
                    static_cast<unsigned>(shape.block.y), static_cast<unsigned>(shape.block.z),
                    static_cast<unsigned>(shape.dynamic_shared_bytes), stream_, parameters, more...);
            };
            const CountedLaunch counted(context_, function, shape, launch);
            return shape.whole_grid ? call(d.cuLaunchCooperativeKernel) : call(d.cuLaunchKernel, nullptr);
        });
}

std::shared_ptr<Device::Launch> Queue::replay(std::shared_ptr<CudaGraph> graph) {
    CudaGraph& it = *graph;
    if (watching.load(std::memory_order_relaxed)) let_graphs_be_told();
    it.begin();
    try {
        return enqueue({nullptr, nullptr, std::move(graph)},
                       [&](CUdeviceptr, FaultSlot&, Device::Launch& one) {
                           if (watching.load(std::memory_order_relaxed)) note_replay(one, it.executable);
                           return driver().cuGraphLaunch(it.executable, stream_);
                       });
    } catch (...) {
        Device::Launch none;
        it.settle(none);
        throw;
    }
}

std::uint64_t Queue::next() const {
    const std::lock_guard lock(mutex_);
    return next_;
}

void Queue::time(Entry& e) {
    Device::Launch& launch = *e.launch;
    launch.timed = false;
    if (!e.begin) return;
    const Driver& d = driver();
    float since_base = 0, long_it_took = 0;  // milliseconds
    if (base_ && d.cuEventElapsedTime(&since_base, base_, e.begin) == CUDA_SUCCESS &&
        d.cuEventElapsedTime(&long_it_took, e.begin, e.end) == CUDA_SUCCESS) {
        launch.begin = base_time_ + since_base * 1e-3;
        launch.end = launch.begin + long_it_took * 1e-3;
        launch.timed = true;
    }
    if (e.begin != base_) spare_.push_back(e.begin);
    spare_.push_back(e.end);
}

void Queue::settle(std::uint64_t until) {
    std::vector<Entry> over;  // released without the lock: the last one to use a kernel unloads it
    const std::lock_guard lock(mutex_);
    if (until <= first_) return;
    over.reserve(static_cast<std::size_t>(until - first_));
    for (; first_ < until; ++first_) {
        Entry& e = entry(first_);
        const FaultSlot& slot = faults_->at(first_);
        if (e.graph) [[unlikely]] {
            e.graph->settle(*e.launch);
        } else if (slot.taken != 0) [[unlikely]]
            e.launch->fault = slot.record;
        time(e);
        e.launch->done.store(true, std::memory_order_release);
        over.push_back(std::exchange(e, {}));
    }
}

// The newest launch with an event that has happened, found by halving: all before it are over too.
void Queue::settle_passed() {
    const Driver& d = driver();
    std::uint64_t passed = 0;
    {
        const std::lock_guard lock(mutex_);
        std::vector<std::uint64_t> timed;
        for (std::uint64_t i = first_; i < next_; ++i)
            if (entry(i).end) timed.push_back(i);
        std::size_t low = 0, high = timed.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (d.cuEventQuery(entry(timed[middle]).end) == CUDA_SUCCESS)
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0) passed = timed[low - 1] + 1;
    }
    settle(passed);
}

bool Queue::poll() {
    const std::uint64_t asked = next();
    const CUresult result = driver().cuStreamQuery(stream_);
    if (result == CUDA_SUCCESS) {
        settle(asked);
        return true;
    }
    if (result != CUDA_ERROR_NOT_READY) throw driver_error(result, "looking at a stream");
    settle_passed();
    return false;
}

void Queue::make_room() {
    wait_until(
        [this] {
            poll();
            const std::lock_guard lock(mutex_);
            return next_ - first_ < FaultRing::size ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
        },
        "waiting for earlier launches");
}

void Queue::wait() {
    const std::uint64_t asked = next();
    const Driver& d = driver();
    wait_until([&] { return d.cuStreamQuery(stream_); }, "waiting for the GPU");
    settle(asked);
    const std::lock_guard lock(mutex_);
    waited_ = next_;
}

}  // namespace xcuda::device::cuda
