#include "_runtime_tiles.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "_runtime_inspect.hpp"
#include "_runtime_kernel.hpp"
#include "tiles/front_door.hpp"

namespace xcuda::python {

void bind_tiles(nb::module_& module) {
    // Before the kernel's first call. `constants`: by parameter, whether its value is fixed when it is compiled.
    // `as_target`: on every device the plan of this target, for tests.
    module.def(
        "make_tile_kernel",
        [](nb::handle kernel, const std::vector<bool>& constants, const std::string& as_target) {
            KernelState& k = state_of(kernel);
            k.options.door = tiles::front_door(as_target);
            k.fixed_parameters = constants;
            k.program.reset();
            k.last.reset();
            k.last_lowered.reset();
        },
        nb::arg("kernel"), nb::arg("constants"), nb::arg("as_target") = "");
}

}  // namespace xcuda::python
