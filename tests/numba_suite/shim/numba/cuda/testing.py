"""numba.cuda.testing: the base class, and decorators that say where a test can run."""

import pathlib
import unittest

import numpy

from numba.cuda.core import config
from numba.cuda.tests.support import TestCase
from numba.suite import root

numba_cuda_dir = pathlib.Path(root()).parent
test_data_dir = numba_cuda_dir / "tests" / "data"


class CUDATestCase(TestCase):
    """The base of tests that use a device."""

    FLOAT16_RTOL = numpy.finfo(numpy.float16).eps

    def setUp(self):
        self._settings = config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY

    def tearDown(self):
        config.CUDA_LOW_OCCUPANCY_WARNINGS, config.CUDA_WARN_ON_IMPLICIT_COPY = self._settings

    def assertFileCheckAsm(self, *args, **kwargs):
        self.fail("reads numba's PTX text")

    def assertFileCheckLLVM(self, *args, **kwargs):
        self.fail("reads numba's LLVM IR")

    def assertFileCheckMatches(self, *args, **kwargs):
        self.fail("reads numba's generated text")


class ForeignArray:
    """An array that shows nothing but the CUDA array interface; on the CPU device, which has none, DLPack's."""

    def __init__(self, arr):
        self._arr = arr
        interface = getattr(arr, "__cuda_array_interface__", None)
        if interface is not None:
            self.__cuda_array_interface__ = interface
        else:
            self.__class__ = _WithDlpack


class _WithDlpack(ForeignArray):
    def __dlpack__(self, **options):
        return self._arr.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._arr.__dlpack_device__()


def _always(reason):
    return lambda test: test


def _as_it_is(test):
    return test


def _without(what):
    def skip(test_or_reason):
        if isinstance(test_or_reason, str):
            return unittest.skip(test_or_reason)
        return unittest.skip(what)(test_or_reason)

    return skip


skip_on_cudasim = skip_if_external_memmgr = skip_under_cuda_memcheck = skip_with_nvdisasm = _always
skip_on_arm = skip_on_wsl2 = skip_on_nvjitlink_13_1_sm_120 = _always
skip_unless_cc_50 = skip_unless_cc_53 = skip_unless_cc_60 = skip_unless_cc_75 = skip_unless_cc_90 = _as_it_is
skip_if_cuda_includes_missing = skip_if_curand_kernel_missing = skip_if_cudadevrt_missing = _as_it_is
skip_unless_cudasim = _without("only for numba's simulator")
skip_on_standalone_numba_cuda = _without("needs numba itself")
skip_unless_conda_cudatoolkit = _without("needs conda's toolkit")
skip_if_nvjitlink_missing = _without("needs nvJitLink")
skip_without_nvdisasm = _without("needs nvdisasm")
xfail_unless_cudasim = unittest.expectedFailure


def cc_X_or_above(major, minor):
    """Every device here can what compute capability `major`.`minor` can."""
    return True
