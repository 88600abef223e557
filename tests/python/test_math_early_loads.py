"""A GPU's thread has all that it reads on its way before it computes: functions with branches would keep loads behind."""

import pytest
from numeric_compiled import compiled

PROGRAM = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
_runtime.set_numeric_small_limit(0)
x, y, z = (np.array(numpy.ones(4096, "float32")) for _ in range(3))
np.sqrt(np.sin(x) * np.cos(y) + np.exp(-(z**2)) + np.log(x + 1))._compute()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_loads_come_first(architecture):
    pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")
    (found,) = [row for row in compiled(PROGRAM, architecture) if "cos(" in row[0]]
    _, text, registers = found
    before = text[: text.index("xc_vstore")]  # which computes what it stores
    assert before.count("xc_vload<f32x4>") == 3 and text.count("xc_vload") == 3
    assert "sinf(" not in before
    assert 0 < registers <= 64
