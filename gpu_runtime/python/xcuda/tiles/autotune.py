"""`autotune`: a tile kernel that tries its lengths and plans on the first call of each kind, and keeps the fastest."""

import functools
import inspect
import itertools
import json
import time

ROUNDS = 3  # timed runs of each configuration, after one that compiles
PLAN = (
    "unit",
    "depth",
    "threads",
    "stages",
    "products",
    "copies",
    "waits",
    "stores",
    "steps",
    "blocks",
    "split",
)


def autotune(configs=None, *, rounds=ROUNDS, **ranges):
    """Tries configurations of a tile kernel and keeps the fastest for each kind of call.

    `@tiles.autotune(tm=(32, 64), tn=(32, 64, 128))` over `@tiles.tile_kernel` tries each combination;
    `@tiles.autotune([{"tm": 32, "tn": 64}, ...])` those that are listed. What is tried: parameters annotated
    tiles.Constant, which a call then leaves out, and of the compiler's plan: unit, depth, threads, stages, products,
    copies, waits, stores, steps, blocks, split.

    A kind of call: its dtypes, its arrays' lengths up to the next power of two, the device. The first one runs every
    configuration on copies of its arrays, so that what the kernel writes is written once; the choice is remembered in
    the cache folder for later processes. A configuration that does not fit is left out; where none fits, its error is
    raised.
    rounds: timed runs of each, of which the shortest counts.
    """
    if (configs is None) == (not ranges):
        raise TypeError("autotune() takes a list of configurations, or ranges by name: autotune(tm=(32, 64))")
    if configs is None:
        lists = {
            name: tuple(r) if isinstance(r, (tuple, list, range)) else (r,) for name, r in ranges.items()
        }
        configs = [dict(zip(lists, each, strict=True)) for each in itertools.product(*lists.values())]
    configs = [dict(c) for c in configs]
    if not configs or not all(configs):
        raise ValueError("autotune() has no configuration to try")

    def decorate(kernel):
        return Autotuned(kernel, configs, rounds)

    return decorate


class Autotuned:
    """A tile kernel with its configurations; called and launched as the kernel is, without what is tried.

    results: of the last kind of call that was tried, [(configuration, seconds or why not)], the fastest first.
    """

    def __init__(self, kernel, configs, rounds):
        from xcuda.tiles.kernels import TileAbout

        about = getattr(kernel, "about", None)
        if not isinstance(about, TileAbout):
            raise TypeError(
                f"autotune() is for tile kernels, not for {kernel!r}; write it over @tiles.tile_kernel"
            )
        self.kernel = kernel
        self.configs = configs
        self.rounds = rounds
        self.results = []
        self._chosen = {}
        self._planned = {}
        functools.update_wrapper(self, about.py_func)
        parameters = inspect.signature(about.py_func).parameters
        constants = {name for name, c in zip(parameters, about.constants, strict=True) if c}
        self._constants = sorted({name for c in configs for name in c if name in constants})
        for name in {name for c in configs for name in c}:
            if name not in constants and name not in PLAN:
                raise TypeError(
                    f"{kernel.__name__} has no constant '{name}': annotate it as tiles.Constant[int]"
                    if name in parameters
                    else f"{kernel.__name__} has no parameter '{name}', nor has a plan: there are {', '.join(PLAN)}"
                )
        self.__signature__ = inspect.Signature(
            [p for name, p in parameters.items() if name not in self._constants]
        )

    def __call__(self, *args, **kwargs):
        return self._launch(None, None, args, kwargs)

    def __getitem__(self, grid):
        """kernel[grid](...): grid as launch() takes it, or a function of the configuration that gives it."""
        return lambda *args, **kwargs: self._launch(grid, None, args, kwargs)

    def launched(self, grid, stream, args):
        """What tiles.launch() does of it."""
        return self._launch(grid, stream, args, {})

    def config(self, *args, **kwargs):
        """The configuration for such arguments, tried where it is not known yet."""
        return self._config(None, self._values(args, kwargs))

    def _values(self, args, kwargs):
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def _launch(self, grid, stream, args, kwargs):
        values = self._values(args, kwargs)
        return self._run(self._config(grid, values), grid, stream, values)

    def _run(self, config, grid, stream, values):
        kernel = self._with_plan({n: v for n, v in config.items() if n in PLAN})
        given = {**values, **{n: config[n] for n in self._constants if n in config}}
        if grid is None:
            return kernel(**given) if stream is None else kernel[None, None, stream](**given)
        return kernel[grid(config) if callable(grid) else grid, 1, stream](**given)

    def _with_plan(self, plan):
        if not plan:
            return self.kernel
        key = json.dumps(plan, sort_keys=True)
        if key not in self._planned:
            self._planned[key] = self.kernel.about.planned(plan)
        return self._planned[key]

    def _config(self, grid, values):
        from xcuda.core import choices

        key = self._key(values)
        if key not in self._chosen:
            known = (choices.load(key) or {}).get("config")
            found = [c for c in self.configs if json.loads(json.dumps(c)) == known]
            self._chosen[key] = found[0] if found else self._try_all(key, grid, values)
        return self._chosen[key]

    def _key(self, values):
        from xcuda import core
        from xcuda.core import choices

        about = self.kernel.about
        captured = about.captured or about.capture()
        parts = ["tiles", captured.text, captured.names_json, about.options, self.configs, core.Device().name]
        for name, v in values.items():
            if hasattr(v, "shape") and hasattr(v, "dtype"):
                parts.append((name, str(v.dtype), [int(n - 1).bit_length() if n else -1 for n in v.shape]))
            else:
                parts.append((name, type(v).__name__, v if isinstance(v, (int, str, bool)) else None))
        return choices.key(json.dumps(parts, default=str))

    def _try_all(self, key, grid, values):
        from xcuda import core
        from xcuda.core import choices

        copies = {n: core.to_device(v) if getattr(v, "shape", ()) else v for n, v in values.items()}
        results, problem = [], None
        for config in self.configs:
            try:
                times = []
                for _ in range(self.rounds + 1):  # the first one compiles
                    begin = time.perf_counter()
                    self._run(config, grid, None, copies)
                    core.synchronize()
                    times.append(time.perf_counter() - begin)
                results.append((config, min(times[1:])))
            except (ValueError, MemoryError, SyntaxError) as error:
                problem = problem or error
                results.append((config, f"{type(error).__name__}: {error}"))
        fitting = [r for r in results if isinstance(r[1], float)]
        if not fitting:
            raise problem
        self.results = sorted(fitting, key=lambda r: r[1]) + [
            r for r in results if not isinstance(r[1], float)
        ]
        best = self.results[0][0]
        choices.save(key, {"config": best})
        return best

    def __repr__(self):
        return f"<autotuned {self.kernel!r}, {len(self.configs)} configurations>"
