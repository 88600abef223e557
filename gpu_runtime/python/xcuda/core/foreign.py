"""Functions in CUDA C++ for kernels to call: `f = cuda.declare_device("f", "int32(int32)", link=cuda.CUSource("..."))`.

Their text is compiled by NVRTC with the kernel, before it, so that it may be inlined. They run on a GPU only.
"""

import itertools
import os

from xcuda.core.signatures import split, types_from
from xcuda.core.types import CPointer, Scalar, Signature, is_signature, is_type, named, scalar_name, void

_numbers = itertools.count(1)


class CUSource:
    """CUDA C++ as text. name: what messages of the compiler call it."""

    def __init__(self, data, name=None):
        self.data = data.decode() if isinstance(data, bytes) else str(data)
        self.name = name or f"source {next(_numbers)}.cu"

    def __reduce__(self):
        return CUSource, (self.data, self.name)

    def __repr__(self):
        return f"<CUDA C++ {self.name}>"


class DeclaredFunction:
    """A function in CUDA C++ that kernels may call; `name`, `sig` and `link` are what it was declared with."""

    __xcuda_foreign__ = True

    def __init__(self, name, sig, link, use_cooperative, abi):
        self.name = self.__name__ = name
        self.sig, self.link, self.use_cooperative, self.abi = sig, link, use_cooperative, abi
        self._sources = sources_of(link)

    def __call__(self, *arguments):
        raise RuntimeError(f"{self.name}() is CUDA C++: call it in a kernel")

    def __repr__(self):
        return f"<CUDA C++ function {self.name} of {self.sig}>"

    def __reduce__(self):
        return DeclaredFunction, (self.name, self.sig, self.link, self.use_cooperative, self.abi)

    def meaning(self):
        """It as the compiler reads it."""
        returns = self.sig.return_type
        return {
            "symbol": self.name,
            "arguments": [_described(kind, self.name) for kind in self.sig.args],
            "returns": None if returns == void else _described(returns, self.name),
            "gives_status": self.abi == "numba",
            "cooperative": self.use_cooperative,
            "sources": self._sources,
        }


def declare_device(name, sig, link=None, use_cooperative=False, abi="numba"):
    """Declares an extern "C" __device__ function for kernels to call; on the CPU device a launch of them is refused.

    sig: its types, "int32(int32, float64)" or int32(types.CPointer(int32)). A kernel passes arrays of that dtype for
        pointers, or addresses (A.ctypes.data). Checks of indices do not reach into it.
    link: its text: a cuda.CUSource, the path of a .cu file, or several; left out, what the kernel is linked with.
    abi: "numba": it writes its result through a pointer that comes first, and returns 0; "c": it returns its result.
    use_cooperative: it synchronises the grid, and its launch must be a cooperative one.
    """
    if abi not in ("numba", "c"):
        raise ValueError(f'abi is "numba" or "c", not {abi!r}')
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name of a C function")
    return DeclaredFunction(name, _signature(sig), link, bool(use_cooperative), abi)


def sources_of(link):
    """[{"name", "text"}] of what `link=` was given. Raises TypeError for what is no CUDA C++."""
    if link is None:
        return []
    if isinstance(link, (str, os.PathLike, CUSource)):
        link = [link]
    found = []
    for item in link:
        if isinstance(item, CUSource):
            found.append({"name": item.name, "text": item.data})
            continue
        if not isinstance(item, (str, os.PathLike)):
            raise TypeError(f"link= takes cuda.CUSource and paths of .cu files, not a {type(item).__name__}")
        path = os.fspath(item)
        if not path.endswith((".cu", ".cuh")):
            raise TypeError(f"link= takes CUDA C++ (.cu): {path!r} would need a linker; pass its source")
        with open(path, encoding="utf-8") as file:
            found.append({"name": os.path.abspath(path), "text": file.read()})
    return found


def _signature(sig):
    if is_signature(sig):
        return Signature(sig.return_type, sig.args)
    if not isinstance(sig, str):
        raise TypeError("Return type required in a declared function's signature: write int32(float64)")
    head, opened, rest = sig.strip().partition("(")
    if not head.strip() or not opened or not rest.endswith(")"):
        raise TypeError(f'Return type required in "{sig}": write "int32(float64)"')
    return Signature(_type(head), [_type(part) for part in split(rest[:-1])])


def _type(text):
    text = text.strip()
    inner = text.removeprefix("types.").removeprefix("CPointer(")
    if text.endswith(")") and inner != text:
        return CPointer(_type(inner[:-1]))
    found = named(text)
    if found is not None:
        return found
    (kind,) = types_from((text,))
    if kind[0] == "scalar":
        return Scalar(kind[1])
    return Scalar(kind[1])[
        tuple([slice(None)] * (kind[2] - 1) + [slice(None, None, 1 if kind[3] != "strided" else None)])
    ]


def _described(kind, name):
    pointer = isinstance(kind, CPointer)
    dtype = scalar_name(kind.dtype if pointer else kind)
    if dtype is None or not is_type(kind):
        raise TypeError(
            f"{name}() is declared with {kind}; CUDA C++ takes numbers and pointers: types.CPointer(dtype)"
        )
    return {"dtype": dtype, "pointer": pointer}
