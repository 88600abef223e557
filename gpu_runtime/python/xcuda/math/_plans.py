"""What stateful plans have in common: plan, execute, reset_operands, free."""

from __future__ import annotations

from ._jit import Call, Jit


class Plan:
    """Operands, a function that is captured for them, and its program."""

    def __init__(self, operands, precision):
        self._operands = dict(operands)
        self._precision = precision
        self._function = None
        self._jit = None
        self._freed = False

    def _expect_alive(self):
        if self._freed:
            raise RuntimeError(f"this {type(self).__name__} was freed; make another one")

    def plan(self):
        """Captures and compiles for the operands' shapes and dtypes; `execute` does it where it has not been done."""
        self._expect_alive()
        if self._jit is None:
            self._jit = Jit(self._function, self._precision)
        Call(self._jit, self._arguments(), {}).program()
        return self

    def execute(self):
        """The result for the operands as they are now."""
        self._expect_alive()
        if self._jit is None:
            self.plan()
        return self._jit(*self._arguments())

    def explain(self):
        """What `execute` becomes: kernels, library calls and bytes."""
        self._expect_alive()
        if self._jit is None:
            self.plan()
        return self._jit.explain(*self._arguments())

    def reset_operands(self, *given, **operands):
        """Other operands, in order or by name; those of the same dtype and number of axes need no other plan."""
        self._expect_alive()
        if len(given) > len(self._operands):
            raise TypeError(f"{len(given)} operands were given; there are {', '.join(self._operands)}")
        operands = dict(zip(self._operands, given, strict=False)) | operands
        unknown = set(operands) - set(self._operands)
        if unknown:
            raise TypeError(
                f"there is no operand {sorted(unknown)[0]!r}; there are {', '.join(self._operands)}"
            )
        for name, value in operands.items():
            if (value is None) != (self._operands[name] is None):
                raise ValueError(
                    f"operand {name!r} was {'left out' if value is not None else 'given'} when this was made"
                )
        self._operands.update(operands)

    def free(self):
        """Lets go of operands and programs."""
        self._operands = dict.fromkeys(self._operands)
        self._jit = None
        self._freed = True

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.free()

    def _arguments(self):
        raise NotImplementedError
