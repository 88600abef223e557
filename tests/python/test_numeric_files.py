"""Arrays in files: the same bytes as NumPy's, read into device memory in chunks."""

import io

import numpy
import pytest
import xcuda.numeric as np
from fake_cuda import on_fake
from xcuda.numeric import _chunks

R = numpy.random.default_rng(4)
ARRAYS = [
    R.normal(size=(5, 7)), numpy.asfortranarray(R.normal(size=(5, 7))), R.integers(0, 9, (3, 4, 5)).astype("i2"),
    numpy.array(3.5), numpy.zeros((0, 3)), R.normal(size=9) + 1j, R.normal(size=33).astype("f2"), R.normal(size=4) > 0,
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_fallback():
    before, np.config.fallback = np.config.fallback, "error"
    yield
    np.config.fallback = before


@pytest.fixture(params=[1 << 25, 48], ids=["one chunk", "many"])
def chunk(request, monkeypatch):
    monkeypatch.setattr(_chunks, "CHUNK", request.param)


@pytest.mark.parametrize("host", ARRAYS, ids=str)
def test_save_and_load(host, tmp_path, chunk):
    np.save(tmp_path / "ours", np.asarray(host))
    numpy.save(tmp_path / "theirs.npy", host)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    made = np.load(tmp_path / "theirs.npy")
    assert isinstance(made, np.ndarray)
    numpy.testing.assert_array_equal(made.get(), host)
    assert made.dtype == host.dtype and made.flags.f_contiguous == host.flags.f_contiguous


def test_open_files_one_after_the_other(tmp_path):
    with open(tmp_path / "two", "wb") as file:
        np.save(file, np.arange(3))
        np.save(file, np.ones((2, 2)))
    with open(tmp_path / "two", "rb") as file:
        assert np.load(file).tolist() == [0, 1, 2]
        assert np.load(file).tolist() == [[1, 1], [1, 1]]
    memory = io.BytesIO()
    np.save(memory, np.arange(4))
    memory.seek(0)
    assert np.load(memory).tolist() == [0, 1, 2, 3]


def test_several_arrays(tmp_path):
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "z.npz", np.arange(3), named=np.ones((2, 2)))
        with np.load(tmp_path / "z.npz") as file:
            assert sorted(file.files) == ["arr_0", "named"] and "named" in file and len(file) == 2
            assert isinstance(file["named"], np.ndarray)
            assert {k: v.sum().item() for k, v in file.items()} == {"arr_0": 3, "named": 4}


def test_text(tmp_path):
    np.savetxt(tmp_path / "t.csv", np.arange(6.0).reshape(2, 3), delimiter=",", header="a,b,c")
    for read in (np.loadtxt, np.genfromtxt):
        made = read(tmp_path / "t.csv", delimiter=",")
        assert isinstance(made, np.ndarray) and made.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_bytes(tmp_path, chunk):
    host = R.normal(size=1000).astype("f")
    host.tofile(tmp_path / "raw")
    for how in (
        {},
        {"count": 10},
        {"offset": 40},
        {"count": 5000},
        {"offset": 41, "count": 3},
    ):
        want = numpy.fromfile(tmp_path / "raw", "f", **how)
        numpy.testing.assert_array_equal(np.fromfile(tmp_path / "raw", "f", **how).get(), want)
    assert np.frombuffer(host.tobytes(), "f").sum().item() == pytest.approx(host.sum(), rel=1e-4)
    (tmp_path / "text").write_text("1 2 3")
    assert np.fromfile(tmp_path / "text", sep=" ").tolist() == [1, 2, 3]


def test_a_memory_map_is_taken_piece_by_piece(tmp_path):
    numpy.save(tmp_path / "big.npy", numpy.arange(1000.0).reshape(100, 10))
    mapped = np.load(tmp_path / "big.npy", mmap_mode="r")
    assert isinstance(mapped, numpy.memmap)
    total = sum(np.asarray(mapped[i : i + 25]).sum().item() for i in range(0, 100, 25))
    assert total == 499500


def test_what_devices_cannot_hold_is_numpy_s(tmp_path):
    numpy.save(tmp_path / "words.npy", numpy.array(["a", "bc"]))
    assert np.load(tmp_path / "words.npy").tolist() == ["a", "bc"]
    numpy.save(tmp_path / "big_endian.npy", numpy.arange(3, dtype=">i4"))
    assert np.load(tmp_path / "big_endian.npy").tolist() == [0, 1, 2]
    numpy.save(tmp_path / "objects.npy", numpy.array([1, "x"], object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        np.load(tmp_path / "objects.npy")
    (tmp_path / "none.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="pickled"):
        np.load(tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError):
        np.load(tmp_path / "nothing.npy")


def test_a_file_that_ends_early(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(100))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-80])
    with pytest.raises(
        ValueError, match=r"cannot read an array of shape \(100,\) and int64: the file ends 80 bytes early"
    ):
        np.load(tmp_path / "a.npy")


def test_a_named_file_is_read_anew_when_it_changes_and_can_be_forgotten(tmp_path):
    path = tmp_path / "data.npy"
    numpy.save(path, numpy.arange(3))
    first = np.load_from_gpu_memory(path)
    assert np.load_from_gpu_memory(str(path)) is first
    np.forget_gpu_memory(path)
    assert np.load_from_gpu_memory(path) is not first
    np.forget_gpu_memory(path)
    with pytest.raises(KeyError, match="no array is stored"):
        np.forget_gpu_memory(path)
    numpy.savez(tmp_path / "z.npz", numpy.arange(3))
    with pytest.raises(TypeError, match="holds no array of numbers"):
        np.load_from_gpu_memory(tmp_path / "z.npz")


@on_fake("devices=1")
def test_a_gpu_reads_by_way_of_pinned_memory_while_it_copies():
    """Of five chunks through two buffers each arrives where it belongs."""
    import tempfile
    from pathlib import Path

    _chunks.CHUNK = 80
    host = numpy.arange(47.0)
    path = Path(tempfile.mkdtemp()) / "a.npy"
    numpy.save(path, host)
    made = np.load(path)
    assert not made._host_accessible
    numpy.testing.assert_array_equal(made.get(), host)
    np.save(path.with_name("b.npy"), made)
    assert path.with_name("b.npy").read_bytes() == path.read_bytes()
