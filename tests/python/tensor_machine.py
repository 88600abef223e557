"""A tile kernel's CUDA text for sm_100a or sm_75, run on the host by tensor_machine.hpp: what descriptors, barriers, fragments and
the layout of tensor memory do, by the PTX ISA's words, where there is no such GPU.

The text is what NVRTC gets, through the host's preprocessor; each `asm` becomes a call of the machine.
"""

import ctypes
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from host_cuda import COMPILER, HALF, need_compiler

MACHINE = Path(__file__).with_suffix(".hpp")
# What an instruction's text begins with (within its braces) and the machine's name for it.
INSTRUCTIONS = (
    (r"mbarrier\.init", "host_make_barrier"),
    (r"mbarrier\.arrive\.expect_tx", "host_expect"),
    (r"mbarrier\.arrive\.", "host_arrive"),
    (r".*mbarrier\.try_wait\.parity", "host_wait"),
    (r"cp\.async\.bulk\.tensor\.2d", "host_box2"),
    (r"cp\.async\.bulk\.tensor\.3d", "host_box3"),
    (r"tcgen05\.alloc", "host_allocate"),
    (r"tcgen05\.dealloc", "host_release"),
    (r"tcgen05\.commit", "host_commit"),
    (r"tcgen05\.wait::ld", "host_loaded"),
    (r".*elect\.sync", "host_elect"),
    (r"bar\.sync 1, ", "host_meet_some"),
    (r"exit;", "host_exit"),
    (r"max\.NaN\.f32", "host_max"),
    (r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.f16\.f16\.f32", "host_mma_m16n8k8"),
    (r"mma\.sync\.aligned\.m8n8k16\.row\.col\.s32\.s8", "host_mma_m8n8k16<signed char>"),
    (r"mma\.sync\.aligned\.m8n8k16\.row\.col\.s32\.u8", "host_mma_m8n8k16<unsigned char>"),
    (r"fence\.|tcgen05\.fence|tcgen05\.relinquish|setmaxnreg|$", "host_nothing"),
)
RUN = """
extern "C" const char* host_run(const void* arguments, void* fault, unsigned across, unsigned down, unsigned count,
                                unsigned seed, int lazy) {
    machine::fault.clear();
    machine::chance.seed(seed);
    gridDim = {across, down, 1};
    blockDim = {count, 1, 1};
    for (unsigned b = 0; b < across * down && machine::fault.empty(); ++b) {
        blockIdx = {b % across, b / across, 0};
        machine::run_block([&] { ENTRY(*(const ENTRY_arguments*)arguments, (xc_fault*)fault); }, count, lazy != 0);
    }
    return machine::fault.c_str();
}
"""


def closing(text, at):
    """Where the parenthesis that opens at `at` closes; strings are passed over."""
    depth = 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[()]', text[at:]):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return at + token.start()
    raise ValueError("a parenthesis that does not close")


def at_top(text, separator):
    """The parts of a text between separators that no parenthesis and no string holds."""
    parts, depth, begin = [], 0, 0
    for token in re.finditer(r'"(?:\\.|[^"\\])*"|[()\[\]]|' + re.escape(separator), text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token[0], 0)
        if token[0] == separator and depth == 0:
            parts.append(text[begin : token.start()])
            begin = token.end()
    return [*parts, text[begin:]]


def operands(text):
    found = []
    for part in at_top(text, ","):
        if part.strip():
            found.append(part[part.index("(") + 1 : part.rindex(")")])
    return found


def call_of(inside):
    """What stands for `asm(inside)`."""
    template, *rest = at_top(inside, ":")
    words = (
        "".join(re.findall(r'"((?:\\.|[^"\\])*)"', template))
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .strip()
    )
    outputs, inputs = (operands(rest[i]) if len(rest) > i else [] for i in (0, 1))
    if kind := re.search(r"tcgen05\.mma\.cta_group::1\.kind::(\w+) \[%0\], %1, %2, %3, p;", words):
        return f'host_multiply("{kind[1]}", {", ".join(inputs)})'
    if load := re.match(r"tcgen05\.ld\.sync\.aligned\.16x256b\.x(\d)\.b32 \{(.*)\}", words):
        assert len(outputs) == 4 * int(load[1]) and load[2] == ", ".join(f"%{i}" for i in range(len(outputs)))
        return f"host_load({inputs[0]}, {{{', '.join(f'&({o})' for o in outputs)}}})"
    if fetch := re.match(r"ldmatrix\.sync\.aligned\.m8n8\.x4(\.trans)?\.shared", words):
        turned = "true" if fetch[1] else "false"
        return f"host_fetch({turned}, {', '.join(f'&({o})' for o in outputs)}, {inputs[0]})"
    for beginning, name in INSTRUCTIONS:
        if re.match(beginning, words, re.DOTALL):
            if name == "host_nothing":
                return "host_nothing()"
            given = [f"&({o})" for o in outputs] + inputs
            if name == "host_meet_some" and not given:
                given = [re.search(r"bar\.sync 1, (\d+)", words)[1]]
            return f"{name}({', '.join(given)})"
    return f'host_unknown("{words.splitlines()[0][:60] if words else ""}")'


def host_text(full_text, entry, target):
    text = re.sub(r"struct f16 \{.*?\n\};", lambda _: HALF, full_text, count=1, flags=re.DOTALL)
    number = int(re.search(r"\d+", target)[0])
    flags = [f"-D__CUDA_ARCH__={number}0"]
    if target.endswith("a"):
        flags.append(f"-D__CUDA_ARCH_FEAT_SM{number}_ALL=1")
    text = gathered(re.sub(r"^#line.*$", "", text, flags=re.MULTILINE))
    text = subprocess.run(
        [COMPILER, "-E", "-P", "-w", "-x", "c++", *flags, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    out, at = [], 0
    for found in re.finditer(r"\basm(?:\s+volatile)?\s*\(", text):
        end = closing(text, found.end() - 1)
        out += [text[at : found.start()], call_of(text[found.end() : end])]
        at = end + 1
    return f'#include "{MACHINE}"\n' + "".join([*out, text[at:]]) + RUN.replace("ENTRY", entry)


def gathered(text):
    """Small arrays of shared memory, which text declares one by one, as parts of the one that large ones are in."""
    at = 0

    def part(found):
        nonlocal at
        alignment, dtype, name, n = int(found[1]), found[2], found[3], int(found[4])
        at += -at % alignment
        begin, at = at, at + n * 8
        return f"{dtype}* const {name} = ({dtype}*)(xc_dynamic_shared + {begin});"

    return re.sub(r"__shared__ __align__\((\d+)\) (\w+) (\w+)\[(\d+)\];", part, text)


def library(full_text, entry, target):
    need_compiler()
    folder = Path(tempfile.mkdtemp(prefix="xcuda-machine-"))
    source, made = folder / "kernel.cpp", folder / "kernel.so"
    source.write_text(host_text(full_text, entry, target))
    options = [
        "-std=c++20",
        "-O1",
        "-w",
        "-fpermissive",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-shared",
        "-fPIC",
    ]
    result = subprocess.run(
        [COMPILER, *options, "-o", str(made), str(source)], capture_output=True, text=True, timeout=300
    )
    if result.returncode:
        raise RuntimeError("the CUDA text does not compile on the host:\n" + result.stderr[:3000])
    loaded = ctypes.CDLL(str(made))
    loaded.host_run.restype = ctypes.c_char_p
    shutil.rmtree(folder)
    return loaded


def map_words(array, rows):
    """A map as the machine reads it: boxes of so many rows of 128 bytes."""
    axes, size = array.ndim, array.itemsize
    words = [array.ctypes.data, size, axes]
    words += [*reversed(array.shape), 0][:3] + [*reversed(array.strides), 0][:3]
    words += [128 // size, rows, 1]
    return words + [0] * (16 - len(words))


def launch(kernel, *arrays, grid=(1, 1), seeds=(0,), lazy=(False, True), target="sm_100a"):
    """Runs the kernel, whose first two arguments are a product's operands, once for each seed and manner; yields after each."""
    made = kernel.compile(tuple(arrays), target=target)
    loaded = library(made["full_text"], made["entry"], target)
    words = []
    for a in arrays:
        words += [a.ctypes.data, *a.shape, *(s // a.itemsize for s in a.strides)]
    if give := re.search(r"xc_tile_flow_give<\d+, \d+, (\d+), \d+, -?\d+, -?\d+, \d+, (\d+), ", made["text"]):
        words += [0] * (-len(words) % 8)  # maps begin at multiples of 64 bytes
        for a, rows in zip(arrays[:2], give.groups(), strict=True):
            words += map_words(a, int(rows))
    buffer = (ctypes.c_uint64 * (len(words) + 8))()
    shift = -ctypes.addressof(buffer) // 8 % 8
    buffer[shift : shift + len(words)] = [w & (2**64 - 1) for w in words]
    begin = ctypes.c_void_p(ctypes.addressof(buffer) + 8 * shift)
    for seed in seeds:
        for late in lazy:
            fault = (ctypes.c_char * 256)()
            said = loaded.host_run(begin, fault, *grid, made["block"][0], seed, int(late)).decode()
            assert not said, said
            assert not any(bytes(fault)), "the kernel raised"
            yield
