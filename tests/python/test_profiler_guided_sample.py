"""The sample that variants run on: copies of a call's arguments, set back before each run."""

import numpy as np
import xcuda.core as cuda
from xcuda.profiler.guided.sample import Sample


def test_a_device_arrays_values_are_set_back_without_the_host():
    whole = np.arange(12, dtype=np.float32).reshape(3, 4)
    given = cuda.to_device(whole)
    sample = Sample((given, given, whole.T, 2.0))
    sample.restore([0, 1, 2])
    host, sample.host = sample.host, None  # what lies in a device's memory comes from there
    for _ in range(2):
        sample.values[0][...] = -1
        sample.restore([0, 1])
        np.testing.assert_array_equal(sample.values[1].copy_to_host(), whole)
    sample.host = host
    sample.values[2][...] = -1
    sample.restore([2])
    np.testing.assert_array_equal(sample.values[2], whole.T)
    np.testing.assert_array_equal(given.copy_to_host(), whole)


def test_where_a_device_has_no_room_for_a_second_copy_the_host_has_one():
    class Full:
        shape, dtype = (4,), np.dtype("float32")

        def __init__(self):
            self.held = np.zeros(4, np.float32)

        def copy_to_host(self):
            return self.held

        def copy(self):
            raise MemoryError("no room")

        def __setitem__(self, where, values):
            self.held[where] = values

    sample = Sample((np.arange(4, dtype=np.float32),))
    sample.values = (Full(),)
    sample.restore([0])
    np.testing.assert_array_equal(sample.values[0].held, np.arange(4))
