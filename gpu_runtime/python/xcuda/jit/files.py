"""Kernels as files: `k.save(file)` and `load(file)`.

A file is a zip: kernel.json (the kernel's syntax tree and what its names meant, its options, the images' keys) and the
compiled images. A process that loads it lowers the tree again, and finds the compiled image of the text that comes out
in the file instead of compiling: so neither source nor compiler is needed, and types that were not saved still work
where there is a compiler.
"""

from __future__ import annotations

import inspect
import json
import zipfile
from pathlib import Path

from xcuda import __version__, _runtime
from xcuda.core.kernels import About
from xcuda.core.signatures import types_from

_FORMAT = 1


def save(kernel, file, *signatures, target=None) -> Path:
    """Writes the kernel with its compiled versions to `file`; gives its path.

    signatures: types to compile for before, as `k.compile` takes them; left out, the versions that calls made.
    target: "sm_90" and the like saves these signatures for a GPU that need not be here.

    Raises ValueError where there is no compiled version, TypeError where a default is no number, string or None.
    """
    about = kernel.about
    target = about.architecture if target is None else target
    rows = []
    for signature in signatures:
        if target is not None:
            rows += _runtime.images_for(kernel, types_from(signature), target)
        elif not _runtime.compile_all(kernel, types_from(signature)):
            raise ValueError(
                f"{kernel.__name__} is compiled for each shape of block on the CPU device: call it with its"
                " [grid, block] before save, instead of giving the types"
            )
    if target is None:
        rows = _runtime.images(kernel)
    if not rows:
        raise ValueError(
            f"{kernel.__name__} has no compiled version to save: call it before, or give its types,"
            ' save(file, "float32[::1], int64")'
        )
    rows = list({row["key"]: row for row in rows}.values())  # blocks of several shapes may be one text
    captured = about.captured or about.capture()
    parameters = [
        {"name": p.name, "kind": p.kind.name, **_default(kernel, p)}
        for p in kernel.__signature__.parameters.values()
    ]
    document = {
        "format": _FORMAT,
        "xcuda": __version__,
        "name": captured.name,
        "file": captured.file,
        "doc": about.py_func.__doc__,
        "first_line": captured.first_line,
        "ast": captured.ast_json,
        "names": captured.names_json,
        "parameters": parameters,
        "options": list(about.options),
        "target": getattr(kernel, "target", "auto"),
        "optimize": getattr(kernel, "optimize", "default"),
        "images": [{key: row[key] for key in ("key", "signature", "target")} for row in rows],
    }
    path = Path(file)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
        whole.writestr("kernel.json", json.dumps(document))
        for row in rows:
            whole.writestr(row["key"], row["image"])
    return path


def load(file):
    """The kernel that `k.save(file)` wrote. What it was compiled for runs without source and without compiler.

    Raises ValueError where the file is none of ours, is damaged, or is of another version of xcuda.
    """
    try:
        with zipfile.ZipFile(file) as whole:
            document = json.loads(whole.read("kernel.json"))
            images = {row["key"]: whole.read(row["key"]) for row in document["images"]}
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise ValueError(f"{file} is no kernel that save() wrote, or is damaged: {error}") from None
    if (document.get("format"), document.get("xcuda")) != (_FORMAT, __version__):
        raise ValueError(
            f"{file} was saved by xcuda {document.get('xcuda')}, this is {__version__}: save the kernel anew"
        )
    for key, image in images.items():
        if not _runtime.preload(key, image):
            raise ValueError(f"{file} is damaged: one of its compiled kernels can't be read")
    return _kernel(document)


def _kernel(document):
    from xcuda.core.source import Captured
    from xcuda.jit.compile import _held_to

    captured = Captured(
        name=document["name"],
        file=document["file"],
        first_line=document["first_line"],
        text="",
        ast_json=document["ast"],
        names_json=document["names"],
    )
    stand_in = _stand_in(document)
    about = Loaded(stand_in)
    about.captured = captured
    about.options = tuple(document["options"])
    signature = stand_in.__signature__
    defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not p.empty}
    made = _runtime.Kernel(about, document["name"], tuple(signature.parameters), defaults, *about.options)
    about.kernel = made
    held = _held_to(document["target"])
    if held is None:
        from xcuda.core.errors import MachineError

        raise MachineError(
            f"{document['name']} was saved for {document['target']}, and no device here is one"
        )
    _runtime.tune(made, only_on=held, adaptive=document["optimize"] == "aggressive")
    made.target, made.optimize = document["target"], document["optimize"]
    made.__name__ = made.__qualname__ = document["name"]
    made.__doc__, made.__signature__ = document["doc"], signature
    made.__call__ = made
    return made


class Loaded(About):
    """What a kernel of a file answers: its source is what the file has."""

    def capture(self):
        """What was captured when it was saved."""
        return self.captured

    def variant(self, values, typed=False):
        """A file has a kernel's versions for arrays and numbers only."""
        raise TypeError(
            f"{self.py_func.__name__} was loaded from a file and takes arrays and numbers; tuples, structs and"
            " constants need its source"
        )


def _stand_in(document):
    name = document["name"]

    def stand_in(*_args, **_kwargs):
        raise RuntimeError(f"{name} was loaded from a file: its Python function is not here")

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__doc__ = document["doc"]
    kinds = {kind.name: kind for kind in (*map(inspect._ParameterKind, range(5)),)}
    stand_in.__signature__ = inspect.Signature(
        [
            inspect.Parameter(p["name"], kinds[p["kind"]], default=p.get("default", inspect.Parameter.empty))
            for p in document["parameters"]
        ]
    )
    return stand_in


def _default(kernel, parameter):
    value = parameter.default
    if value is parameter.empty:
        return {}
    if value is None or type(value) in (bool, int, float, str):
        return {"default": value}
    raise TypeError(
        f"{kernel.__name__} can't be saved: the default of '{parameter.name}' is a {type(value).__name__}, not a"
        " number, string or None"
    )
