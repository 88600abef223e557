"""What Tab offers: the kernel language's names inside a kernel, options and their values behind a magic."""

from __future__ import annotations

import io
import re
import tokenize

DECORATOR = re.compile(r"(?:\w+\.)*(?:kernel|jit|compile_kernel)\b")
NAME = re.compile(r"(?:[^\W\d]\w*\.)*[^\W\d]?\w*\Z")

# Coordinates, memory and barriers are objects of xcuda.core; the functions are the runtime's table.
MODULES = ("cuda", "math", "np", "numpy")


def kernel_completions(code: str, cursor_pos: int) -> tuple[list[str], int, int] | None:
    if not inside_kernel(code, cursor_pos):
        return None
    typed = NAME.search(code, 0, cursor_pos)
    start, prefix = typed.start(), typed[0]
    head, dot, tail = prefix.rpartition(".")
    if not prefix or start and code[start - 1] in ".\"'":
        return None
    names = (
        sorted(n for n in _names() if n.startswith(prefix))
        if dot
        else sorted({n.partition(".")[0] for n in _names() if n.startswith(tail)})
    )
    return (names, start, cursor_pos) if names else None


def inside_kernel(code: str, position: int) -> bool:
    """Whether `position` is in the body of a function under a kernel decorator. Works on unfinished code."""
    before = code[:position]
    lines = before.split("\n")
    here = _indent(lines[-1]) if lines[-1].strip() else len(lines[-1])
    for i in range(len(lines) - 2, -1, -1):
        line = lines[i]
        if not line.strip() or line.lstrip().startswith("#") or _indent(line) >= here:
            continue
        here = _indent(line)
        if re.match(r"\s*(async\s+)?def\b", line) and _decorated(lines, i) and not _in_string(before):
            return True
        if here == 0:
            return False
    return False


def _decorated(lines: list[str], at: int) -> bool:
    """Whether the `def` of lines[at] stands under a kernel decorator, which may span lines."""
    indent = _indent(lines[at])
    while at > 0:
        at -= 1
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if _indent(line) == indent and line.lstrip().startswith("@"):
            if DECORATOR.match(line.strip()[1:].strip()):
                return True
        elif _indent(line) == indent and not line.lstrip().startswith(")"):
            return False
    return False


def _in_string(code: str) -> bool:
    try:
        for _ in tokenize.generate_tokens(io.StringIO(code).readline):
            pass
    except tokenize.TokenError as error:
        return "string" in str(error)
    except SyntaxError:
        return False
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _names() -> set[str]:
    from xcuda import _runtime
    from xcuda.core import language

    names = {
        spelling.replace("numpy.", module + ".", 1)
        for _, spellings, *_ in _runtime.kernel_functions()
        for spelling in spellings
        for module in (("numpy", "np") if spelling.startswith("numpy.") else ("",))
    }
    for name in language.__all__:
        value = getattr(language, name)
        if isinstance(value, type):
            continue
        names.add(f"cuda.{name}")
        names.update(f"cuda.{name}.{part}" for part in _parts(value))
    return names


def _parts(value) -> list[str]:
    kind = type(value).__name__
    if kind == "Coordinate":
        return ["x", "y", "z"]
    return (
        [p for p in vars(value) if not p.startswith("_") and callable(getattr(value, p))]
        if kind == "Namespace"
        else []
    )


def option_completions(shell, line: str, word: str) -> list[str]:
    """Options of the magic that `line` begins with, or values of the one before `word`, that go on from `word`."""
    name, _, rest = line.lstrip().partition(" ")
    magic = _magic(shell, name)
    if magic is None:
        return []
    before = rest.split()
    if word and before and before[-1] == word:
        before.pop()
    return sorted(value for value in _offers(shell, magic, before, word) if value.startswith(word))


def _magic(shell, name: str):
    """The magic function with its parser; None for a name that is no magic of ours."""
    kind = "cell" if name.startswith("%%") else "line"
    found = shell.magics_manager.magics[kind].get(name.lstrip("%"))
    found = found.loaded() if hasattr(found, "loaded") else found
    return found if hasattr(found, "parser") else None


def _offers(shell, magic, before: list[str], word: str) -> list[str]:
    options = magic.parser._option_string_actions
    last = next((options[w] for w in reversed(before) if w in options), None)
    # The word is the value of an option where that stands right before it, or takes several.
    valued = last is not None and last.nargs != 0 and (before[-1] in options or last.nargs == "+")
    if valued and not word.startswith("-"):
        return list(last.choices or (_metrics() if last.dest == "metrics" else ()))
    if word.startswith("-"):
        return [name for name in options if name not in before]
    positional = [a for a in magic.parser._actions if not a.option_strings]
    if not positional:
        return []
    if positional[0].dest == "kernel" and not before:
        return _kernels(shell)
    return list(positional[0].choices or ())


def _metrics() -> list[str]:
    from xcuda.profiler import METRICS

    return list(METRICS)


def _kernels(shell) -> list[str]:
    import sys

    runtime = sys.modules.get("xcuda._runtime")
    if runtime is None:
        return []
    return [name for name, value in shell.user_ns.items() if isinstance(value, runtime.Kernel)]
