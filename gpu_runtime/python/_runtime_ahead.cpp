#include "_runtime_ahead.hpp"

#include <utility>

#include "_runtime_error.hpp"
#include "_runtime_inspect.hpp"
#include "base/settings.hpp"
#include "python/gil.hpp"

namespace xcuda::python {
namespace {

// As most arrays lie that are passed for such a type: dense, at a multiple of 16 bytes.
launch::Signature likely(launch::Signature signature) {
    for (launch::Key& key : signature) {
        ir::Type type = launch::type_of(key);
        if (!type.is_array() || type.wide || type.layout == ir::Layout::bytes) continue;
        if (type.layout == ir::Layout::strided) type.layout = ir::Layout::contiguous;
        type.aligned = true;
        key = launch::key(type);
    }
    return signature;
}

// `declared`: types of a decorator's signature, which are lowered at once, so that what can't be compiled is refused
// there; else a guess, whose errors are the first call's. False: nothing is compiled ahead.
bool compile_ahead(nb::handle kernel, nb::handle types, bool declared) {
    KernelState& k = state_of(kernel);
    if (!settings().compile_ahead || k.options.door) return false;
    k.current_program();
    const auto program = k.program;
    const launch::Signature given = signature_from(types);
    if (given.size() != k.parameters.size()) return false;
    std::shared_ptr<device::Device> device;
    if (declared) {
        device = device_for(k);
        Released released;
        program->lower(given, {}, program->key(launch::target_of(device->info()), {}));
    }
    const launch::Signature first = likely(given);
    k.ahead.push_back(launch::compile_ahead(program, first, device, !declared || first != given));
    if (declared && first != given) k.ahead.push_back(launch::compile_ahead(program, given, device, false));
    return true;
}

}  // namespace

void wait_for_ahead(KernelState& k) {
    if (k.ahead.empty()) return;
    auto begun = std::exchange(k.ahead, {});
    {
        Released released;
        std::erase_if(begun, [](const auto& one) { return launch::wait_for(*one); });
    }
    k.ahead.insert(k.ahead.end(), begun.begin(), begun.end());
}

void bind_ahead(nb::module_& module) {
    module.def("compile_ahead", &compile_ahead, nb::arg("kernel"), nb::arg("types"), nb::arg("declared"));
    module.def("end_ahead", &launch::end_ahead, nb::call_guard<Released>());
}

}  // namespace xcuda::python
