"""The kernels that programs become, compiled for GPUs that need not be here."""

import pytest
from numeric_compiled import compiled

pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")

PROGRAM = """
import json, sys
import numpy
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
rng = numpy.random.default_rng(0)
x, z = np.array(rng.random((70, 90))), np.array(rng.random(300) + 1j)
f = x.astype("float32")
np.flush()
(np.sqrt(np.sin(f) * np.cos(f) + np.exp(-(f**2)) + np.log(f + 1))).get()
np.where(x.T > 0.5, x.T, x[:1].T).get()
(x[::2, ::-1] * np.arange(90)).get()
(z * z.conj() + np.exp(z)).get()
(f.astype("float16") % 3 + (f > 0.5)).get()
made = [x.sum(), x.sum(0), f.max(1), f.mean(), (x > 0.5).any(1), x.astype("int32").prod(0), z.sum(), x[:, ::3].min()]
for each in made:
    each.get()
x[3:40, 1::7] = f[3:40, 1::7]
x.get()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_fused_kernels_and_folds_compile(architecture):
    found = compiled(PROGRAM, architecture)
    assert len(found) >= 12
    names = {name for name, _, _ in found}
    assert "sum(a)" in names
    assert all(registers and registers < 256 for _, _, registers in found)
    chains = [text for name, text, _ in found if name.startswith("sqrt(((sin(a) * cos(a)")]
    assert any("xc_vload<f32x4>" in text for text in chains)  # 16 bytes a load


CHAINS = """
import json, sys
import xcuda.numeric as np
from xcuda import _runtime

np.config.host_elements = 0
whole, z = np.arange(300) - 150, np.ones(300) * (1 + 2j)
for links in (6, 18):
    for function, x in ((np.fmod, whole), (np.heaviside, z.real.copy()), (np.maximum, z), (np.less, z)):
        y = x
        for i in range(links):
            y = function(y, x + i) if function is not np.less else np.where(function(y, x + i), x, y)
        y.get()
print(json.dumps(_runtime.numeric_compile_for(sys.argv[1])))
"""


def test_a_kernel_grows_with_its_chain_and_no_faster():
    """Also of functions that read an operand several times."""
    found = compiled(CHAINS, "sm_90")
    for function in ("fmod(", "heaviside(", "maximum(", "where("):
        few, many = sorted(len(text) for name, text, _ in found if function in name)
        assert many < 4 * few, (function, few, many)  # three times as many links
