"""`check` and `checking`: one launch, or every launch of a while, before it starts."""

from __future__ import annotations

import contextlib

import numpy as np

from xcuda import _runtime
from xcuda.check.copies import host_copies
from xcuda.check.report import Finding, Launch, Report

ORDERS, ALIKE = 3, 10
WHERE = {
    None: "",
    "cpu": "cpu",
    "gpu": "gpu",
    "shadow": "shadow",
}  # shadow: the GPU's form on the CPU device, for tests


def rules() -> dict[str, str]:
    """What is looked for: {name: one line}."""
    return dict(_runtime.check_rules())


class _Looked(BaseException):
    """Ends a launch that was only to be looked at."""


def check(kernel, *arguments, orders=ORDERS, seed=0, finite=True, steps=None, on=None) -> Report:
    """Checks one launch of a kernel, or of kernel[grid, block], over copies; nothing that the caller holds is changed.

    It runs `orders` times: first with threads and blocks as they are numbered, then in orders drawn from `seed`, from
    the third on with threads that take turns at their accesses. finite: say where an inf or nan is made of finite
    numbers. steps: accesses of a run that are looked at; 20 million on the CPU device and all on a GPU by default.
    on: "cpu", the default where there is a CPU device, whatever device the arrays are on; or "gpu", by shadow memory of
    the GPU, for launches that are too large for the CPU device.

    cuda.device_array's elements count as unset only in arrays that are made inside `with checking()`.
    Raises TypeError for what is no kernel, RuntimeError where there is no GPU, and what the call itself would raise for
    such arguments.
    """
    if not isinstance(kernel, (_runtime.Kernel, _runtime.Configured)):
        raise TypeError(f"check takes a kernel, or kernel[grid, block], not {type(kernel).__name__}")
    session = _Session(orders, seed, finite, steps, on)

    def look(callee, values):
        session.look(callee, values)
        raise _Looked

    with contextlib.suppress(_Looked), _hooked(look):
        kernel(*arguments)
    return session.report


@contextlib.contextmanager
def checking(*, orders=ORDERS, seed=0, finite=True, steps=None, alike=ALIKE, on=None):
    """Checks each launch of the block before it starts, as `check` does; the block's own results are as without it.

    alike: launches of one kernel with one shape and arrays of the same lengths that are looked at; those after them
    run unchecked. An index out of range in a kernel that has no checks of its own (checked=False) raises an IndexError
    instead of being launched; on a GPU, a barrier that only some threads of a block meet a RuntimeError, since it may
    wait there for ever. Arrays of cuda.device_array that are made here hold a pattern that stands for "unset".

    Gives the Report, which grows with the launches.
    """
    session = _Session(orders, seed, finite, steps, on, alike)
    with _hooked(session.look_and_launch), session.arrays_unset():
        yield session.report


@contextlib.contextmanager
def _hooked(hook):
    before = _runtime.set_launch_hook(hook)
    try:
        yield
    finally:
        _runtime.set_launch_hook(before)


class _Session:
    def __init__(self, orders, seed, finite, steps, on, alike=None):
        for name, value in (("orders", orders), ("steps", 1 if steps is None else steps)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is a whole number from 1, not {value!r}")
        if on not in WHERE:
            raise ValueError(f"on is 'cpu' or 'gpu', not {on!r}")
        self.options = (orders, seed & (2**64 - 1), 0 if steps is None else steps, finite)
        self.on = WHERE[on]
        self.alike = alike
        self.report = Report()
        self.counts: dict[tuple, int] = {}
        self.unset: set = set()  # the memory of arrays that were made with a pattern
        self.pattern = np.frombuffer(_runtime.unset_pattern(), np.uint8)

    @contextlib.contextmanager
    def arrays_unset(self):
        from xcuda.core import arrays

        before = arrays.made_empty
        arrays.made_empty = self.fill
        try:
            yield
        finally:
            arrays.made_empty = before

    def fill(self, array) -> None:
        if array.nbytes and array.dtype.kind in "iufc":
            array.copy_to_device(np.resize(self.pattern, array.nbytes).view(array.dtype).reshape(array.shape))
            self.unset.add(array._memory[0])

    def is_unset(self, value) -> bool:
        return isinstance(value, _runtime.ArrayBase) and value._memory[0] in self.unset

    def look_and_launch(self, callee, values) -> None:
        launch = self.look(callee, values)
        kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
        found = {f.rule: f for f in reversed(launch.findings)} if launch else {}
        outside, parted = found.get("out-of-range"), found.get("divergent-barrier")
        if outside and not kernel.about.options[0]:
            raise IndexError(f"{kernel.__name__} was not launched: {outside.evidence}")
        if parted and _runtime.current_device_label().startswith("cuda"):
            raise RuntimeError(
                f"{kernel.__name__} was not launched: {parted.evidence}. A GPU may wait at such a barrier for ever"
            )

    def look(self, callee, values) -> Launch | None:
        kernel = callee.kernel if isinstance(callee, _runtime.Configured) else callee
        shape = (callee.grid, callee.block) if isinstance(callee, _runtime.Configured) else None
        lengths = tuple(getattr(v, "shape", None) for v in values)
        key = (kernel.__name__, id(kernel), shape, lengths)
        self.counts[key] = self.counts.get(key, 0) + 1
        if self.alike is not None and self.counts[key] > self.alike:
            self.skip(kernel, f"the first {self.alike} like them were")
            return None
        before = _runtime.set_launch_hook(None)  # what copies and checks launch themselves is not the user's
        try:
            orders, seed, steps, finite = self.options
            found = _runtime.check_launch(
                callee,
                tuple(host_copies(values)),
                orders,
                seed,
                steps,
                finite,
                [self.is_unset(v) for v in values],
                self.on,
            )
        finally:
            _runtime.set_launch_hook(before)
        if found is None:
            self.skip(kernel, "the threads of a tile kernel are the compiler's")
            return None
        launch = Launch(
            kernel=kernel.__name__,
            grid=found["grid"],
            block=found["block"],
            findings=tuple(Finding(**row) for row in found["findings"]),
            notes=tuple(found["notes"]),
            orders=found["orders"],
            steps=found["steps"],
            complete=not found["cut"],
            fault=found["fault"] or "",
            device=found["device"],
        )
        self.report.launches.append(launch)
        return launch

    def skip(self, kernel, why: str) -> None:
        key = (kernel.__name__, why)
        self.report.skipped[key] = self.report.skipped.get(key, 0) + 1
