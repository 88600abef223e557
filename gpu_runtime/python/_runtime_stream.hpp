// Streams, events and devices as Python holds them, which are current, and what is in flight on them.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "_runtime_error.hpp"
#include "base/recycled.hpp"
#include "device/device.hpp"
#include "launch/launch.hpp"

namespace xcuda::python {

struct Graph;

/// A null `stream` is the device's default stream.
struct Stream {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Stream> stream;
    std::shared_ptr<Graph> graph;  // of a capture: what is asked for in the stream goes there
};

struct Event {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Event> event;
    bool recorded = false;
};

/// The device of `with Device(n):` in this context, else the process' default.
const std::shared_ptr<device::Device>& current_device();
/// The stream of `with stream:` in this context; null where none is.
Stream* current_stream();
/// The current stream where it belongs to `device`, else the device's default one.
std::shared_ptr<device::Stream> stream_on(const std::shared_ptr<device::Device>& device);

/// Work that was started and not yet waited for, with the Python objects whose memory it uses. Guarded by the GIL.
struct InFlight {
    std::shared_ptr<device::Device> device;
    std::shared_ptr<device::Stream> stream;
    launch::Started started;                // a launch
    std::shared_ptr<device::Event> copied;  // a copy that uses host memory, after the launch if there is one
    std::shared_ptr<const Graph> graph;     // or a graph's replay, which `started` times
    std::shared_ptr<void> keeps;            // released with the GIL held
    launch::ElementReader element;  // of the arrays that it keeps; none where others may have written to them
    std::shared_ptr<const Error> explained;  // its error with what those arrays held
    std::function<void()> finish;            // once, when the work is done and went well
    LaunchSite site;
    bool structured = false;  // a launch of a kernel's variant
    bool told = false;        // its error has been raised, or will be by an await
    bool stopped = false;     // an interrupt came that was told of; that it stopped this is no news

    bool done() const;
    /// The error of what is done; nothing where it went well.
    std::optional<Error> error() const;
    /// Of a launch that is done and failed: reads what its error is to name while the arrays are there. The GIL is away
    /// meanwhile, so that nobody else may come to the work.
    void explain();
    /// The kernel's name, of a replay the one that a fault is of; empty for a copy.
    std::string kernel() const;
    /// The error that the next wait is to raise.
    std::optional<Error> untold() const;
    /// Writes what the threads printed to sys.stdout, once.
    void show_printed();
    /// What is left to do once it is done: copies that Python makes; then it lets go of what it kept.
    void land();
};
void in_flight(std::shared_ptr<InFlight> work);

/// Waits for the stream (for all of the device's where `whole_device`) with the GIL released, then raises the first
/// error of what was in flight there. KeyboardInterrupt where the wait was interrupted.
void synchronize(const std::shared_ptr<device::Device>& device, const std::shared_ptr<device::Stream>& stream,
                 bool whole_device = false);
/// After an interrupt that was told of: no kernel goes on, and no later wait or cell is interrupted by it again.
void stop_kernels();
/// Lands one piece of work that is done and raises its error.
void raise_error_of(InFlight& work);

/// Holds a Python object for as long as C++ needs it; let go of with the GIL, on any thread.
std::shared_ptr<void> kept_object(nb::handle object);

/// Calls a Python function from a thread of the device once the stream is there.
void call_on_host(const std::shared_ptr<device::Device>& device,
                  const std::shared_ptr<device::Stream>& stream, nb::callable callback);

void bind_stream(nb::module_& module);

}  // namespace xcuda::python
