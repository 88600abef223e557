from numba.absent import Absent


def signature(returned, *arguments):
    """A signature of kernel types."""
    return returned(*arguments)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"numba.cuda.typing.{name}")
