"""The kernels that programs become, compiled for GPUs that need not be here."""

import numpy
import pytest
import xcuda.numeric as np
from xcuda import _runtime

pytest.importorskip("nvidia.cu13", reason="no NVRTC wheel")


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_fused_kernels_and_folds_compile(architecture):
    rng = numpy.random.default_rng(0)
    x, z = np.array(rng.random((70, 90))), np.array(rng.random(300) + 1j)
    f = x.astype("float32")
    np.flush()
    (np.sqrt(np.sin(f) * np.cos(f) + np.exp(-(f**2)) + np.log(f + 1))).get()
    np.where(x.T > 0.5, x.T, x[:1].T).get()
    (x[::2, ::-1] * np.arange(90)).get()
    (z * z.conj() + np.exp(z)).get()
    (f.astype("float16") % 3 + (f > 0.5)).get()
    for made in (
        x.sum(),
        x.sum(0),
        f.max(1),
        f.mean(),
        (x > 0.5).any(1),
        x.astype("int32").prod(0),
        z.sum(),
        x[:, ::3].min(),
    ):
        made.get()
    x[3:40, 1::7] = f[3:40, 1::7]
    x.get()
    compiled = _runtime.numeric_compile_for(architecture)
    assert len(compiled) >= 12
    names = {name for name, _, _ in compiled}
    assert "sum(a)" in names
    assert all(registers and registers < 256 for _, _, registers in compiled)
    chains = [text for name, text, _ in compiled if name.startswith("sqrt(((sin(a) * cos(a)")]
    assert any("xc_vload<f32x4>" in text for text in chains)  # 16 bytes a load
