// What xcuda.math asks of the lazy graph: to compute just these values, to read memory that others have, to tell its
// launches.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "_runtime_numeric.hpp"

namespace xcuda::python {
namespace {

using Log = std::vector<arrays::Launched>;

nb::dict told(const arrays::Launched& launch) {
    nb::dict out;
    out["text"] = launch.text;
    out["threads"] = launch.threads;
    out["bytes_read"] = launch.bytes_read;
    out["bytes_written"] = launch.bytes_written;
    out["arrays_read"] = launch.arrays_read;
    out["arrays_written"] = launch.arrays_written;
    out["operations"] = launch.operations;
    out["folds"] = launch.folds;
    return out;
}

// Those of numeric's arrays among them that are pending, and what they need; a device after the other.
void compute_all(nb::list arrays, bool fast, int threads, int elements) {
    std::vector<arrays::ValueP> wanted;
    for (nb::handle each : arrays)
        if (NumericArray* a = numeric_array(each.ptr()); a && a->value->pending()) wanted.push_back(a->value);
    while (!wanted.empty()) {
        const auto device = wanted.front()->device;
        const auto others = std::stable_partition(
            wanted.begin(), wanted.end(), [&](const arrays::ValueP& v) { return v->device == device; });
        arrays::Queue queue = queue_on(device);
        queue.fast = fast;
        queue.threads = threads;
        queue.elements = elements;
        arrays::compute(std::span(wanted.begin(), others), queue);
        wanted.erase(wanted.begin(), others);
    }
}

// Memory that counts as having one owner: what reads it stays in the graph. Only for who computes all of that before anybody
// can write to the memory.
std::shared_ptr<launch::Buffer> alone(const std::shared_ptr<launch::Buffer>& buffer) {
    auto* kept = new std::shared_ptr<launch::Buffer>(buffer);
    const std::shared_ptr<void> owner(
        kept, [](void* p) { delete static_cast<std::shared_ptr<launch::Buffer>*>(p); });
    const auto streams = buffer->streams();
    return std::make_shared<launch::Buffer>(buffer->device(), buffer->address(), buffer->bytes(), owner,
                                            streams.empty() ? nullptr : streams.front());
}

nb::object alias_of(const DeviceArray& a) {
    DeviceArray made = a;
    made.buffer = alone(a.buffer);
    return numeric_over(made);
}

nb::object alias(NumericArray& a) {
    const arrays::Value& v = *a.value;
    const arrays::ValueP made = arrays::in_memory(alone(v.buffer), v.address, v.dtype, v.layout);
    return numeric_object(made, a.view, a.readonly);
}

}  // namespace

void bind_numeric_capture(nb::module_& module) {
    module.def("numeric_compute", &compute_all, nb::arg("arrays"), nb::arg("fast") = false,
               nb::arg("threads") = 0, nb::arg("elements") = 0);
    module.def("numeric_alias", &alias);
    module.def("numeric_alias_of", &alias_of);
    module.def("numeric_shared",
               [](const NumericArray& a) { return !a.value->pending() && a.value->shared(); });
    // (the function's result, [a dict a launch]); watches may lie in each other.
    module.def("numeric_watched", [](nb::callable function) {
        Log log;
        struct Watching {
            Log* before;
            explicit Watching(Log* log) : before(arrays::watch(log)) {}
            ~Watching() { arrays::watch(before); }
        };
        nb::object result;
        {
            const Watching watching(&log);
            result = function();
        }
        nb::list launches;
        for (const arrays::Launched& launch : log) launches.append(told(launch));
        return nb::make_tuple(result, launches);
    });
}

}  // namespace xcuda::python
