"""%cuda_occupancy: how many threads stay resident on a GPU at each block size, and what limits them."""

from __future__ import annotations

from typing import NamedTuple

from IPython.core.error import UsageError
from xcuda import _svg as svg
from xcuda.magics.figures import in_unit

BLOCKS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
WITHOUT_GPU = "sm_90"
WARP = 32
MOST_THREADS = 1024
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 620, 220, 52, 40, 12


class Row(NamedTuple):
    threads: int
    blocks: int  # resident on a multiprocessor
    warps: int
    share: float
    limit: str


class Occupancy(NamedTuple):
    """What %cuda_occupancy gives: a table, a picture, and the rows for a program."""

    name: str
    signature: str
    architecture: str
    why: str  # this architecture
    registers: int
    shared_bytes: int
    rows: list[Row]

    @property
    def advice(self) -> str:
        best = max(self.rows, key=lambda r: r.share)
        if best.share == 0:
            return f"No such block fits: {best.limit} run out."
        alike = [r.threads for r in self.rows if r.share == best.share]
        sizes = ", ".join(map(str, alike))
        limit = "" if best.share == 1 else f"; {best.limit} keep it from more"
        return f"The most is {in_unit(best.share, 'share')}, with {sizes} threads a block{limit}."

    def __repr__(self) -> str:
        head = f"{self.name}{self.signature} on {self.architecture}{f' ({self.why})' if self.why else ''}"
        lines = [
            f"{head}: {self.registers} registers a thread, {in_unit(self.shared_bytes, 'B')} shared memory a block",
            f"{'threads a block':>15}  {'blocks':>6}  {'warps':>5}  {'occupancy':>9}  limited by",
        ]
        for row in self.rows:
            share = in_unit(row.share, "share")
            lines.append(f"{row.threads:>15}  {row.blocks:>6}  {row.warps:>5}  {share:>9}  {row.limit}")
        return "\n".join([*lines, self.advice])

    def _repr_mimebundle_(self, include=None, exclude=None):
        from xcuda.magics.render import template

        picture = svg.image(drawn(self), f"Occupancy of {self.name} on {self.architecture} by block size")
        page = template("occupancy.html").render(o=self, picture=picture)
        return {"text/plain": repr(self), "text/html": page}


def occupancy(kernel, name: str, blocks: list[str], target: str | None, dynamic: int = 0) -> Occupancy:
    """For the argument types that the kernel was last compiled for; `dynamic`: bytes of shared memory by the launch."""
    from xcuda import _runtime, core

    if not isinstance(kernel, _runtime.Kernel):
        raise UsageError(f"{name} is no kernel but {type(kernel).__name__}: name a @cuda.kernel function")
    if not kernel.signatures:
        raise UsageError(f"{name} has not been compiled yet: call it once, its arguments' types decide")
    if dynamic < 0:
        raise UsageError(f"--shared is in bytes, 0 or more, not {dynamic}")
    sizes = [_size(word) for part in blocks for word in part.split(",") if word] or list(BLOCKS)
    architecture, why = target or "", ""
    if not target:
        here = core.Device()
        architecture = here.architecture if here.kind == "cuda" else WITHOUT_GPU
        why = "" if here.kind == "cuda" else "no GPU is current: --target names another"
    signature = kernel.signatures[-1]
    try:
        made = kernel.compile(signature.replace(" (weak)", "")[1:-1], target=architecture)
    except Exception as error:  # an unknown target, no NVRTC: the sentence says which
        raise UsageError(" ".join(str(error).split())) from None
    shared = made.get("shared_bytes", 0) + dynamic
    if "registers" not in made:
        raise UsageError(f"the compiled kernel does not tell its registers on {architecture}")
    rows = []
    for threads in sizes:
        found = _runtime.occupancy(architecture, made["registers"], shared, threads)
        if found is None:
            raise UsageError(f"the limits of {architecture} are not known")
        resident, share, limit = found
        rows.append(Row(threads, resident, resident * -(-threads // WARP), share, limit))
    return Occupancy(name, signature, architecture, why, made["registers"], shared, rows)


def _size(word: str) -> int:
    """ "256" or "16x16": threads of a block."""
    threads = 1
    for part in word.lower().split("x"):
        if not part.isdecimal() or int(part) == 0:
            raise UsageError(f"a block size is a number from 1 on, or as 16x16, not {word!r}")
        threads *= int(part)
    if threads > MOST_THREADS:
        raise UsageError(f"a block has at most {MOST_THREADS} threads; {word} are {threads}")
    return threads


def drawn(found: Occupancy) -> str:
    """Bars over block sizes, coloured by what limits them."""
    step = (WIDTH - LEFT) / len(found.rows)
    colours = svg.colours_of(row.limit for row in found.rows)
    height = HEIGHT - TOP - BOTTOM
    parts = []
    for share in (0, 0.5, 1):
        y = TOP + height * (1 - share)
        parts += [svg.line(LEFT, y, WIDTH, y, dashed=True), svg.text(LEFT - 6, y + 4, f"{share:.0%}", "end")]
    for i, row in enumerate(found.rows):
        x, bar = LEFT + i * step, height * row.share
        title = f"{row.threads} threads: {in_unit(row.share, 'share')}, limited by {row.limit}"
        parts.append(svg.box(x + step * 0.15, TOP + height - bar, step * 0.7, bar, colours[row.limit], title))
        parts.append(svg.text(x + step / 2, HEIGHT - BOTTOM + 15, str(row.threads), "middle"))
    x = LEFT
    for limit, colour in colours.items():
        parts += [
            svg.box(x, HEIGHT - 14, 10, 10, colour),
            svg.text(x + 15, HEIGHT - 5, f"limited by {limit}"),
        ]
        x += 150
    return svg.picture(WIDTH, HEIGHT, parts, f"Occupancy of {found.name} by block size")
