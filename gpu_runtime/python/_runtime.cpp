// The module xcuda._runtime: what Python sees of the C++ runtime. Thin; xcuda.core makes it friendly.
#include <nanobind/nanobind.h>

#include "_runtime_ahead.hpp"
#include "_runtime_analysis.hpp"
#include "_runtime_argument.hpp"
#include "_runtime_array.hpp"
#include "_runtime_check.hpp"
#include "_runtime_declared.hpp"
#include "_runtime_error.hpp"
#include "_runtime_export.hpp"
#include "_runtime_files.hpp"
#include "_runtime_graph.hpp"
#include "_runtime_kernel.hpp"
#include "_runtime_math.hpp"
#include "_runtime_numeric.hpp"
#include "_runtime_pinned.hpp"
#include "_runtime_profile.hpp"
#include "_runtime_stream.hpp"
#include "_runtime_target.hpp"
#include "_runtime_tiles.hpp"
#include "_runtime_tune.hpp"

NB_MODULE(_runtime, module) {
    using namespace xcuda::python;
    // Streams, work in flight and types live as long as the process.
    nb::set_leak_warnings(false);
    bind_error(module);
    bind_stream(module);
    bind_array(module);
    bind_export(module);
    bind_files(module);
    bind_graph(module);
    bind_kernel(module);
    bind_declared(module);
    bind_ahead(module);
    bind_bound(module);
    bind_math(module);
    bind_numeric(module);
    bind_pinned(module);
    bind_profile(module);
    bind_target(module);
    bind_analysis(module);
    bind_check(module);
    bind_tune(module);
    bind_tiles(module);
}
