"""What a fixture gives to a module's last test is not still held when conftest.py's nothing_leaks looks."""

import numpy as np
import pytest
import xcuda.core as cuda


@pytest.fixture
def array():
    return cuda.to_device(np.ones(1000, np.float32))


def test_the_last_test_of_a_module_may_have_an_array(array):
    assert array.copy_to_host().sum() == 1000
