"""`tile_kernel`, the decorator that makes a tile kernel of a plain Python function, and how one is launched."""

import dataclasses
import functools
import inspect
import json
import operator
import types
import typing

from xcuda import _runtime
from xcuda.core._cells import name_cell
from xcuda.core.kernels import About
from xcuda.core.kernels import _check as check_source
from xcuda.tiles.autotune import Autotuned


class ConstantAnnotation:
    """Marks a parameter of a tile kernel whose value is fixed when the kernel is compiled."""


class Constant:
    """`n: tiles.Constant[int]`: the parameter's value is fixed when the kernel is compiled, one version a value."""

    def __class_getitem__(cls, of):
        return typing.Annotated[of, ConstantAnnotation()]


def tile_kernel(
    function=None,
    *,
    tile_size=None,
    plan=None,
    tf32=False,
    checked=True,
    fastmath=False,
    fma=True,
    opt_level=3,
    **hints,
):
    """Makes a tile kernel of a function: `@tile_kernel(tile_size=(16, 16))`.

    tile_size: the unit of the result for `store(result, tile)`: lengths along its last axes. The compiler works in
        whatever tiles the machine likes. Left out, each `load` and `store` states its own.
    plan: what the compiler is to take in place of its own choice, on a GPU: a dict of unit (lengths of the hardware's
        tile), depth (of a product's inner loop), threads (of a block), stages (operands on their way), products
        ("fma", "mma", "wgmma", "tcgen05"), copies ("threads", or "bulk": by the copy engine), waits ("early", or
        "late": what lies between chained products hides the second), stores ("pairs", or "lines": of 16-bit sums
        sixteen bytes a lane), steps ("looped", or "unrolled": a thread's own products of one step without a loop),
        blocks (that a multiprocessor is to have room for) and split (blocks that share a product's inner dimension,
        from sm_90 on; their sums are added in order). `explain` shows the whole plan. wgmma, bulk and lines are
        sm_90's, and taken there unasked; tcgen05 is sm_100's, taken unasked for target="sm_100a" alone, as it has run
        on no GPU yet. What a kernel can't have is made without.
    tf32: products of float32 may round their factors to TF32, 10 bits of fraction (GPU).
    checked: shapes that don't go together, and what you assert, raise. fastmath, fma: as for `cuda.kernel`.
    opt_level: 0 compiles without optimisation.
    """
    unknown = set(hints) - {"num_ctas", "occupancy"}  # cuTile's hints to its own compiler
    if unknown:
        raise TypeError(
            f"tile_kernel() has no option '{min(unknown)}'; there are tile_size, plan, tf32, checked, fastmath, "
            "fma and opt_level"
        )
    size = _tile_size(tile_size)
    if function is None:
        return functools.partial(
            tile_kernel,
            tile_size=size or None,
            plan=plan,
            tf32=tf32,
            checked=checked,
            fastmath=fastmath,
            fma=fma,
            opt_level=opt_level,
        )
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f"a tile kernel is made from a plain Python function, not from a {type(function).__name__}"
        )
    asked = {**(plan or {}), **({"tf32": True} if tf32 else {})}
    return _made(function, size, (checked, fastmath, fma, opt_level > 0, 0, 0, 0), plan=asked)


def _tile_size(given):
    if given is None:
        return ()
    lengths = given if isinstance(given, (tuple, list)) else (given,)
    try:
        size = tuple(operator.index(n) for n in lengths)
    except TypeError:
        raise TypeError(f"tile_size is an int or a tuple of ints, not {given!r}") from None
    if not 1 <= len(size) <= 3 or min(size) < 1:
        raise ValueError(f"tile_size has 1 to 3 lengths of 1 and more, not {given!r}")
    return size


def _made(function, size, options, as_target="", plan=None):
    parameters = inspect.signature(function).parameters
    for p in parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"{function.__name__}: a tile kernel can't have '*{p.name}'; name each argument")
    name_cell(function.__code__.co_filename)
    check_source(function)
    about = TileAbout(function, size, as_target, plan=plan)
    about.options = options
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    made = _runtime.Kernel(about, function.__name__, tuple(parameters), defaults, *options)
    about.kernel = made
    functools.update_wrapper(made, function)
    made.__signature__ = inspect.signature(function)
    made.__call__ = made
    _runtime.make_tile_kernel(made, list(about.constants), as_target, json.dumps(about.plan))
    return made


def _constants(function):
    try:
        hints = inspect.get_annotations(function, eval_str=True)
    except Exception:  # names that are not there yet: none of them is ours
        hints = function.__annotations__
    found = []
    for name in inspect.signature(function).parameters:
        marks = getattr(hints.get(name), "__metadata__", ())
        found.append(any(isinstance(m, ConstantAnnotation) or m is ConstantAnnotation for m in marks))
    return tuple(found)


class TileAbout(About):
    """What a tile kernel answers beside being called."""

    def __init__(self, function, size, as_target="", forms=None, plan=None):
        super().__init__(function, forms)
        self.tile_size = size
        self.as_target = as_target
        self.plan = dict(plan or {})
        self.constants = _constants(function) if forms is None else ()

    def capture(self):
        """Reads the source and its names anew; called by the runtime when a captured name changed."""
        captured = super().capture()
        names = json.loads(captured.names_json)
        names["tile_size"] = self.tile_size
        self.captured = dataclasses.replace(captured, names_json=json.dumps(names))
        return self.captured

    def with_forms(self, forms):
        """What a variant for such arguments answers."""
        return TileAbout(self.py_func, self.tile_size, self.as_target, forms, self.plan)

    def variant(self, values, typed=False):
        """The kernel for a call with constants, and the arguments it takes in their place."""
        made, leaves, owners = super().variant(values, typed)
        if not made.about.marked:
            _runtime.make_tile_kernel(made, [], self.as_target, json.dumps(self.plan))
            made.about.marked = True
        return made, leaves, owners

    marked = False  # of a variant: it has been told that it is a tile kernel

    def planned(self, plan):
        """The same kernel with another plan asked of the compiler."""
        return _made(self.py_func, self.tile_size, self.options, self.as_target, {**self.plan, **plan})

    def compile(self, signature, block=None, *, target=None):
        """Compiles for the arguments of a call, constants among them, or for types; see cuda.kernel."""
        if isinstance(signature, tuple) and any(self.constants):
            made, leaves, _ = self.variant(signature)
            return made.compile(leaves, block, target=target)
        return super().compile(signature, block, target=target)

    def explain(self, *args, target=None):
        """How the kernel is laid out for such arguments: tiles over blocks, blocks over warps, and the plan.

        args: those of a call. target: "sm_90" and the like; left out, the current device. Gives an Explanation: text
        when printed, a picture in a notebook.
        """
        from xcuda.tiles.explain import explained

        return explained(self.kernel, args, target)

    def replace_hints(self, **hints):
        """cuTile's way to hints for another compiler: the kernel itself."""
        return self.kernel


def launch(stream, grid, kernel, args):
    """Runs a tile kernel over a grid of programs.

    stream: a Stream, or None for the current one. grid: an int or a tuple of 1 to 3: programs along each axis of bid();
        of an autotuned kernel a function of the configuration, a dict, that gives it.
    """
    tuned = isinstance(kernel, Autotuned)
    if not tuned and not isinstance(getattr(kernel, "about", None), TileAbout):
        raise TypeError(f"launch() takes a tile kernel, not {kernel!r}")
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"launch() takes the kernel's arguments as a tuple, not {type(args).__name__}")
    return kernel.launched(grid, stream, args) if tuned else kernel[grid, 1, stream](*args)
