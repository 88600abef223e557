"""numba's exceptions, each as the one that xcuda raises in its place."""

from xcuda.core import KernelSyntaxError
from xcuda.core.errors import XcudaError

TypingError = NumbaTypeError = LoweringError = UnsupportedError = ConstantInferenceError = KernelSyntaxError
ForceLiteralArg = UnsupportedBytecodeError = CompilerError = NumbaValueError = NumbaNotImplementedError = (
    KernelSyntaxError
)
NumbaError = KernelSyntaxError
InternalError = XcudaError


class NumbaWarning(Warning):
    """xcuda has no warnings of these kinds: what waits for one fails."""


class NumbaPerformanceWarning(NumbaWarning):
    """See NumbaWarning."""


class NumbaDebugInfoWarning(NumbaWarning):
    """See NumbaWarning."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """See NumbaWarning."""


class NumbaDeprecationWarning(NumbaWarning):
    """See NumbaWarning."""
