// What measurements and tests set of numeric's plans, and what its kernels are on a GPU that need not be here.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "_runtime_numeric.hpp"
#include "arrays/fold.hpp"
#include "arrays/rows.hpp"
#include "arrays/small.hpp"

namespace xcuda::python {

void bind_numeric_choices(nb::module_& module) {
    module.def("numeric_small_limit", &arrays::small_limit);
    module.def("set_numeric_small_limit", &arrays::set_small_limit);
    module.def("set_numeric_fold_by_blocks", &arrays::set_fold_by_blocks, nb::arg("asked").none());
    module.def(
        "set_numeric_held_rows",
        [](std::optional<bool> asked, int values, std::optional<int> threads, std::optional<bool> streamed) {
            arrays::hold_rows({asked, values, threads, streamed});
        },
        nb::arg("asked").none(), nb::arg("values") = 0, nb::arg("threads").none() = nb::none(),
        nb::arg("streamed").none() = nb::none());
    // (name, kernel's text, registers or None) of every kernel so far.
    const auto compile_for = [](const std::string& architecture, bool spills) {
        nb::list out;
        for (const arrays::Targeted& t : arrays::compile_all_for(architecture)) {
            const nb::object row = nb::make_tuple(t.name, t.text, t.registers);
            out.append(spills ? row + nb::make_tuple(t.local_bytes) : row);
        }
        return out;
    };
    module.def("numeric_compile_for", compile_for, nb::arg("architecture"), nb::arg("spills") = false);
}

}  // namespace xcuda::python
