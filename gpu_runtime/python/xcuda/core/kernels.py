"""`kernel`, the decorator that makes a GPU kernel of a plain Python function, and what people ask of a kernel."""

import ast
import copy
import copyreg
import difflib
import functools
import inspect
import types

from xcuda import _runtime
from xcuda.core._cells import name_cell
from xcuda.core.ahead import begin_annotated, begin_declared
from xcuda.core.definition import warn
from xcuda.core.dispatcher import NumbaNames
from xcuda.core.signatures import block_given, declared_from, signatures_from, types_from
from xcuda.core.types import is_signature, is_type

# What numba's users give to cuda.jit and what is always so here, or makes no difference: lines are known, kernels are
# cached, helpers are written in where that pays, checks tell what a debugger would.
_WITHOUT_EFFECT = {"debug", "lineinfo", "cache", "inline", "forceinline", "link", "lto", "extensions"}
_CARVEOUTS = ("default", "maxl1", "maxshared")


def kernel(
    function=None,
    signature=None,
    *,
    checked=True,
    fastmath=False,
    fma=True,
    device=False,
    opt=True,
    max_registers=None,
    launch_bounds=None,
    **options,
):
    """Makes a kernel of a function: `@kernel`, or `@kernel(checked=False)` and the like.

    signature: "float32[:, ::1], int64" or void(float32[:, ::1], int64) compiles it for these types, a list of such
        for each, in the background: what can't be compiled is refused at once, and the first call waits for the
        rest. Left out, annotations of all parameters ("float32[:]", int, types.float64) do the same, without binding
        anyone; else it compiles when called.
    checked: indices out of range, division by zero and failed asserts raise, with line and thread.
    fastmath: floating-point operations may be reordered and contracted; integers, NaN tests and powers of negative
        numbers mean what they did.
    fma: a * b + c may be one fused operation, rounded once; False: bit by bit what NumPy computes.
    device: as in numba, a function for kernels to call.
    link: CUDA C++ of functions that were declared without it (see declare_device).
    opt: False compiles without optimisation. max_registers: of a thread, at most (GPU). launch_bounds: the most
        threads of a block, or (threads, blocks) with the least number of blocks that should be resident at once, or
        (threads, blocks, cluster) with the most blocks of a cluster. A larger block is refused at the launch.
    """
    if function is not None and (not callable(function) or is_type(function) or is_signature(function)):
        function, signature = None, function  # @kernel("float32[:]"), @kernel(void(float32[:]))
    check_carveout(options.pop("shared_memory_carveout", -1))
    unknown = set(options) - _WITHOUT_EFFECT
    if unknown:
        if of_a_launch := sorted(unknown & _runtime.LAUNCH_WORDS):
            raise TypeError(
                f"kernel() has no option '{of_a_launch[0]}'; it stands at the launch: "
                "name[grid, block, stream, bytes of shared memory](...)"
            )
        raise TypeError(
            f"kernel() has no option '{min(unknown)}'; there are signature, checked, fastmath, fma, device, opt, "
            "max_registers and launch_bounds"
        )
    link = options.get("link")
    if function is None:
        return functools.partial(
            kernel,
            signature=signature,
            checked=checked,
            fastmath=fastmath,
            fma=fma,
            device=device,
            opt=opt,
            max_registers=max_registers,
            launch_bounds=launch_bounds,
            link=link,
        )
    if device:
        return device_function(function, signature)
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f"a kernel is made from a plain Python function, not from a {type(function).__name__}"
        )
    if link:
        from xcuda.core.foreign import sources_of

        function.__xcuda_link__ = sources_of(link)
    bounds = _bounds(launch_bounds)
    registers = _positive("max_registers", max_registers)
    return _made(function, signature, (checked, fastmath, fma, bool(opt), registers, *bounds))


jit = kernel


def _reduced(name):
    def reduce(value):
        from xcuda.core import pickled

        return getattr(pickled, name)(value)

    return reduce


copyreg.pickle(_runtime.Kernel, _reduced("reduce_kernel"))
copyreg.pickle(_runtime.Configured, _reduced("reduce_configured"))


def check_carveout(carveout):
    """Refuses what is no preference for shared memory; the launcher itself chooses it by what a kernel uses."""
    if isinstance(carveout, str):
        if carveout.lower() not in _CARVEOUTS:
            raise ValueError(
                f"Invalid carveout value: {carveout!r}; use 'MaxL1', 'MaxShared', 'default' or a percentage"
            )
    elif not -1 <= carveout <= 100:
        raise ValueError(f"carveout must be between -1 and 100, found {carveout}")


def _positive(name, value):
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is a whole number from 1, not {value!r}")
    return value


def _bounds(given):
    bounds = given if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(bounds) <= 3:
        raise ValueError(
            f"Got {len(bounds)} launch bounds: launch_bounds is the most threads of a block, or (threads, least "
            "resident blocks), or (threads, least resident blocks, most blocks of a cluster)"
        )
    return tuple(_positive("launch_bounds", v) for v in (*bounds, None, None)[:3])


def device_function(function=None, signature=None, **options):
    """Marks a function for kernels to call. Kernels may call any plain Python function; this only says so.

    signature: "float32(float32, int32)", or a list of such: numbers that kernels pass are converted to these types,
        and so is what comes back. options: as `kernel` takes them, without effect.
    """
    if function is None or not callable(function) or is_type(function) or is_signature(function):
        signature = signature if function is None else function
        return functools.partial(device_function, signature=signature, **options)
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"a device function is a plain Python function, not a {type(function).__name__}")
    if signature is not None:
        function.__xcuda_declared__ = declared_from(signature)
    function.py_func = function  # where numba has the plain function
    return function


def _made(function, signature, options):
    parameters = inspect.signature(function).parameters
    for p in parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            stars = "*" if p.kind is p.VAR_POSITIONAL else "**"
            raise TypeError(f"{function.__name__}: a kernel can't have '{stars}{p.name}'; name each argument")
    name_cell(function.__code__.co_filename)
    _check(function)
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    about = About(function)
    made = _runtime.Kernel(about, function.__name__, tuple(parameters), defaults, *options)
    about.kernel = made
    about.options = options
    functools.update_wrapper(made, function)
    made.__signature__ = inspect.signature(function)
    made.__call__ = made  # IPython then shows one signature, the function's
    if signature is not None:
        for one in signatures_from(signature):
            if not begin_declared(made, one):
                made.compile(one)
            about.declare(types_from(one))
        about.specialized = not isinstance(signature, list)
    else:
        begin_annotated(made, function)
    return made


INSPECTED = ("cpp", "ir", "ptx", "asm")

# What About.options holds, in its order.
OPTION_NAMES = (
    *("checked", "fastmath", "fma", "optimise"),
    *("max_registers", "most_threads", "least_blocks", "most_cluster"),
)


def clone(made, **changes):
    """A kernel of the same function with other options, by OPTION_NAMES; it has compiled nothing yet."""
    about = copy.copy(made.about)
    about.__dict__.pop("specializations", None)
    about.__dict__.pop("route", None)
    about.variants, about.declared = {}, []
    about.options = tuple(
        changes.get(name, value) for name, value in zip(OPTION_NAMES, made.about.options, strict=True)
    )
    parameters = made.__signature__.parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    about.kernel = _runtime.Kernel(about, made.__name__, tuple(parameters), defaults, *about.options)
    functools.update_wrapper(about.kernel, about.py_func)
    about.kernel.__signature__ = made.__signature__
    for declared in made.about.declared:
        about.declare(declared)
    return about.kernel


def _check(function):
    """Refuses at once what no kernel can have; a source that can't be read is told at the first call."""
    import json

    from xcuda.core.source_tree import encode, parse

    if function.__code__.co_name == "<lambda>":
        return
    try:
        tree, _, _ = parse(function)
    except (OSError, TypeError):
        return
    _runtime.check(json.dumps(encode(tree)), function.__code__.co_filename)
    if isinstance(tree, ast.FunctionDef):
        warn(tree, function.__code__.co_filename)


class About(NumbaNames):
    """What a Kernel answers beside being called; the Kernel object hands these attributes on.

    architecture: what `compile` compiles for where no target is named. only_on: what devices it is held to. A routed
    kernel's (see _runtime.tune) has route(values, shaped), which gives the kernel that runs a call.
    """

    architecture = None
    only_on = ""
    constants = ()  # by parameter, whether its value is fixed when the kernel is compiled

    def __init__(self, function, forms=None):
        self.py_func = function
        self.kernel = None
        self.captured = None
        self.forms = forms  # of a variant: what its parameters make of the function's
        self.variants = {}
        self.declared = []  # the types of each signature that the kernel was declared with

    def __getattr__(self, name):
        function = self.__dict__.get("py_func")
        if function is None or name.startswith("__"):
            raise AttributeError(name)
        from xcuda.core.elsewhere import of_a_kernel

        own = function.__name__
        raise AttributeError(f"the kernel {own} has no attribute {name!r}{of_a_kernel(name, own)}")

    def declare(self, types):
        """From now on Python numbers that a call passes become of these types, where they suit the call best."""
        self.declared.append(types)
        _runtime.declare(self.kernel, types)

    def capture(self):
        """Reads the source and its names anew; called by the runtime when a captured name changed."""
        from xcuda.core.source import capture

        self.captured = capture(self.py_func, self.forms)
        return self.captured

    def with_forms(self, forms):
        """What a variant for such arguments answers."""
        return About(self.py_func, forms)

    def variant(self, values, typed=False):
        """The kernel for a call with tuples, structs or constants, and the arguments it takes in their place.

        typed: the values are a signature's items: texts and dtypes among them are types.
        """
        from xcuda.core.structured import MOST_VARIANTS, Flat, flatten

        flat = flatten(tuple(self.kernel.__signature__.parameters), values, self.constants, typed)
        carried = self._arrays_outside()
        if carried is not None:
            names, arrays = zip(*carried.arrays, strict=True)
            forms = tuple(("captured", name) for name in names)
            flat = Flat(
                (*flat.key, carried.uses),
                (*flat.names, *names),
                (*flat.values, *arrays),
                (*flat.owners, *arrays),
                (*flat.forms, *forms),
            )
        found = self.variants.get(flat.key)
        if found is None:
            about = self.with_forms(flat.forms)
            found = _runtime.Kernel(about, self.py_func.__name__, flat.names, {}, *self.options)
            about.kernel = found
            functools.update_wrapper(found, self.py_func)
            while len(self.variants) >= MOST_VARIANTS:
                del self.variants[next(iter(self.variants))]
            self.variants[flat.key] = found
        return found, flat.values, flat.owners

    def _arrays_outside(self):
        """What was captured, where device arrays are among it; read anew when a captured name changed."""
        from xcuda.core.source import capture, unchanged

        known = self.captured
        if known is None or not all(unchanged(*c) for c in known.captures):
            known = self.captured = capture(self.py_func)
        return known if known.arrays else None

    def async_call(self, *args, **kwargs):
        """Starts the kernel on the current stream and gives an awaitable for what it writes.

        Awaiting it gives the written array (a tuple if several, None if none) or raises the kernel's error. Without
        an await it runs all the same; its error is raised by the next synchronize.
        """
        return start(self.kernel, args, kwargs)

    def async_call_of(self, configured):
        """`async_call` of kernel[grid, block]."""
        return lambda *args, **kwargs: start(configured, args, kwargs)

    def bind(self, grid, block, *args, **kwargs):
        """A launch with everything worked out: `f = k.bind(grid, block, x, y)`, then `f()` as often as wanted.

        grid and block as in k[grid, block], or both None for the shape that k(...) would choose. f() launches on the
        current stream and costs less than k[grid, block](x, y). f.rebind(x=...) gives it other arguments. It keeps its
        arguments alive.
        """
        from xcuda.core.bound import bind

        if (grid is None) != (block is None):
            raise TypeError("grid and block are both given or both None")
        return bind(self.kernel if grid is None else self.kernel[grid, block], args, kwargs)

    def bind_of(self, configured):
        """`bind` of kernel[grid, block, stream]."""
        from xcuda.core.bound import bind

        return lambda *args, **kwargs: bind(configured, args, kwargs)

    def compile(self, signature, block=None, *others, target=None):
        """Compiles for argument types without launching; gives the compiled version's figures as a dict.

        signature: "float32[:, ::1], int64", or a tuple of such types or of a call's arguments (structs and records
        too; None, functions and members of an Enum are constants of the version, as in a call). block:
        (x, y, z) or x, needed on the CPU device where the kernel has barriers; None is given back where it is missing.
        target: "sm_90" and the like compiles for a GPU that need not be here, and tells registers, local_bytes,
        shared_bytes and, for blocks of `block` (256 threads where left out), the occupancy.
        """
        from xcuda.core.structured import comes_apart, is_fixed

        block = block_given(self.py_func, signature, block, others)
        target = self.architecture if target is None else target
        if isinstance(signature, tuple) and any(comes_apart(item) or is_fixed(item) for item in signature):
            made, leaves, _ = self.variant(signature, typed=True)
            return made.compile(leaves, block, target=target)
        if target is not None:
            return _runtime.compile_for(self.kernel, types_from(signature), target, block)
        return _runtime.compile(self.kernel, types_from(signature), block)

    @property
    def specialisations(self):
        """The compiled versions: a list of dicts with signature, device, block, seconds, source, text."""
        own = _runtime.specialisations(self.kernel)
        return own + [s for variant in self.variants.values() for s in _runtime.specialisations(variant)]

    @property
    def signatures(self):
        """The argument types of each compiled version."""
        return [s["signature"] for s in self.specialisations]

    @property
    def last_launch(self):
        """Grid, block and device of the last launch, None before the first."""
        return _runtime.last_launch(self.kernel)

    def inspect_source(self, signature=None):
        """The generated C++ of the last compiled version, or of the one with this signature."""
        found = self.specialisations
        if signature is not None:
            found = [s for s in found if s["signature"] == signature]
        if not found:
            raise ValueError(
                f"{self.py_func.__name__} has not been compiled yet: call it, or use .compile(signature)"
            )
        return found[-1]["text"]

    def inspect_ir(self):
        """The typed program of the last launch, close to Python."""
        return _runtime.ir_text(self.kernel)

    def inspect(self, what="cpp", signature=None, target=None):
        """One of the kernel's texts: "ir", the typed program of the last launch; "cpp", what is compiled; "ptx"; "asm",
        the machine code of the device that it was compiled for (SASS on a GPU).

        signature: of the version with these types; None: the last one that was compiled. target: "sm_90" and the like,
        for "cpp" and "ptx", where no such GPU need be.
        """
        if what not in INSPECTED:
            near = difflib.get_close_matches(str(what), INSPECTED, 1)
            hint = f"did you mean {near[0]!r}?" if near else "there are " + ", ".join(map(repr, INSPECTED))
            raise ValueError(f"inspect() knows no text {what!r}; {hint}")
        if target is not None and what not in ("cpp", "ptx"):
            raise ValueError(f"inspect({what!r}) is of the device that it was compiled for: leave target out")
        if what == "ir":
            if signature is not None:
                raise ValueError("inspect('ir') is of the last launch: leave signature out")
            return self.inspect_ir()
        if signature is None:
            if not self.specialisations:
                name = self.py_func.__name__
                raise ValueError(f"{name} has not been compiled yet: call it, or name the signature")
            signature = self.specialisations[-1]["signature"]
        if what == "ptx":
            return self.inspect_asm(signature, target)
        types = types_from(signature)
        if target is not None:
            return _runtime.compile_for(self.kernel, types, target, None)["text"]
        if self._version(types) is None:
            self.compile(signature)
        at = self._version(types)
        return self.specialisations[at]["text"] if what == "cpp" else _runtime.assembly_text(self.kernel, at)

    def _version(self, types):
        """The number of the last compiled version for these types; None where there is none."""
        for at, version in reversed(list(enumerate(self.specialisations))):
            if types_from(version["signature"]) == types:
                return at
        return None

    def getdoc(self):
        """What `kernel?` shows: the docstring, the compiled versions and the last launch."""
        from xcuda.core.describe import description

        return description(self.py_func, self.specialisations, self.last_launch)

    def describe_briefly(self):
        """The kernel's repr."""
        versions = len(self.specialisations)
        compiled = (
            f"{versions} compiled version{'s' if versions != 1 else ''}" if versions else "not compiled yet"
        )
        return f"<kernel {self.py_func.__name__}{inspect.signature(self.py_func)}, {compiled}>"

    def attribute_names(self, kernel):
        """What dir(kernel) shows."""
        mine = [name for name in dir(type(self)) if not name.startswith("_") and name not in _INTERNAL]
        return sorted({*mine, "py_func", *object.__dir__(kernel), *vars(kernel)})


_INTERNAL = {
    *("variant", "variants", "declare", "declared", "forms", "options", "capture", "captured"),
    *("describe_briefly", "attribute_names", "async_call_of", "bind_of", "kernel", "about", "route"),
    *("with_forms", "constants", "tile_size", "as_target", "plan", "planned", "marked"),
}


def start(callee, args, kwargs):
    """Starts a Kernel or a configured one and gives its Launch."""
    launched = _runtime.begin(callee, args, kwargs)
    kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
    bound = kernel.__signature__.bind(*args, **kwargs)
    bound.apply_defaults()
    values = list(bound.arguments.values())
    if launched.structured:
        kernel, _, owners = kernel.variant(tuple(values))
        parts = [owners[i] for i in _runtime.written_by_last(kernel)]
        written = [part for i, part in enumerate(parts) if all(part is not other for other in parts[:i])]
    else:
        written = [values[i] for i in _runtime.written_by_last(callee)]
    return Launch(launched, written[0] if len(written) == 1 else tuple(written) or None, kernel.__name__)


class Launch:
    """A kernel that was started: await it for what it writes."""

    __slots__ = ("_launched", "_result", "_name")

    def __init__(self, launched, result, name):
        self._launched, self._result, self._name = launched, result, name

    def done(self):
        """True if the kernel has ended, well or not."""
        return self._launched.done

    def __await__(self):
        if not self._launched.done:
            import asyncio

            from xcuda.core.streams import resolve_soon

            loop = asyncio.get_running_loop()
            future = loop.create_future()
            self._launched.call_when_done(lambda: resolve_soon(loop, future))
            try:
                yield from future
            except KeyboardInterrupt:
                _runtime.stop_kernels()
                raise
        if self._launched.stopped:  # whoever was interrupted has told of it: a task that waits is cancelled
            import asyncio

            raise asyncio.CancelledError(f"an interrupt stopped {self._name}")
        self._launched.tell()
        return self._result

    def __repr__(self):
        return f"<launch of {self._name}, {'done' if self.done() else 'running'}>"
