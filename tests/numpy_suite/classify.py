"""Sorts outcomes by classes.toml and writes the pass rates."""

import collections
import fnmatch
import pathlib
import re
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
APPLICABLE = "applicable"


class Classes:
    """Which class a test belongs to."""

    def __init__(self, path=HERE / "classes.toml"):
        self.rows = tomllib.loads(path.read_text())["class"]
        for row in self.rows:
            row["source"] = re.compile(row["source"], re.M) if "source" in row else None
            row["ids"] = re.compile(row["ids"]) if "ids" in row else None

    def of_file(self, file):
        """The class of a whole file "module/test_x.py", or None."""
        for row in self.rows:
            if any(fnmatch.fnmatchcase(file, pattern) for pattern in row.get("files", ())):
                return row["name"]
        return None

    def of(self, test, told):
        """The class of a test "module/test_x.py::Class::test[id]"."""
        file, _, name = test.partition("::")
        if found := self.of_file(file):
            return found
        for row in self.rows:
            if any(fnmatch.fnmatchcase(test, pattern) for pattern in row.get("tests", ())):
                return row["name"]
            if row["source"] and row["source"].search(_body(told.get("source", ""))):
                return row["name"]
            if row["ids"] and row["ids"].search(name.partition("[")[2]):
                return row["name"]
        return APPLICABLE


def _body(source):
    """A test's source without its decorators: what they parametrize over is in the test's name."""
    return re.sub(r"\A.*?^(?=\s*def )", "", source, flags=re.S | re.M)


def counted(outcomes, classes):
    """{(module, class): Counter of outcomes}; skipped tests are left out."""
    table = collections.defaultdict(collections.Counter)
    for test, told in outcomes.items():
        if told["outcome"] == "skip":
            continue
        module = test.partition("/")[0]
        kind = classes.of(test, told)
        table[module, kind][told["outcome"]] += 1
        if kind == APPLICABLE and told["outcome"] == "pass" and told.get("touched"):
            table[module, kind]["ours"] += 1
            table[module, kind]["device"] += not told["fallbacks"]
    return table


def rates(table):
    """Lines that tell the rates of a table made by `counted`."""
    modules = list(dict.fromkeys(module for module, _ in table))
    for module in [*modules, None]:
        rows = [(kind, c) for (m, kind), c in table.items() if module in (m, None)]
        total = sum((c for kind, c in rows if kind == APPLICABLE), collections.Counter())
        other = sum((c for kind, c in rows if kind != APPLICABLE), collections.Counter())
        yield (
            f"{module or 'all':12} applicable: {_rate(total)}; of those that pass, {total['ours']} call numeric and "
            f"{total['device']} without a fallback. Not applicable: {_rate(other)}"
        )
    for kind in dict.fromkeys(kind for _, kind in table if kind != APPLICABLE):
        yield f"  {kind}: {_rate(sum((c for (_, k), c in table.items() if k == kind), collections.Counter()))}"


def _rate(counter):
    total = counter["pass"] + counter["fail"]
    return f"{counter['pass']} of {total} pass, {100 * counter['pass'] / max(total, 1):.1f} %"
