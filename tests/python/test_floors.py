"""No include or import runs upward, and no source is longer than one sitting."""

from pathlib import Path

import floors
import pytest

ROOT = Path(__file__).resolve().parents[2]


def complaints(found):
    return "\n".join(str(v) for v in found)


def test_this_tree_keeps_its_floors():
    found = floors.cpp_violations(ROOT) + floors.python_violations(ROOT)
    assert not found, complaints(found)


def test_no_type_is_defined_twice():
    found = floors.twice_defined(ROOT)
    assert not found, complaints(found)


def test_no_source_is_too_long():
    found = floors.long_files(ROOT)
    assert not found, complaints(found)


def test_the_checker_sees_this_tree():
    """A checker that reads nothing finds nothing."""
    seen = floors.sources(ROOT, "gpu_runtime", floors.CPP_SUFFIXES)
    assert {"base/error.hpp", "device/device.hpp"} <= {str(f.relative_to(ROOT / "gpu_runtime")) for f in seen}
    included = floors.included(ROOT, ROOT / "gpu_runtime/base/error.hpp", "base/export.hpp")
    assert str(included) == "gpu_runtime/base/export.hpp"


# Each planted file, and words of the one complaint it must raise.
PLANTED = {
    "upward": (
        "gpu_runtime/ir/a.cpp",
        '#include "launch/run.hpp"\n',
        "ir (floor 1) includes gpu_runtime/launch/run.hpp",
    ),
    "upward by a relative path": (
        "gpu_runtime/base/a.hpp",
        '#  include "../device/device.hpp"\n',
        "base (floor 0) includes gpu_runtime/device/device.hpp",
    ),
    "into the kernel": (
        "gpu_runtime/python/a.cpp",
        "#include <kernel/cell.hpp>\n",
        "gpu_runtime includes kernel/cell.hpp",
    ),
    "into a device's house": (
        "gpu_runtime/launch/a.cpp",
        '#include "device/cpu/pool.hpp"\n',
        "a device is used through device/device.hpp",
    ),
    "from one device into the other": (
        "gpu_runtime/device/cuda/a.cpp",
        '#include "device/cpu/pool.hpp"\n',
        "one device's house includes another's",
    ),
    "a module's name in C++": (
        "gpu_runtime/python/a.cpp",
        'auto m = import_("xcuda.magics");\n',
        "names xcuda.magics",
    ),
    "a folder without a floor": ("gpu_runtime/attic/a.hpp", "#pragma once\n", "no floor in CPP_FLOORS"),
    "runtime imports magics": (
        "gpu_runtime/python/xcuda/core/a.py",
        "def f():\n    from xcuda.magics import info\n",
        "xcuda.core.a imports xcuda.magics",
    ),
    "runtime imports the kernel by a relative name": (
        "gpu_runtime/python/xcuda/core/__init__.py",
        "from .. import kernel\n",
        "xcuda.core imports xcuda.kernel",
    ),
    "by import_module": (
        "gpu_runtime/python/xcuda/names.py",
        "import importlib\nimportlib.import_module('xcuda.kernel.hooks')\n",
        "xcuda.names imports xcuda.kernel",
    ),
    "core imports numeric": (
        "gpu_runtime/python/xcuda/core/a.py",
        "from ..numeric.array import Array\n",
        "xcuda.core imports xcuda.numeric.array.Array, which is over it",
    ),
    "numeric imports the profiler": (
        "gpu_runtime/python/xcuda/numeric/a.py",
        "import xcuda.profiler\n",
        "xcuda.numeric imports xcuda.profiler, which is over it",
    ),
    "magics import the kernel": ("magics/a.py", "from xcuda.kernel import cell\n", "meet only in the report"),
    "a package without a floor": ("gpu_runtime/python/xcuda/attic/a.py", "", "no floor in PYTHON_FLOORS"),
    "a type defined twice": (
        "gpu_runtime/launch/a.cpp",
        "namespace xcuda {\nnamespace {\nstruct Error {};\n}  // namespace\nstruct Error { int x; };\n}\n",
        "xcuda::Error is also defined in gpu_runtime/base/error.hpp",
    ),
    "too long": ("bench/a.py", "pass\n" * 601, "601 lines, more than 600"),
}


@pytest.fixture
def tree(tmp_path):
    """A small tree without a fault."""
    for name, text in {
        "gpu_runtime/base/error.hpp": "namespace xcuda {\nclass XCUDA_API Error : public E {\n};\n}\n",
        "gpu_runtime/ir/type.hpp": '#include "base/error.hpp"\n',
        "gpu_runtime/device/device.hpp": '#include "base/error.hpp"\n',
        "gpu_runtime/device/cpu/pool.hpp": '#include "device/device.hpp"\n',
        "gpu_runtime/launch/run.hpp": '#include "ir/type.hpp"\n#include "device/device.hpp"\n',
        "gpu_runtime/python/xcuda/core/launch.py": "import math\nimport numpy\nfrom .. import _runtime\n",
        "gpu_runtime/python/xcuda/profiler/report.py": "from xcuda.core import launch\n",
        "magics/info.py": "from xcuda import core\nfrom . import style\n",
        "magics/style.py": "",
        "kernel/cell.hpp": '#include "launch/run.hpp"\n',
        "kernel/python/hooks.py": "from xcuda.profiler import report\n",
    }.items():
        write(tmp_path / name, text)
    assert floors.violations(tmp_path) == []
    return tmp_path


def write(file: Path, text: str):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("name", PLANTED)
def test_planted(tree, name):
    file, text, words = PLANTED[name]
    write(tree / file, text)
    found = floors.violations(tree)
    assert [v.file for v in found] == [file], complaints(found)
    assert words in found[0].what
