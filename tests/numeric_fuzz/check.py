"""Runs programs in numeric beside NumPy and says where they part."""

import warnings

import numpy
from programs import Program, environment, execute

_NEAR = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4, "float64": 1e-8, "complex128": 1e-8}


def fault_of(lines, rough):
    """None, or (the statement's place, what differs) for the first difference between numeric and NumPy."""
    from xcuda import numeric

    theirs, ours = environment(numpy), environment(numeric)
    largest, near = 1.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, line in enumerate(lines):
            expected, found = execute(line, theirs), execute(line, ours)
            if expected != found:
                return place, f"NumPy: {expected or 'no error'}; numeric: {found or 'no error'}"
            for a in _arrays(theirs).values():
                if a.dtype.kind in "fc" and a.size:
                    largest = max(largest, float(abs(a).max()))
                    near = max(near, _NEAR[a.dtype.name])
        for name, a in _arrays(theirs).items():
            if told := _difference(a, ours.get(name), near if rough else 0, largest):
                return len(lines) - 1, f"{name}: {told}"
    return None


def _arrays(env):
    return {n: a for n, a in env.items() if n[0] == "v" and isinstance(a, numpy.ndarray)}


def _difference(expected, found, near, largest):
    if found is None or not hasattr(found, "shape"):
        return f"is {found!r}"
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype}{found.shape}, in NumPy {expected.dtype}{expected.shape}"
    if _steps(found) != _steps(expected):
        return f"has the strides {found.strides}, in NumPy {expected.strides}"
    values = found.get() if hasattr(found, "get") else numpy.asarray(found)
    if expected.dtype.kind not in "fc":
        same = numpy.array_equal(values, expected)
    elif near:
        same = numpy.allclose(values, expected, near, near * largest, equal_nan=True)
    else:
        same = numpy.array_equal(values, expected, equal_nan=True)
    return None if same else f"{values.tolist()}, in NumPy {expected.tolist()}"


def _steps(a):
    """Strides along axes of more than one element."""
    return [step for n, step in zip(a.shape, a.strides, strict=True) if n > 1] if a.size else []


def shortest(lines, rough):
    """The program without the statements that its fault does not need."""
    at, _ = fault_of(lines, rough)
    lines, i = lines[: at + 1], 0
    while i < len(lines):
        fewer = lines[:i] + lines[i + 1 :]
        try:
            fault = fewer and fault_of(fewer, rough)
        except Exception:
            fault = None
        if fault and "NameError" not in fault[1]:
            lines = fewer[: fault[0] + 1]
        else:
            i += 1
    return lines


def check(seed):
    """None where the program of a seed runs alike; else its shortest form and what differs, as text."""
    program = Program(seed)
    rough = bool(program.rough)
    fault = fault_of(program.lines, rough)
    if fault is None:
        return None
    lines = shortest(program.lines, rough)
    at, what = fault_of(lines, rough)
    return "\n".join([f"seed {seed}:", *(f"    {line}" for line in lines), f"  {what}"])
