#include "launch/buffer.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/pressure.hpp"
#include "device/spilling.hpp"
#include "device/under_way.hpp"
#include "launch/event.hpp"
#include "launch/held.hpp"
#include "launch/program.hpp"

namespace xcuda::launch {
namespace {

void log(Event::Kind kind, const device::Device& device, double begin, std::size_t bytes,
         device::Stream* stream, double before = 0) {
    Event event{};
    event.kind = kind;
    event.begin = begin;
    event.end = now();
    event.bytes = static_cast<std::int64_t>(bytes);
    event.before = before;
    event.stream = reinterpret_cast<std::uintptr_t>(stream);
    event.device = device_label(device.info());
    record(std::move(event));
}

void give_back(device::Device& device, void* address, std::size_t bytes, device::Stream* home) noexcept {
    const double begin = now();
    device.release(address, home);
    try {
        note_held(device, -static_cast<std::int64_t>(bytes));
        log(Event::Kind::release, device, begin, bytes, home);
    } catch (...) {  // out of host memory: the log lacks one line
    }
}

// Streams that have memory to give back when they come to it.
struct Late {
    std::weak_ptr<device::Device> device;
    std::weak_ptr<device::Stream> stream;
};
std::mutex late_mutex;
std::vector<Late>& late = *new std::vector<Late>;  // streams' threads outlive the statics

void note_late(const std::shared_ptr<device::Device>& device, const std::shared_ptr<device::Stream>& stream) {
    const std::lock_guard lock(late_mutex);
    std::erase_if(late, [&](const Late& l) { return l.stream.expired() || l.stream.lock() == stream; });
    late.push_back({device, stream});
}

}  // namespace

void wait_for_late_releases() {
    std::vector<Late> all;
    {
        const std::lock_guard lock(late_mutex);
        all.swap(late);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto device = all[i].device.lock();
        const auto stream = all[i].stream.lock();
        if (!device || !stream) continue;
        try {
            const auto reached = device->make_event(false);
            device->record(*reached, stream.get());
            device->synchronize(*reached);
        } catch (...) {
            const std::lock_guard lock(late_mutex);
            late.insert(late.end(), all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
            throw;
        }
    }
}

// Out of memory: what nobody needs any more goes, what is kept for reuse goes back, what may move to host memory does,
// and then once more.
void* Buffer::allocate() {
    try {
        return device_->allocate(bytes_, home_.get());
    } catch (const Error& error) {
        if (error.python_type != "MemoryError") throw;
    }
    device::relieve();
    device_->trim();
    if (!device::spilling.load()) return device_->allocate(bytes_, home_.get());
    try {
        return device_->allocate(bytes_, home_.get());
    } catch (const Error& error) {
        auto* other_place = device::spilling_of(*device_);
        if (error.python_type != "MemoryError" || !other_place || !other_place->make_room(bytes_)) throw;
    }
    return device_->allocate(bytes_, home_.get());
}

Buffer::Buffer(std::shared_ptr<device::Device> device, std::size_t bytes,
               std::shared_ptr<device::Stream> stream)
    : device_(std::move(device)),
      bytes_(bytes),
      home_(std::move(stream)) {
    const double begin = now();
    address_ = bytes_ > 0 ? allocate() : nullptr;
    if (address_) note_held(*device_, static_cast<std::int64_t>(bytes_));
    log(Event::Kind::allocate, *device_, begin, bytes_, home_.get());
}

Buffer::Buffer(std::shared_ptr<device::Device> device, void* address, std::size_t bytes,
               std::shared_ptr<void> owner, std::shared_ptr<device::Stream> stream)
    : device_(std::move(device)),
      bytes_(bytes),
      address_(address),
      home_(std::move(stream)),
      owner_(std::move(owner)) {}

// The last stream to pass its work lets go; where none has any, this thread does, at once.
void Buffer::let_go(std::shared_ptr<void> kept) const noexcept {
    try {
        for (const auto& stream : streams()) {
            if (device_->finished(stream.get())) continue;
            device_->call_on_host(stream.get(), [kept] {});
            note_late(device_, stream);
        }
    } catch (...) {
        // Not to be known when it is over: memory that stays is better than memory that goes too early.
        new (std::nothrow) std::shared_ptr<void>(std::move(kept));
    }
}

Buffer::~Buffer() {
    if (owner_) let_go(owner_);
    if (owner_ || !address_) return;
    // A default stream that is the caller's own thread can't wait for another: the caller would.
    if (device_->host_accessible() && !home_ && !others_.empty()) {
        const auto back = [device = device_, bytes = bytes_](void* address) {
            give_back(*device, address, bytes, nullptr);
        };
        let_go(std::shared_ptr<void>(address_, back));
        return;
    }
    // Work elsewhere may still read it: the home stream waits for that before the memory goes back.
    for (const auto& stream : others_) {
        try {
            const auto reached = device_->make_event(false);
            device_->record(*reached, stream.get());
            device_->wait(*reached, home_.get());
        } catch (...) {  // a device that is going down has no order to keep
        }
    }
    if (shared_) {
        try {
            device_->order(device::Device::everything, device_->handle(home_.get()));
        } catch (...) {}
    }
    give_back(*device_, address_, bytes_, home_.get());
}

void Buffer::note_use_on(const std::shared_ptr<device::Stream>& stream) {
    if (device::spilling.load(std::memory_order_relaxed)) [[unlikely]]
        if (auto* other_place = device::spilling_of(*device_)) other_place->note_use(address_);
    if (stream == home_) return;
    std::lock_guard lock(mutex_);
    if (std::find(others_.begin(), others_.end(), stream) == others_.end()) others_.push_back(stream);
}

std::vector<std::shared_ptr<device::Stream>> Buffer::streams() const {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<device::Stream>> all{home_};
    all.insert(all.end(), others_.begin(), others_.end());
    return all;
}

bool Buffer::on_default_stream_alone() const {
    std::lock_guard lock(mutex_);
    return !home_ && others_.empty();
}

void copy_in(device::Device& device, void* to, const void* from, std::size_t bytes, device::Stream* stream,
             double before) {
    if (bytes == 0) return;
    const double begin = now();
    const device::UnderWay told(device::Doing::copy, "to the device", begin);
    device.copy_to_device(to, from, bytes, stream);
    log(Event::Kind::copy_in, device, begin, bytes, stream, before);
}

void copy_out(device::Device& device, void* to, const void* from, std::size_t bytes, device::Stream* stream) {
    if (bytes == 0) return;
    const double begin = now();
    const device::UnderWay told(device::Doing::copy, "to the host", begin);
    device.copy_to_host(to, from, bytes, stream);
    log(Event::Kind::copy_out, device, begin, bytes, stream);
}

void copy_within(device::Device& device, void* to, const void* from, std::size_t bytes,
                 device::Stream* stream) {
    if (bytes == 0) return;
    const double begin = now();
    const device::UnderWay told(device::Doing::copy, "on the device", begin);
    device.copy_on_device(to, from, bytes, stream);
    log(Event::Kind::copy_within, device, begin, bytes, stream);
}

void fill(device::Device& device, void* to, int byte, std::size_t bytes, device::Stream* stream) {
    if (bytes == 0) return;
    const double begin = now();
    device.fill(to, byte, bytes, stream);
    log(Event::Kind::fill, device, begin, bytes, stream);
}

}  // namespace xcuda::launch
