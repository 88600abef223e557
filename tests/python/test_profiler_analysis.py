"""profiler.analyze: what it takes, what it says, and that it changes nothing. Its rules: test_profiler_planted.py."""

import numpy as np
import pytest
import xcuda.core as cuda
from planted import PAIRS
from planted.accesses import every_eighth, every_one
from planted.shared import own_in_place
from xcuda import profiler


def line(n=1024, dtype=np.float32):
    return np.ones(n, dtype)


def analyzed(name, twin=False):
    callee, arguments = PAIRS[name].call(twin)
    return profiler.analyze(callee, *arguments)


def test_figures_in_the_evidence_are_the_patterns_own():
    found = analyzed("accesses: rows by columns")
    (read, write) = found.of("strided-access")
    assert "192 elements apart" in read.evidence
    assert "takes 32 transactions of 32 bytes where 4 would do" in write.evidence
    assert read.gain == 8
    (bank,) = analyzed("shared: transpose, one bank").of("bank-conflict")
    assert "32 deep" in bank.evidence
    assert "(32, 33)" in bank.advice
    (uneven,) = analyzed("flow: triangle").of("uneven-loop")
    assert uneven.gain == pytest.approx(
        32 / 16.5
    )  # turns 1 to 32: the warp does 32, its threads 16.5 on average


def test_the_callers_arrays_stay_as_they_are():
    a = line()
    profiler.analyze(own_in_place, a)
    assert (a == 1).all()
    on_device = cuda.to_device(line())
    profiler.analyze(own_in_place, on_device)
    assert (on_device.copy_to_host() == 1).all()


def test_types_stand_for_arguments():
    found = profiler.analyze(every_eighth[8, 128], "float32[:]", "float32[:]")
    (beyond,) = found.of("out-of-range")  # 1,003 elements, and an index of eight times that
    assert "src" in beyond.evidence
    assert len(profiler.analyze(every_one, "float64[:]", "float64[:]")) == 0


def test_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError, match="analyze takes a kernel"):
        profiler.analyze(len, 1)


def test_a_kernel_that_prints_is_analyzed():
    @cuda.kernel
    def talks(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i
            if i == 3:
                print("three", i)

    assert len(profiler.analyze(talks, line())) == 0


def test_a_kernel_whose_blocks_meet_is_analyzed():
    @cuda.kernel
    def meets(a, b):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = i
        cuda.cg.this_grid().sync()
        if i < b.size:
            b[i] = a[b.size - 1 - i]

    found = profiler.analyze(meets[4, 32], line(128), line(128))
    assert len(found) == 0 and found.blocks == 3 and found.records > 0


def test_a_fault_met_on_the_way_is_a_finding():
    @cuda.kernel
    def divides(a, n):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = i // n

    (found,) = profiler.analyze(divides, line(dtype=np.int64), 0)
    assert found.rule == "out-of-range"
    assert "ZeroDivisionError" in found.evidence


def test_the_listing_reads_well():
    text = repr(analyzed("shared: no barrier"))
    assert text.startswith("neighbours_unsafe, grid (4, 1, 1), block (256, 1, 1): ")
    assert "with no barrier between" in text
    assert "cuda.syncthreads()" in text
    assert "nothing to change" in repr(analyzed("shared: in place", twin=True))
