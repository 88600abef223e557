"""Kinds of differences from NumPy that its own tests or random programs found, each by programs run in both."""

import pytest
from numeric_alike import alike, outcome
from xcuda import _runtime
from xcuda import numeric as np


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr(np.config, "_fallback", "silent")


pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = {
    "lengths of arrays without elements": [
        "np.zeros((0, 3)).reshape(-1)",
        "np.zeros((0, 3)).reshape(5, -1)",
        "np.zeros((0, 3)).reshape(0, -1)",
    ],
    "axes and lengths given as arrays": [
        "np.ones((2, 3, 4)).transpose(np.array([2, 0, 1]))",
        "np.ones((2, 3)).reshape(np.array([3, 2]))",
        "np.ones((2, 3)).reshape(np.array(6))",
        "np.ones(()).transpose(())",
        "np.ones((2, 3)).transpose(())",
    ],
    "arrays of lengths, axes and repetitions": [
        "np.tile(np.arange(3), np.array([2, 1]))",
        "np.tile(np.arange(3), numpy.array(2))",
        "np.resize(np.arange(6), np.array([2, 4]))",
        "np.unravel_index(np.array([3, 5]), np.array([2, 3]))",
        "np.tensordot(np.ones((2, 3)), np.ones((3, 2)), (np.array([1]), numpy.array([0])))",
        "np.fft.fftshift(np.arange(6).reshape(2, 3), np.array([1]))",
        "np.random.default_rng(3).integers(9, size=np.array([2, 3]))",
        "np.random.default_rng(3).random(np.array([2, 3]))",
        "np.matmul(np.ones((2, 3)), np.ones((3, 2)), axes=[np.array([0, 1]), (0, 1), (0, 1)])",
    ],
    "results by place": [
        "x = np.zeros(3)\nnp.sign(np.array([-2.0, 0, 3]), x)\nx",
        "np.add(np.ones(3), 2, np.zeros(3))",
        "np.add(np.ones(3), 2, ...)",
        "x = np.zeros((2, 3))\nnp.divmod(np.arange(6.0).reshape(2, 3), 4, np.zeros((2, 3)), x)\nx",
        "np.frexp(np.array([8.0, 3.0]), np.zeros(2), np.zeros(2, 'i4'))",
    ],
    "powers of complex zeros": [
        "np.power(np.zeros(9, complex), np.array([1 + 4j, 2 - 3j, 1, 1 + 1j, 0, -1 + 1j, -7, 1j, -1j]))",
        "np.zeros(3, 'c8') ** np.array([1 - 1j, -2 - 3j, 0.5j], 'c8')",
    ],
    "copies that can't be done without": [
        "np.asarray([1], copy=False)",
        "np.array([1], copy=False)",
        "np.asarray(np.arange(2), dtype='f4', copy=False)",
        "np.array(np.arange(2), dtype='f4', copy=False)",
        "np.array(np.arange(2), copy=False)",
        "np.asarray(np.arange(2), copy=None)",
        "np.array([1, 2], copy=None)",
    ],
    "assigned elements in C order": [
        "x = np.zeros((2, 3))\nx.flat = [1, 2, 3, 4]\nx",
        "x = np.zeros((2, 3)).T\nx.flat = np.arange(9)\nx",
        "x = np.ones((2, 3))\nx.flat = 5\nx",
        "x = np.ones((2, 3))\nx.flat = []\nx",
        "x = np.zeros((0, 3))\nx.flat = [5]\nx",
        "x = np.zeros((2, 3))\nx.flat[1:4] = [7, 8]\nx",
        "x = np.zeros((2, 3))\nx.flat[2] = 7\nx",
    ],
    "another shape in place": [
        "x = np.arange(4)\nx.resize(2, 2)\nx",
        "x = np.arange(4)\nx.resize((4, 1))\nx",
    ],
    "numbers beside text": ["np.array([1, 2]) == 'a'", "np.array([1, 2]) != 'a'", "np.arange(3.0) == None"],
    "functions made of Python's have methods": [
        "int(np.frompyfunc(lambda a, b: a + b, 2, 1, identity=0).reduce(np.arange(5)))",
        "np.frompyfunc(lambda a, b: a + b, 2, 1, identity=3).identity",
        "np.frompyfunc(lambda a, b: a + b, 2, 1).nin",
    ],
    "truth values are no lengths": ["np.ones(3).reshape(True, 3)", "np.ones(3).reshape((np.bool(True), -1))"],
    "slices of numbers that are no integers": [
        "np.ones(3)[1.0:]",
        "np.ones(3)[:'a']",
        "np.ones(3)[np.int8(1):]",
    ],
    "elements by number": [
        "np.arange(6).reshape(2, 3).item(-1)",
        "np.ones(3).item(7)",
        "np.ones(3).item(-4)",
    ],
    "the imaginary part of real numbers is read-only": [
        "x = np.ones(3).imag\nx.flags.writeable",
        "np.ones(3).imag",
    ],
    "methods that NumPy 2 has no more": ["np.ones(3).ptp()"],
    "one of ddof and correction": [
        "np.nanvar(np.ones(3), ddof=1, correction=1)",
        "np.var(np.arange(3.0), correction=1)",
    ],
    "host arrays for results of host values": [
        "x = numpy.zeros(3)\nnp.add([1, 2, 3], 4, out=x)\nx",
        "x = numpy.array(0)\nnp.add.reduce([1, 2, 3], out=x)\nx",
    ],
    "objects and text take NumPy's functions": [
        "np.nanmean(np.array([1.0, 2.0], object))",
        "np.sum(np.array([1, 2], object))",
        "np.clip(np.array([1, 5], object), 0, 3)",
        "np.transpose(np.array([['a', 'b']])).tolist()",
        "np.std(np.array([1.0, 2.0], np.longdouble))",
    ],
    "out= of functions that are no ufuncs": [
        "np.fft.fft(np.arange(4.0), out='')",
        "np.fft.fft(np.arange(4.0), out=np.zeros(5, complex))",
        "np.fft.fft(np.arange(4.0), out=np.zeros(4))",
        "np.mean(np.arange(4.0), out=np.zeros(2))",
        "x = np.zeros((), np.float32)\nnp.mean(np.arange(4.0), out=x)\nx",
        "x = np.zeros(3, int)\nnp.clip(np.arange(3.0), 0, 1, out=x)\nx",
        "x = np.zeros((3, 1))\nnp.round(np.arange(3.0), out=x)\nx",
    ],
    "lengths of transforms without axes": ["np.fft.fftn(np.ones((3, 4)), s=(2, None), axes=(0, 1))"],
    "flags of arrays compare and are told": [
        "np.ones(3).flags == np.ones(4).flags",
        "np.ones((2, 3)).flags == np.ones((2, 3)).T.flags",
        "repr(np.ones((2, 3)).flags)",
        "x = np.ones((2, 3), order='F').flags\n[x['FA'], x['X'], x.behaved, x.carray]",
    ],
    "arrays like others lie in memory as they do": [
        "np.ones_like(np.ones((2, 3, 4)).swapaxes(0, 1)).strides",
        "np.zeros_like(np.ones((2, 3, 4)).transpose(1, 2, 0), 'i2').strides",
        "np.full_like(np.ones((2, 3)).T, 7, shape=(4, 5)).strides",
        "np.empty_like(np.ones((2, 3)).T, shape=6).strides",
        "np.ones_like(np.ones((2, 3)).T, order='A').strides",
        "np.ones_like(np.ones((2, 3)).T, order='A', shape=(2, 3, 4)).strides",
        "np.ones_like(np.ones((4, 6))[::2, ::-3]).strides",
        "np.ones_like(np.broadcast_to(np.ones(3), (2, 3))).strides",
    ],
    "tolerances of Python's numbers are weak": [
        "b = float(1 - np.finfo('f8').eps)\nnp.isclose(np.array(b, 'f4'), 2, atol=0, rtol=b / 2)",
        "b = float(1 - np.finfo('f8').eps)\nnp.isclose(np.array(b, 'f4'), 2, atol=0, rtol=np.float64(b / 2))",
    ],
    "bounds of clip": [
        "np.clip(np.arange(5), 2)",
        "np.clip(np.arange(5), a_max=2)",
        "np.clip(np.arange(5), 1, 2, max=3)",
        "np.clip(np.arange(5), max=3)",
        "np.clip(np.arange(5))",
        "x = np.arange(5, dtype='i4')\nx.clip(0.5, 2.5, out=x)",
    ],
    "sizes along axes": [
        "np.size(np.ones((2, 3)), (0, 1))",
        "np.size([[1, 2]], ())",
        "np.size(np.ones((2, 3)), -1)",
    ],
    "cross products in the plane": [
        "import warnings; warnings.simplefilter('ignore')\nnp.cross([1, 2], [3, 4])",
        "import warnings; warnings.simplefilter('ignore')\nnp.cross([1, 2], [3, 4, 5])",
        "np.cross([1, 2, 3, 4], [1, 2, 3, 4])",
    ],
    "norms of arrays without elements": [
        "[np.linalg.matrix_norm(np.zeros((0, 2)), ord=o) for o in ('fro', 'nuc', 1, 2, np.inf)]",
        "[np.linalg.vector_norm(np.zeros(0), ord=o) for o in (1, 2, np.inf)]",
        "np.linalg.matrix_rank(np.zeros((3, 0, 5)))",
        "np.linalg.norm(np.zeros(0), -np.inf)",
    ],
    "least squares' own bound": [
        "a = np.eye(6)[:, :2] * np.array([1, 5e-16])\n"
        "[int(np.linalg.lstsq(a, np.arange(6.0), rcond=r)[2]) for r in (-1, None)]",
    ],
    "vectors of the value 0 of hermitian matrices": [
        "u, _, v = np.linalg.svd(np.array([[1, 0], [0, 0]]), hermitian=True)\nnp.abs(v @ v.T)",
    ],
    "matrices have two axes": ["np.matrix_transpose(np.ones(3))", "np.linalg.matrix_transpose(np.ones(3))"],
    "views as other dtypes share memory": [
        "z = np.array([1 + 2j, 3 + 4j])\nf = z.view(float)\nf[1] = 9\nz",
        "z = np.array([1 + 2j, 3 + 4j])\nf = z.view(float)\nz *= 2\n[f, z]",
        "x = np.zeros(3)\ny = x.view('i8')\ny[...] = np.arange(3)\nx.view('u8')",
        "np.arange(6.0).reshape(2, 3)[:, ::2].view('i8')",
        "np.arange(6.0).reshape(2, 3)[:, ::2].view('i4')",
        "np.arange(4, dtype='u1').view('u4')",
        "np.arange(6, dtype='u1').view('u4')",
        "np.arange(12.0).reshape(3, 4)[::2].view('c16')",
        "np.array(1.0).view('f4')",
        "np.zeros((3, 0)).view('c16')",
        "np.arange(6.0)[1:].view('i8')",
    ],
    "parts of complex numbers are set alone": [
        "z = np.array([1 + 2j, 3 + 4j])\nz.imag = np.nan\nz.real = [np.inf, 7]\n[z.real, z.imag]",
        "z = np.ones((2, 3), 'c8')[:, ::2]\nz.imag = np.arange(2)\nz",
        "x = np.ones(3)\nx.imag = 2\nx",
    ],
    "objects whose __array__ gives numeric's arrays": [
        "class A:\n    __array__ = lambda self, dtype=None, copy=None: self.np.arange(3)\nA.np = np\n"
        "[np.array(A()), np.asarray(A()) + 1, np.bincount(A()), np.add(A(), 1)]",
    ],
    "numbers that do not fit are told before results' dtypes": [
        "np.add(np.zeros(3, 'u2'), -1, out=np.zeros(3, bool))",
        "np.add(np.zeros((4, 6), 'u2'), -1, out=np.zeros((0, 3), bool))",
        "np.add(np.zeros(3, 'u2'), 1, out=np.zeros(3, bool))",
        "np.less(np.zeros(3, 'u2'), -1, out=np.zeros(3, 'u1'))",
    ],
    "zeros and ones of what numeric does not hold": [
        "np.zeros((2, 3), str).tolist()",
        "np.ones(2, 'S3').tolist()",
        "str(np.zeros(2, numpy.dtypes.StrDType).dtype)",
        "np.zeros(2, numpy.dtypes.Float64DType)",
        "np.zeros((2, 3), object, 'F').strides",
    ],
    "steps without an end": [
        "np.arange(0, 1, numpy.inf)",
        "np.arange(0, -1, -numpy.inf)",
        "np.arange(0, 1, -numpy.inf)",
        "np.arange(numpy.float32(0), 3, numpy.float32(numpy.inf))",
    ],
    "squares of truth values": [
        "np.array([True, False]) ** 2",
        "np.array([True]) ** 3",
        "np.array(True) ** 2",
    ],
    "differences of close integers are not theirs": [
        "np.isclose(np.array([True, False]), np.array([True, True]))",
        "np.isclose(np.array([0, 255], 'u1'), np.array([255, 254], 'u1'), atol=2, rtol=0)",
        "np.isclose(np.array([-128], 'i1'), np.array([127], 'i1'), atol=2, rtol=0)",
        "np.allclose(np.array([1, 2]), 1)",
    ],
    "averages of nothing": [
        "np.average(np.zeros((4, 0, 3)), axis=0)",
        "np.average(np.zeros((2, 0)), axis=1)",
    ],
    "real parts of broadcast numbers, cast": [
        "np.broadcast_to(np.arange(6) * 1j, (2, 6)).astype('f2').strides",
        "np.broadcast_to(np.arange(6) * (1 + 1j), (2, 1, 6)).astype('u1')",
        "np.broadcast_to(np.arange(6) * 1j, (2, 6)).astype(float)",
    ],
    "dtype= with Python's numbers": ["np.add(1.0, 2, dtype='f4')", "np.add(1, True, dtype=object)"],
    "ravel shares memory only where the elements lie side by side": [
        "x = np.arange(10)[::-1]\nr = x.ravel()\nx += 5\n[x, r]",
        "x = np.arange(10)[::2]\nr = np.ravel(x)\nr[...] = 0\n[x, r]",
        "x = np.arange(10)[3:7]\nr = x.ravel()\nr[...] = 0\n[x, r]",
        "x = np.arange(12).reshape(3, 4).T\nr = x.ravel()\ns = x.ravel('F')\nx += 5\n[r, s]",
        "x = np.arange(12).reshape(3, 4).T\nr = x.ravel('K')\ns = x.ravel('A')\nx += 5\n[r, s]",
        "np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2).ravel('K')",
        "np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[::-1, :, ::2].ravel('K')",
        "x = np.broadcast_to(np.arange(3), (2, 3))\n[x.ravel(), x.ravel('F')]",
        "[np.zeros((0, 3)).ravel('K'), np.array(5).ravel('K'), np.array(5).ravel()]",
    ],
    "rows of one number, which no array holds": [
        "np.full((12,), 2, 'float32').var()",
        "v = np.full((3, 40), 2.5).std(1)\n[v, v + v]",
        "x = np.zeros((5, 70))\ne = np.exp(x - x.max(1, keepdims=True))\nx = None\ne / e.sum(1, keepdims=True)",
        "x = np.broadcast_to(np.arange(3.0)[:, None], (3, 50))\n(x - x.mean(1, keepdims=True)) / (1 + x.std(1, keepdims=True))",
        "x = np.broadcast_to(np.arange(50.0), (3, 50))\nx - x.mean(1, keepdims=True)",
        "x = np.broadcast_to(np.arange(50.0), (3, 50))\n(x - x.mean(0)) / (1 + x.std(0))",
    ],
    "real and imag are views": [
        "z = np.array([1 + 2j, 3 + 4j])\nr = z.real\nr[0] = 9\nz",
        "z = np.array([1 + 2j, 3 + 4j])\nr = z.imag\nz *= 1j\n[r, z.imag, z.real]",
        "z = np.ones((3, 4), 'c8')[::2, ::3]\nr = np.imag(z)\nr += np.arange(2)\nz.real += r\nz",
        "z = np.arange(4) * (1 + 1j)\nz.real[1:] = z.imag[:-1]\nz",
        "z = np.arange(4) * (1 + 1j)\nr = z.real\nlater = r + 1\nz[...] = 0\n[later, r]",
        "z = np.arange(4) * (1 + 1j)\nlater = z + 1\nr = z.real\nr[...] = 7\n[later, z, r]",
        "z = np.arange(4) * (1 + 1j)\nr = z.real\nz = None\nr += 1\nr",
        "x = np.arange(6.0)\na, b = x.view('i8'), x[1:].view('i8')\nb[:4] = a[:4]\nx",
        "z = np.zeros((0, 2), complex)\n[z.real, z.imag]",
        "z = np.array(1 + 2j)\nz.real[()] = 5\nz",
        "np.ones(2, complex).real.flags.owndata",
        "z = np.broadcast_to(np.array([1j]), (2, 1))\nz.imag[0] = 3",
        "np.nan_to_num(np.array([complex(np.nan, np.inf), 1 + 2j]))",
        "z = np.array([complex(np.inf, 1), 2j])\nr = z.imag\nnp.nan_to_num(z, copy=False)\n[z, r]",
    ],
    "the shape is set in place": [
        "x = np.arange(6)\nx.shape = 2, -1\nx[0] = 9\nx",
        "x = np.arange(6)\ny = x\nx.shape = (3, 2)\ny.shape",
        "x = np.arange(6) + 1\nx.shape = 6, 1\nx *= 2\nx",
        "x = np.arange(6).reshape(2, 3).T\nx.shape = 6",
        "x = np.arange(6)\nx.shape = 4",
        "x = np.arange(6)\nx.shape = -1, -1",
        "x = np.zeros((0, 3))\nx.shape = -1, 2\nx",
    ],
    "functions of the last axes are ufuncs": [
        "[np.vecdot.signature, np.matmul.nin, isinstance(np.matmul, np.ufunc)]",
        "np.vecdot(np.ones((2, 3)), np.ones((2, 3)), axis=0, keepdims=True)",
        "np.vecdot(np.ones((2, 3)), np.ones((2, 3)), keepdims=True)",
        "a = np.arange(27.0).reshape(3, 3, 3)\nnp.vecdot(a, np.arange(10.0, 19).reshape(3, 1, 3), axes=[0, -1])",
        "a = np.arange(24.0).reshape(2, 3, 4)\nnp.matmul(a, a, axes=[(2, 1), (1, 2), (0, 1)])",
        "a = np.arange(24.0).reshape(2, 3, 4)\nnp.matmul(a, a, axes=[(1, 2), (2, 1), (2, 0)])",
        "np.matmul(np.ones((2, 2)), np.ones((2, 2)), axis=0)",
        "np.matmul(np.ones((2, 2)), np.ones((2, 2)), keepdims=True)",
        "np.vecdot(np.ones(3), np.ones(3), axes=0)",
        "np.vecdot(np.ones(3), np.ones(3), axes=[0])",
        "np.vecdot.reduce(np.ones(3))",
        "x = np.empty((5, 4))\nnp.vecdot(np.arange(3).reshape(1, 3), np.arange(3), out=x)\nx",
        "x = np.empty(())\nnp.vecdot(np.arange(6).reshape(3, 2), np.ones(2), x)",
        "np.matmul(np.ones((2, 3)), np.ones((2, 3)))",
        "np.matmul(np.ones((2, 3)), 3)",
        "np.matmul(np.ones((2, 2), 'i4'), np.ones((2, 2), 'i4'), dtype='f4')",
        "np.matmul(np.ones((2, 2)), np.ones((2, 2)), dtype='i4')",
        "np.vecmat(np.array([1j, 2]), np.ones((2, 3)))",
        "np.matvec(np.ones((4, 2, 3)), np.arange(3))",
        "np.matmul(np.array([[1, 2]], object), np.array([3, 4], object))",
    ],
    "shapes made by numeric": ["np.ones(np.array([2, 3]))", "np.zeros(np.array(3))", "np.ones(True)"],
    "folds of nothing": [
        "np.minimum.reduce(np.zeros((0, 0)), axis=1)",
        "np.minimum.reduce(np.zeros((0, 3)), axis=1)",
        "np.minimum.reduce(np.zeros((3, 0)), axis=1)",
    ],
    "ufuncs' words": [
        "np.add(1, 2, sig='ii->i', signature='ii->i')",
        "np.add(np.ones(2), 2, sig='dd->d', dtype=float)",
        "np.add(np.ones(2), 2, ...)",
        "np.negative(np.ones(2), out=(...,))",
        "np.add(np.ones(2), 2, out=...)",
        "np.add.reduce(np.ones(2), out=...)",
    ],
    "read-only results come before dtypes": [
        "x = np.broadcast_to(np.arange(3), (2, 3))\nx //= np.ones(3)",
        "x = np.broadcast_to(np.arange(3), (2, 3))\nx += 1",
        "x = np.broadcast_to(np.arange(3), (2, 3))\nnp.add(1, 2.5, out=x)",
    ],
    "scalars are what they are": [
        "x = np.arange(5)\ns = x[1]\nt = s\nt += 10\n[x, s, t]",
        "x = np.arange(5)\ns = x.sum()\nt = s\nt += 1\n[s, t]",
        "s = np.ones(3).sum()\ns += np.arange(3)\ns",
        "s = np.array(2) * 3\nt = s\nt **= 2\n[s, t]",
        "s = np.array(2)\nt = s\nt += 1\n[s, t]",
        "x = np.array([True, False])\nx[0] += np.ones(2)",
        "x = np.arange(3)\nx[0] *= np.float32(2.5)\nx",
        "x = np.arange(3)\nx[0] *= 2.5\nx",
        "x = np.arange(3)\nx[0, ...] *= 2.5",
        "x = np.arange(3)\ns = x.mean()\ns //= np.int32(2)\ns",
        "s = np.ones(2).max()\nx = np.asarray(s)\nx -= np.ones(2)",
        "s = np.ones(2).max()\nx = np.array(s)\ny = x[None]\nx += 1\n[s, x, y]",
        "x = np.array(5).copy()\ny = x\ny += 1\n[x, y]",
        "x = np.array(5).astype(float)\ny = x\ny += 1\n[x, y]",
        "x = np.where(True, np.array(1.0), 2)\ny = x\ny += 1\n[x, y]",
        "x = np.add(1, np.array(1), out=...)\ny = x\ny += 1\n[x, y]",
        "s = np.ones(3).sum()\nx = s[...]\nx += 1\n[s, x]",
        "s = np.ones(3).sum()\nx = s.reshape(1)\nx += 1\n[s, x]",
        "s = np.ones(3).sum()\nx = np.expand_dims(s, 0)\nx += 1\n[s, x]",
    ],
    "integers beyond a dtype in choices": [
        "np.where(np.arange(3) == 0, -1, np.arange(3, dtype='u1'))",
        "np.where(np.arange(3) == 0, 300, np.arange(3, dtype='u1'))",
        "np.where(np.arange(3) == 0, 2**70, np.arange(3, dtype='u1'))",
    ],
    "elements from numbers of other dtypes": [
        "x = np.zeros(3, int)\nx[0] = numpy.float64(np.nan)",
        "x = np.zeros(3, 'i1')\nx[0] = numpy.int64(300)",
        "x = np.zeros(3, 'u1')\nx[0] = numpy.int64(200)\nx",
        "x = np.zeros(3, int)\nx[...] = numpy.float32(2.7)\nx",
        "x = np.zeros(3, int)\nx[0] = numpy.timedelta64(1, 's')",
        "x = np.ones(3)\nx[0] = numpy.timedelta64('NaT', 's')\nx",
        "x = np.ones(3)\nx[0] = numpy.timedelta64(300, 's')\nx",
        "np.arange(3) * numpy.timedelta64(2, 's')",
        "numpy.datetime64('2020-01-01') + np.arange(3)",
        "x = np.zeros(3, bool)\nx[0] = numpy.float64(2)\nx",
    ],
    "an array as one element": [
        "z = np.zeros(3, complex)\nz[1] = np.ones(1)",
        "z = np.zeros(3, 'c8')\nz[1] = np.ones(2, complex)",
        "z = np.zeros(3, complex)\nz[1] = np.array(2)\nz",
        "x = np.zeros(3)\nx[1] = np.ones(1)",
        "x = np.zeros(3, bool)\nx[1] = np.ones(1)\nx",
    ],
    "arrays are sequences": [
        "import operator\noperator.concat(np.ones(2), np.ones(3))",
        "np.ones(2) + None",
        "np.ones(2) + [1, 2]",
        "np.ones(2) + {}",
        "x = np.arange(6).reshape(3, 2)\n[r.tolist() for r in reversed(x)]",
        "import operator\noperator.indexOf(np.arange(5), 3)",
    ],
    "products of polynomials from the first coefficient on": [
        "np.polymul([0, 0, 1], [0, 2, 3])",
        "np.polymul([], [1.0])",
    ],
    "complex values between points, where a part is not finite": [
        "f = np.zeros(3, complex)\nf.imag = np.array([0, np.inf, 1])\nnp.interp([0.5, 1.0, 2.0], [0, 1, 2], f)",
    ],
    "folds into NumPy's arrays": ["np.add.reduce(np.ones((4, 3)), 0, out=numpy.empty(3, 'f'))"],
    "neighbours of half numbers": [
        "np.nextafter(np.array([0, 1, 2.5], 'f2'), np.array([1, 1, 0], 'f2'))",
        "np.spacing(np.array([0, 1, 2.5], 'f2'))",
        "np.spacing(np.array([0, 1, 2.5], 'f4'))",
    ],
    "numbers among pieces": [
        "np.r_[np.arange(5, dtype='i1'), 255]",
        "np.r_[np.arange(5, dtype='i1'), 25, 2:4]",
        "np.r_[np.arange(5, dtype='f4'), 2.5]",
    ],
    "labels of sums in lists": [
        "np.einsum(np.arange(9).reshape(3, 3), np.array([0, 0]))",
        "np.einsum(np.arange(9).reshape(3, 3), list(np.array([0, 1])), np.array([1]))",
        "np.einsum(np.ones((2, 3)), [0, 51], np.ones((3, 4)), [51, 2], [0, 2])",
        "np.einsum(np.ones((2, 3)), [0, 52], np.ones((3, 4)), [52, 2], [0, 2])",
        "np.einsum('i->i', np.ones(3), order='W')",
        "np.einsum('i,i->', np.ones(7), np.ones(7), out=np.array(0), optimize='optimal')",
        "np.einsum_path()",
        "np.einsum('i')",
    ],
    "one condition of pieces": [
        "np.piecewise(np.array([0, 0]), np.array([True, False]), [1])",
        "np.piecewise(np.array([0, 0]), [np.array([1, 0])], [1, 5])",
        "x = np.array(3)\nnp.piecewise(x, x > 3, [4, 0])",
        "np.piecewise(5, [True, False], [1, 0])",
    ],
    "modes of convolutions": [
        f"np.{f}(np.ones(9), np.ones(3), mode={m!r})"
        for f in ("convolve", "correlate")
        for m in ("f", "full", 0, 1, -1, None)
    ],
    "no shape is negative": [
        "np.broadcast_to(np.zeros(1), -1)",
        "np.broadcast_to(np.zeros((1, 2)), (-1, 2))",
    ],
    "floats are no index": ["np.zeros((2, 2))[0.0:, 0.0]", "np.zeros((2, 2))[0.0:]"],
    "results of folds have their shape": [
        "np.add.reduce(np.ones((4, 3)), 0, out=np.ones((1, 3)))",
        "np.add.reduce(np.ones((1, 10)), -1, out=np.empty(3))",
        "np.add.reduce(np.ones(3), out='x')",
        "np.dot(np.ones((2, 3)), np.ones(3), np.zeros(2, 'f'))",
    ],
    "zeros that are added keep their sign": [
        "np.signbit(np.sum(np.array([-0.0] * 9), initial=-0.0))",
        "np.signbit(np.sum(np.array([-0.0] * 9)))",
        "np.signbit(np.sum(np.array([-0.0, 1]), where=np.array([True, False]), initial=-0.0))",
    ],
    "bounds beyond a dtype": [
        "np.arange(5, dtype='u1').clip(-1, 300)",
        "np.clip(np.arange(5, dtype='u1'), 300, 400)",
        "np.clip(np.arange(5, dtype='i1'), -1000, 3)",
        "np.arange(5).clip(3)",
        "np.arange(5).clip(max=3)",
    ],
    "sizes beyond any memory": [
        "np.zeros(2**64)",
        "np.zeros([975] * 7, 'i1')",
        "np.empty((3037000500, 3037000500), 'i1')",
        "np.zeros((2**62, 0, 8)).shape",
        "np.arange(0, np.inf)",
    ],
    "copies as asked": [
        "np.array([1, 2], copy='always')",
        "x = np.arange(6).reshape(2, 3)\nnp.array(x.T, copy=False, order='C')",
        "np.array([[1, 2], [3, 4]], ndmax=2)",
        "np.array([[1, 2], [3, 4]], ndmax=1)",
        "np.array([1, 2], ndmax=65)",
    ],
    "an element from an array of one": [
        "x = np.array([True, False])\nx[-1] = x[:1]\nx",
        "x = np.zeros(2, bool)\nx[0] = np.array([[np.nan]])\nx",
        "x = np.zeros(2, bool)\nx[0] = np.zeros(2)",
        "x = np.zeros(2)\nx[0] = np.ones(1)",
        "x = np.zeros(2, complex)\nx[0] = np.ones(1)",
    ],
    "kept axes of folds that NumPy does": ["np.ones(3, complex).max(axis=0, keepdims=True)"],
}


@pytest.mark.parametrize(("kind", "program"), [(k, p) for k, programs in KINDS.items() for p in programs])
def test_as_in_numpy(kind, program):
    alike(program)


@pytest.mark.parametrize(
    "program",
    [
        "import hashlib\nhashlib.sha256(np.arange(6.0).reshape(2, 3)).hexdigest()",
        "memoryview(np.arange(6.0).reshape(2, 3)).tolist()",
        "bytes(memoryview(np.arange(3, dtype='i2')))",
    ],
)
def test_buffers_of_the_hosts_memory(program):
    if _runtime.current_device_label() == "cpu":
        return alike(program)
    assert isinstance(outcome(program, np), BufferError)


def test_views_as_subclasses_say_what_to_write():
    import numpy

    with pytest.raises(TypeError, match="numpy.asarray"):
        np.ones(3).view(numpy.matrix)
    a = np.ones(3)
    assert a.view(np.ndarray)._same_memory(a)


@pytest.mark.filterwarnings("default")
def test_where_without_out_warns():
    a = np.arange(4)
    with pytest.warns(UserWarning, match="'where' used without 'out'"):
        made = np.add(a, a, where=a > 1)
    assert (made[2:] == 2 * a[2:]).all()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.add(a, a, where=a > 1, out=None)
