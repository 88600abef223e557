#include "_runtime_tiles.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "python/gil.hpp"
#include "tiles/front_door.hpp"

namespace xcuda::python {

void bind_tiles(nb::module_& module) {
    // Before the kernel's first call. `constants`: by parameter, whether its value is fixed when it is compiled.
    // `as_target`: on every device the plan of this target, for tests.
    module.def(
        "make_tile_kernel",
        [](nb::handle kernel, const std::vector<bool>& constants, const std::string& as_target,
           const std::string& hints) {
            KernelState& k = state_of(kernel);
            k.options.door = tiles::front_door(as_target, hints);
            k.fixed_parameters = constants;
            k.program.reset();
            k.last.reset();
            k.passed_by = nullptr;
            k.last_lowered.reset();
        },
        nb::arg("kernel"), nb::arg("constants"), nb::arg("as_target") = "", nb::arg("hints") = "");

    // The plan as JSON, for a target and the elements of each argument.
    module.def(
        "tile_plan",
        [](nb::handle kernel, nb::handle types, const std::string& target,
           const std::vector<std::int64_t>& elements) {
            KernelState& k = state_of(kernel);
            const launch::Program& program = k.current_program();
            launch::Signature signature = signature_from(types);
            for (launch::Key& key : signature) {
                ir::Type type = launch::type_of(key);
                type.aligned = type.is_array() && type.layout == ir::Layout::contiguous;
                key = launch::key(type);
            }
            Released released;
            return tiles::described(*program.options().door, program.source(), launch::types_of(signature),
                                    program.key(target, sized(elements)));
        },
        nb::arg("kernel"), nb::arg("types"), nb::arg("target"), nb::arg("elements"));
}

}  // namespace xcuda::python
