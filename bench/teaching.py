"""The teaching kernels (tests/teaching) on the CPU device beside numba's CPU form of each, in one run.

./run bench teaching            all of them, two minutes or so
python bench/teaching.py NAMES  these; with --json FILE the figures too
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import _measure
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "teaching"))
OURS = "xcuda"
GOAL = 1.2  # ours / numba at most, for each


def contest(case, numba, cases, cuda):
    """One kernel: ours and numba's on arrays of their own; each is checked by what its first run made."""
    given = case.inputs("BENCH")
    theirs = {k: cases.copied(v) for k, v in given.items()}
    device = cases.to_device(given)
    made = case.made()
    form = getattr(numba, case.name)

    def ours():
        case.module.launch(made, **device)
        cuda.synchronize()

    def peer():
        form(**theirs)

    done = {}

    def once(name, call, fetch):
        """What the first run made; later runs are only timed."""
        call()
        if name not in done:
            done[name] = fetch()

    def check(_):
        """Both must make the same of what reference() tells: other arrays are one's own scratch."""
        if len(done) == 2:
            compared = case.reference(case.inputs("SMALL"))
            case.agree(done[OURS], {k: done["numba"][k] for k in compared})

    arrays = [k for k, v in given.items() if isinstance(v, np.ndarray)]
    made_contest = _measure.Contest(case.title, check)
    made_contest.contestants["numba"] = lambda: once(
        "numba", peer, lambda: {k: theirs[k].copy() for k in arrays}
    )
    made_contest.contestants[OURS] = lambda: once(OURS, ours, lambda: cases.to_host(device))
    return made_contest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="kernels; all where left out")
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()

    import _teaching_numba
    import cases
    import numba
    from xcuda import core as cuda

    loaded = cases.load()
    unknown = set(options.names) - set(loaded)
    if unknown:
        parser.error(f"there is no kernel '{min(unknown)}' in tests/teaching")
    if cuda.Device().kind != "cpu":
        raise SystemExit("this benchmark is for the CPU device: set XCUDA_DEVICE=cpu")
    print(f"{_measure.today()}; {_measure.machine()}; NumPy {np.__version__}, numba {numba.__version__}\n")
    rows, figures = [], {}
    for name in options.names or loaded:
        times = contest(loaded[name], _teaching_numba, cases, cuda).run()
        ratio = times["numba"] / times[OURS]
        figures[name] = {**times, "numba / xcuda": ratio}
        reached = "yes" if 1 / ratio <= GOAL else f"no, {1 / ratio:.2f}x"
        cells = [_measure.milliseconds(times[who]) for who in ("numba", OURS)]
        told = (name, *cells, f"{ratio:.2f}", reached)
        rows.append(told)
        print(*told, file=sys.stderr, flush=True)
    print(_measure.table(rows, ("kernel", "numba, ms", "xcuda, ms", "numba / xcuda", f"xcuda <= {GOAL}x")))
    ratios = [f["numba / xcuda"] for f in figures.values()]
    worst = min(figures, key=lambda name: figures[name]["numba / xcuda"])
    print(f"\nGeometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f} ({worst}).")
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
