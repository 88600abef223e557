// Reads a call's Python objects as kernel arguments, without making Python objects for those met every day.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "_runtime_array.hpp"
#include "launch/signature.hpp"

namespace xcuda::python {

/// Whether a launch takes the object as an array: NumPy's, ours, another library's, any buffer.
bool is_array_argument(PyObject* object);

/// The arguments of one call, and what holds their memory until the launch has used it. Needs the GIL throughout.
class Arguments {
public:
    Arguments() = default;
    ~Arguments() { clear(); }
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;
    void clear() noexcept;

    /// Appends `object` as the argument `name`. Throws a TypeError or ValueError that names it.
    /// False, with nothing appended: neither an array nor a number, but what structured.py takes apart.
    bool read(PyObject* object, const std::string& name);

    std::span<launch::Argument> values() { return values_; }
    std::size_t size() const { return values_.size(); }

    /// Argument i, an address that was read as an integer, becomes an array of `dtype` without an end.
    void take_address(std::size_t i, DType dtype);

    /// The device where the device arrays live; null where there is none. Throws where they live on several.
    const std::shared_ptr<device::Device>& device() const { return device_ ? *device_ : none_; }
    bool has_host_arrays() const { return host_arrays_; }
    bool on_host(std::size_t i) const {
        return values_[i].is_array && !items_[i].buffer && !items_[i].on_device;
    }
    /// False where an argument is worked on as a copy.
    bool stay_in_place() const;
    /// Whether the launch needs them until it is over: memory of a device's pool goes back in stream order by itself.
    bool to_be_kept() const { return host_arrays_ || foreign_arrays_; }

    /// Whether argument i may be written, and the clear sentence if not ("" for a plain read-only array).
    bool readonly(std::size_t i) const { return values_[i].readonly; }
    const char* why_readonly(std::size_t i) const { return items_[i].why_readonly; }
    /// Whether it is worked on as a copy that NumPy made: it has no memory that kernels can address.
    bool is_copied(std::size_t i) const { return items_[i].stand_in; }

    /// Where the launch will run if its arrays don't tell otherwise: told before arguments are read, to those libraries
    /// that ask.
    void expect(const std::shared_ptr<device::Device>& device, device::Stream* stream) {
        expected_device_ = &device;
        expected_stream_ = stream;
    }
    /// Streams of other libraries: ours waits for their work on arrays, and once the launch is asked for, they wait for
    /// it.
    bool has_foreign_streams() const { return !foreign_streams_.empty(); }
    void wait_for_others(device::Device& device, device::Stream* stream) const;
    void let_others_wait(device::Device& device, device::Stream* stream) const;

    /// Device arrays are used on `stream` from now on.
    void used_on(const std::shared_ptr<device::Stream>& stream);
    /// Host arrays go to memory of `device` that kernels see; `written(i)` tells what will come back. Arrays that
    /// overlap share one copy, so that the kernel sees one memory.
    void stage(const std::shared_ptr<device::Device>& device, const std::shared_ptr<device::Stream>& stream);
    /// Starts the copies back of what the kernel may have written.
    void unstage(const std::vector<bool>& written, const std::shared_ptr<device::Stream>& stream);
    /// Once the work is done: stand-ins for arrays that a kernel can't address are copied back.
    void write_back(const std::vector<bool>& written);
    /// The object the caller gave as argument i.
    nb::object object(std::size_t i) const { return nb::borrow(items_[i].given); }

private:
    struct Item {
        Item() {}  // leaves `view` as it is: most items have none
        Py_buffer view;
        bool has_view = false;
        PyObject* given = nullptr;      // owned
        PyObject* stand_in = nullptr;   // owned: the copy that the kernel works on
        void (*drop)(void*) = nullptr;  // DLPack's deleter
        void* dropped = nullptr;
        launch::Buffer* buffer = nullptr;      // device arrays: held by `given`, or by `held`
        std::shared_ptr<launch::Buffer> held;  // of an array that was made to be read
        bool on_device = false;                // another library's device array
        const char* why_readonly = "";
    };
    struct Staged {
        std::shared_ptr<launch::Buffer> buffer;
        char* begin;
        char* end;
        char* copy;  // of `begin`
        std::vector<std::size_t> members;
    };

    bool leave();
    double last_copy(const Staged& s) const;  // of all its arrays: Event::before
    bool read_view(Item& item, launch::Argument& value, PyObject* object,
                   const std::string& name);  // false: an array of records
    bool read_scalar(launch::Argument& value, PyObject* object, const std::string& name);
    bool read_foreign(Item& item, launch::Argument& value, PyObject* object, const std::string& name,
                      bool dlpack);
    void take_device(const std::shared_ptr<device::Device>& device, const std::string& name);
    void read_stand_in(Item& item, launch::Argument& value, PyObject* object, const std::string& name);

    std::vector<launch::Argument> values_;
    std::vector<Item> items_;
    std::vector<Staged> staged_;
    std::vector<std::uintptr_t> foreign_streams_;  // each once
    const std::shared_ptr<device::Device>* expected_device_ = nullptr;
    device::Stream* expected_stream_ = nullptr;
    const std::shared_ptr<device::Device>* device_ = nullptr;  // a buffer's, or:
    std::shared_ptr<device::Device> foreign_device_;
    static inline const std::shared_ptr<device::Device> none_;
    bool host_arrays_ = false, foreign_arrays_ = false;
};

}  // namespace xcuda::python
