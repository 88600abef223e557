"""Where numeric's programs spend their time: kernels, host, and the whole; then the article's two programs. 20 s on a GPU.

    PYTHONPATH=build/gpu/site python tests/gpu/numeric_probe.py [--side 10000] [PROGRAM ...]

Each program of bench/numeric.py (Monte Carlo and the spectrogram, where none is named) runs to its end, then without
waiting for the device: what that takes is the host's share. The kernels' times are the profiler's, of another run.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

import numpy
import xcuda
from xcuda import core, numeric, profiler

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from _numeric_programs import PROGRAMS

ROUNDS = 50


def computed(made):
    """The results, asked for but not waited for."""
    for one in made if isinstance(made, tuple) else (made,):
        one._compute()


def median(times):
    """In milliseconds, with the least."""
    times = sorted(times)
    return f"{times[len(times) // 2] * 1e3:.3f} ms, least {times[0] * 1e3:.3f}"


def timed(function):
    """(time until the host has asked for everything, time until the device is done), medians."""
    asked, whole = [], []
    for _ in range(ROUNDS):
        core.synchronize()
        begin = time.perf_counter()
        computed(function())
        asked.append(time.perf_counter() - begin)
        core.synchronize()
        whole.append(time.perf_counter() - begin)
    return median(asked), median(whole)


def table(report):
    """A line a kernel, in the order of the first launches."""
    print(report, flush=True)


def profiled(function):
    """The report of one run and its result, on the device."""
    with profiler.profile() as session:
        made = function()
        computed(made)
        core.synchronize()
    return session.report, made


def programs(names):
    """The bench's programs at its full sizes."""
    for name in names:
        program, rng = PROGRAMS[name], numpy.random.default_rng(0)
        given = [
            numeric.array(a) if isinstance(a, numpy.ndarray) else a for a in program.data(program.full, rng)
        ]
        for _ in range(3):
            computed(program.run(numeric, *given))
        asked, whole = timed(lambda program=program, given=given: program.run(numeric, *given))
        print(f"\n== {name}: {whole}; the host alone {asked}")
        table(profiled(lambda program=program, given=given: program.run(numeric, *given))[0])
        if name == "Monte Carlo option":
            paths = given[0]
            asked, whole = timed(
                lambda: numeric.random.Generator(numeric.random.Philox(3)).standard_normal((paths, 32))
            )
            print(f"its random numbers alone: {whole}; until asked for {asked}")


def article(side):
    """The article's product and its filter, in their own words, with times and what they became."""
    xcuda.install_names()
    import cupy.numeric as np

    def product():
        a = np.random.rand(side, side)
        b = np.random.rand(side, side)
        return np.dot(a, b)

    def scientific_computation():
        data = np.load_from_gpu_memory("large_dataset.npy")
        freq_domain = np.fft.fft2(data)
        filtered = np.where(np.abs(freq_domain) > threshold, freq_domain, 0)
        return np.fft.ifft2(filtered).real

    threshold = float(side)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        host = numpy.random.default_rng(1).random((side, side))
        numpy.save("large_dataset.npy", host)
        for name, function in (("product", product), ("filter", scientific_computation)):
            for turn in ("first", "second"):
                begin = time.perf_counter()
                report, made = profiled(function)
                print(
                    f"\n== the article's {name}, {side} x {side}, {turn} run: {time.perf_counter() - begin:.3f} s"
                )
            table(report)
        f = numpy.fft.fft2(host[: min(side, 2000), : min(side, 2000)])
        theirs = numpy.fft.ifft2(numpy.where(abs(f) > threshold, f, 0)).real
        if side <= 2000:
            numpy.testing.assert_allclose(made.get(), theirs, atol=1e-9)
            print("as NumPy computes it")
        else:
            error = float(abs(made.mean() - host.mean()))  # the filter keeps the mean's frequency
            assert error < 1e-9, error
            print(f"the mean is kept: off by {error:.1e}")
        np.forget_gpu_memory()
        os.chdir("/")


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--side", type=int, default=10_000)
    options.add_argument("programs", nargs="*", default=["Monte Carlo option", "spectrogram"])
    asked_for = options.parse_args()
    print(core.Device().name)
    programs(asked_for.programs)
    article(asked_for.side)
