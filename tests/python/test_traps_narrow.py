"""8 and 16 bit integers, which C++ computes in int: every operator's result is back in its type before a wider one uses it.

A GPU's fuzzer found int32(-x) of int16 -32768 to be 32768: ptxas extends the sign first and negates then. Comparisons
extend too: -x == 32768 was false for uint16 32768.
"""

import re

import numpy as np
import pytest
from frontend_source import TARGETS, make, run
from xcuda import _runtime, core

NARROW = ["int8", "int16", "uint8", "uint16"]

# The kernel's expression of a and b, and NumPy's where it is spelled otherwise.
OPERATIONS = [
    ("-a", None), ("~a", None), ("+a", None), ("a + b", None), ("a - b", None), ("a * b", None), ("a & b", None),
    ("a | b", None), ("a ^ b", None), ("a // (b | 1)", None), ("a % (b | 1)", None), ("a ** 2", None), ("a ** 3", None),
    ("a ** (b & 3)", None), ("a << (b & 7)", None), ("a >> (b & 7)", None), ("a << 3", None), ("a >> 1", None),
    ("a // 8", None), ("a % 8", None), ("a // 7", None), ("abs(a)", None), ("round(a)", "a"),
    ("min(a, b)", "np.minimum(a, b)"), ("max(-a, b)", "np.maximum(-a, b)"),
    ("divmod(a, b | 1)[0]", "a // (b | 1)"), ("divmod(a, b | 1)[1]", "a % (b | 1)"),
    ("np.negative(a)", None), ("np.positive(a)", None), ("np.invert(a)", None), ("np.square(a)", None),
    ("np.abs(a)", None), ("np.absolute(-a)", None), ("np.sign(-a)", None), ("np.minimum(-a, b)", None),
    ("np.maximum(a, ~b)", None), ("np.add(a, b)", None), ("np.subtract(a, b)", None), ("np.multiply(a, b)", None),
    ("np.floor_divide(a, b | 1)", None), ("np.remainder(a, b | 1)", None), ("np.bitwise_xor(a, b)", None),
    ("np.left_shift(a, b & 7)", None), ("np.right_shift(-a, b & 7)", None), ("np.where(b > 3, -a, b)", None),
    ("np.clip(-a, 3, 100)", None), ("-a if b > 3 else b", "np.where(b > 3, -a, b)"), ("-a + b", None),
    ("-(a + b)", None), ("-(a * b)", None), ("(a + b) * b - a", None), ("(a - b) - a", None), ("0 - a", None),
    ("5 - a", None), ("~a + 1", None), ("a * 3 - a * 4", None), ("(a ^ T(127)) + 1", None), ("-(-a)", None),
    ("T(-np.int32(a))", "(-a.astype(np.int32)).astype(T)"), ("T(0) - a", None), ("T(-np.int64(a) * 3)", "(-a.astype(np.int64) * 3).astype(T)"),
    ("T(a > b) - a", "(a > b).astype(T) - a"), ("sum((a, b, a))", "(a + b + a)"), ("math_neg(a)", "-a"),
]  # fmt: skip
SIGNED_ONLY = [("a * -1", None), ("a // -1", None), ("a // T(-1)", None), ("a % -7", None), ("-a // 7", None)]

# The kernel's use of x, NumPy's where it is spelled otherwise, and the type stored.
USES = [
    ("np.int32(x)", "x.astype(np.int32)", "int32"),
    ("np.int64(x)", "x.astype(np.int64)", "int64"),
    ("np.uint64(x)", "x.astype(np.uint64)", "uint64"),
    ("np.float32(x)", "x.astype(np.float32)", "float32"),
    ("np.float64(x) / 3", "x.astype(np.float64) / 3", "float64"),
    ("x < b", None, "bool"),
    ("x == np.int32(32768)", None, "bool"),
    ("np.int32(x) * np.int32(b)", "x.astype(np.int32) * b", "int32"),
    ("x // 7", None, "int64"),
    ("x >> 1", None, "int64"),
    ("_table[x]", None, "int64"),
    ("w + x", None, "int32"),
]


def operations(dtype):
    return OPERATIONS + (SIGNED_ONLY if np.iinfo(dtype).min else [])


def values(dtype):
    """All pairs of the ends, of what lies beside them and beside 0, and random numbers."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(5)
    near = {
        limits.min,
        limits.min + 1,
        limits.max,
        limits.max - 1,
        limits.max // 2 + 1,
        limits.min // 2,
        0,
        1,
        2,
        7,
    }
    edges = np.array(sorted(near | ({-1, -2} if limits.min else set())), dtype)
    a, b = (x.ravel() for x in np.meshgrid(edges, edges))
    more = rng.integers(limits.min, limits.max, (2, 300), dtype=dtype, endpoint=True)
    return np.concatenate([a, more[0]]), np.concatenate([b, more[1]])


TABLE = np.arange(65536) * 3


def kernel_of(dtype, use, stored):
    lines = "".join(
        f"        x = {expression}\n        o[{k}, i] = {use}\n"
        for k, (expression, _) in enumerate(operations(dtype))
    )
    return make(
        "def math_neg(v):\n    return -v\n"
        "def f(A, B, _table, o):\n    i = cuda.grid(1)\n    if i < o.shape[1]:\n"
        "        a = A[i]\n        b = B[i]\n        w = np.int32(1)\n" + lines,
        name="f",
        T=np.dtype(dtype).type,
    )


@pytest.mark.parametrize("use", USES, ids=lambda u: u[0])
@pytest.mark.parametrize("dtype", NARROW)
def test_a_result_is_narrow_before_it_is_used(dtype, use):
    kernel_use, numpy_use, stored = use
    a, b = values(dtype)
    out = np.zeros((len(operations(dtype)), len(a)), stored)
    run(kernel_of(dtype, kernel_use, stored), a, b, TABLE, out, grid=-(-len(a) // 64), block=64)
    names = {"np": np, "a": a, "b": b, "T": np.dtype(dtype).type, "w": np.int32(1), "_table": TABLE}
    with np.errstate(all="ignore"):
        for k, (expression, numpys) in enumerate(operations(dtype)):
            x = eval(numpys or expression, names)
            assert x.dtype == dtype, expression
            want = eval(numpy_use or kernel_use, {**names, "x": x})
            np.testing.assert_array_equal(out[k], want, err_msg=f"x = {expression}, then {kernel_use}")


@pytest.mark.parametrize("dtype", NARROW)
def test_augmented_assignments(dtype):
    operators = ["+=", "-=", "*=", "//=", "%=", "<<=", ">>=", "&=", "|=", "^="]
    lines = ""
    for k, op in enumerate(operators):
        right = "(b | T(1))" if op in ("//=", "%=") else "(b & T(7))" if op in ("<<=", ">>=") else "b"
        lines += f"        v = A[i]\n        v {op} {right}\n        o[{k}, i] = np.int32(v)\n"
        lines += f"        E[{k}, i] {op} {right}\n        o[{k + len(operators)}, i] = np.int32(E[{k}, i])\n"
    f = make(
        "def f(A, B, E, o):\n    i = cuda.grid(1)\n    if i < o.shape[1]:\n        b = B[i]\n" + lines,
        T=np.dtype(dtype).type,
    )
    a, b = values(dtype)
    elements, out = np.tile(a, (len(operators), 1)), np.zeros((2 * len(operators), len(a)), "int32")
    run(f, a, b, elements, out, grid=-(-len(a) // 64), block=64)
    for k, op in enumerate(operators):
        right = b | np.dtype(dtype).type(1) if op in ("//=", "%=") else b & 7 if op in ("<<=", ">>=") else b
        with np.errstate(all="ignore"):
            want = eval(f"a {op[:-1]} right", {"a": a, "right": right})
        for got in (out[k], out[k + len(operators)], elements[k]):
            np.testing.assert_array_equal(got, want, err_msg=op)


@pytest.mark.parametrize("dtype", NARROW)
def test_vector_lanes_and_atomics(dtype):
    """Four elements a thread, a store that is wider than what is computed, and what an atomic operation gives back."""
    f = make("""
        def f(a, b, o, p):
            i = cuda.grid(1)
            if i < o.size:
                o[i] = np.int32(-a[i]) + (b[i] - a[i])
                p[i] = -a[i]
    """)
    a, b = values(dtype)
    o, p = np.zeros(len(a), "int32"), np.zeros(len(a), "float32")
    run(f, a, b, o, p, grid=-(-len(a) // 64), block=64)
    np.testing.assert_array_equal(o, (-a).astype("int32") + (b - a))
    np.testing.assert_array_equal(p, -a)


@pytest.mark.parametrize("dtype", NARROW)
def test_the_cuda_text_casts_each_result(dtype):
    """Each operation on narrow integers in the text is cast back at once; 16-bit ones so that no negation is left in the PTX."""
    nvrtc_or_skip()
    kernel = core.kernel(kernel_of(dtype, "np.int32(x)", "int32"))
    text = cuda_text(kernel.py_func, dtype)
    short = dtype.replace("int", "i").replace("ui", "u")
    word = rf"(?:xc_cast<{short}>|{f'xc_{dtype}|' if '16' in dtype else ''}[(]{short}[)])"
    for bare in (
        r"(?:xc_low\()?\(-xc_cast<u32>\(a\)\)",
        r"\(~a\)",
        r"\(a \+ b\)",
        r"\(a - b\)",
        r"\((?:xc_cast<u32>\()?a\)? \* (?:xc_cast<u32>\()?b\)?\)",
        r"\(a \^ b\)",
    ):
        found = re.findall(rf"(\S*?){bare}", text)
        assert found and all(re.search(word + r"\(?$", before) for before in found), (bare, found)


NEGATED = re.compile(r"\b(?:neg|abs)\.s16\b|\bsub\.s16\s+\S+ 0,")


@pytest.mark.parametrize("use", USES, ids=lambda u: u[0])
@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_no_16_bit_negation_is_left_in_the_ptx(dtype, use):
    """ptxas extends the sign of neg.s16 and of abs.s16 wrongly, whatever the operation was that the compiler made it of."""
    nvrtc_or_skip()
    kernel_use, _, stored = use
    kernel = core.kernel(kernel_of(dtype, kernel_use, stored))
    a, b = values(dtype)
    out = np.zeros((len(operations(dtype)), len(a)), stored)
    for target in TARGETS:
        found = NEGATED.search(kernel.inspect_asm((a, b, TABLE, out), target=target))
        assert not found, (target, found)


# 16 bits of what a wider type computes, which the compiler computes in 16 bits alone.
LOW_BITS = [
    ("(-np.int32(a)) & 65535", None), ("(-np.int64(a)) & 65535", None), ("(-np.int32(a)) % 65536", None),
    ("(0 - np.uint32(a)) & np.uint32(65535)", "(0 - a.astype(np.uint32)) & np.uint32(65535)"),
    ("np.int32(a) * -1 & 65535", None), ("np.int32(a) * 65535 & 65535", None), ("abs(np.int32(a)) & 65535", None),
    ("np.uint16(-np.int32(a))", "(-a.astype(np.int32)).astype(np.uint16)"),
    ("np.uint16(-np.int64(a))", "(-a.astype(np.int64)).astype(np.uint16)"),
    ("np.int16(-np.int32(a))", "(-a.astype(np.int32)).astype(np.int16)"),
    ("np.int16(abs(np.int64(a)))", "abs(a.astype(np.int64)).astype(np.int16)"),
    ("-np.int32(a) & 40000", None), ("(np.int32(a) ^ -1) + 1 & 65535", None), ("-(a << T(3))", None), ("~(a - T(1))", None),
    ("a if a > 5 else -a", "np.where(a > 5, a, -a)"),
    ("abs(np.int32(a))", None), ("np.int32(a) if a >= 0 else -np.int32(a)", "abs(a.astype(np.int32))"),
    ("max(np.int64(a), -np.int64(a))", "abs(a.astype(np.int64))"),
    ("0 - np.int32(a) if a < 0 else np.int32(a)", "abs(a.astype(np.int32))"), ("np.int32(a) * np.sign(np.int32(a))", "abs(a.astype(np.int32))"), ("max(a, T(4)) - max(a, T(4)) - a", "-a"), ("a * T(-1 & M)", "-a"),
]  # fmt: skip
LOW_USES = ["x == 32768", "x > 32767", "x == h", "np.int64(x)", "np.int16(x) < 0", "np.float32(x)"]


@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_low_bits_of_wider_negations(dtype):
    """So of int32 and int64: their masked or cast negations are 16-bit ones to the compiler, where the operand has no more."""
    type_ = np.dtype(dtype).type
    wrap = np.array(65535).astype(dtype).item()
    lines = "".join(
        f"        x = {expression}\n        o[{k * len(LOW_USES) + m}, i] = {use}\n"
        for k, (expression, _) in enumerate(LOW_BITS)
        for m, use in enumerate(LOW_USES)
    ).replace("T(-1 & M)", f"T({wrap})")
    # One variable each, since a variable has one type.
    parts = lines.split("        x = ")
    lines = parts[0] + "".join(
        re.sub(r"\bx\b", f"x{k}", "        x = " + part) for k, part in enumerate(parts[1:])
    )
    f = make(
        "def f(A, B, o):\n    i = cuda.grid(1)\n    if i < o.shape[1]:\n"
        "        a = A[i]\n        h = np.uint16(B[i])\n" + lines,
        name="f",
        T=type_,
    )
    a, b = values(dtype)
    out = np.zeros((len(LOW_BITS) * len(LOW_USES), len(a)), "float64")
    run(f, a, b, out, grid=-(-len(a) // 64), block=64)
    names = {"np": np, "a": a, "h": b.astype(np.uint16), "T": type_}
    with np.errstate(all="ignore"):
        for k, (expression, numpys) in enumerate(LOW_BITS):
            source = numpys or re.sub(r"np\.(u?int\d+)\(a\)", r"a.astype(np.\1)", expression)
            x = eval(source, names)
            for m, use in enumerate(LOW_USES):
                want = eval(
                    re.sub(r"np\.(int64|int16|float32)\(x\)", r"x.astype(np.\1)", use), {**names, "x": x}
                )
                np.testing.assert_array_equal(
                    out[k * len(LOW_USES) + m], want, err_msg=f"x = {expression}, then {use}"
                )
    if _nvrtc():
        for target in TARGETS:
            found = NEGATED.search(core.kernel(f).inspect_asm((a, b, out), target=target))
            assert not found, (target, found)


def _nvrtc():
    nvrtc = next((row for row in _runtime.libraries() if row["name"] == "NVRTC"), None)
    return nvrtc is not None and not nvrtc["problem"]


def nvrtc_or_skip():
    if not _nvrtc():
        pytest.skip("no NVRTC here, so nothing compiles for CUDA")


def cuda_text(function, dtype):
    from xcuda.core.source import capture

    c = capture(function)
    types = [("array", dtype, 1, "contiguous")] * 2 + [("array", "int64", 1, "contiguous")]
    types.append(("array", "int32", 2, "contiguous"))
    return _runtime.emit_text(c.name, c.file, c.ast_json, c.names_json, types, True, "cuda", None)
