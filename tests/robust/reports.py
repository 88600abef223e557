"""The renderers of reports on hostile names: nothing of a user's text becomes mark-up."""

from __future__ import annotations

import random
from html.parser import HTMLParser

from report_documents import advice, document, kernel
from xcuda.check import Debugged, Finding, Launch, Report, Step
from xcuda.magics.check_cell import Checked
from xcuda.magics.debug_cell import Followed
from xcuda.magics.memory import table
from xcuda.magics.render import render_report

PIECES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></table>", "<!--", "-->", "]]>", "&lt;", "&amp;#60;",
    '"', "'", "`", "{{ 7 * 7 }}", "{% raw %}", "{# x #}", "${x}", "javascript:", "\x00", "\x1b[31m", "\u202e", "\u2028",
    "\ud83d", "𝒽", "é", "\n", "\t", " ", "</style>", "<b>", "</b>", "<svg/onload=x>", "\\", "%s", "a" * 300,
)  # fmt: skip


def hostile(rng: random.Random) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 5)))


class Tags(HTMLParser):
    """The tags of a page, with the attributes' names."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.found: list[tuple] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(name for name, _ in attributes)))

    def handle_endtag(self, tag):
        self.found.append(("/" + tag,))

    def handle_comment(self, data):
        self.found.append(("comment",))

    def handle_decl(self, decl):
        self.found.append(("declaration",))


def followed(name: str) -> Debugged:
    made = object.__new__(Debugged)
    made.kernel, made.grid, made.block_shape = name, (1, 1, 1), (1, 1, 1)
    made.block = made.thread = (0, 0, 0)
    made.complete, made.error, made.arguments = True, name, {}
    made.steps = [Step(name, 1, {name: 1.0}, {name: name}, False)]
    return made


# Each makes a page from a name; with "plain" for it, the page's tags are what they must be with any other.
PAGES = {
    "report": lambda n: render_report(
        document([kernel(n, signature=n, warnings=[n])], advice=[advice(n)]), unfolded=True
    )[0],
    "check": lambda n: Checked(checked(n))._repr_mimebundle_(),
    "debug": lambda n: Followed(followed(n), None, None, 10)._repr_mimebundle_(),
    "memory": lambda n: table(n, [(n, n)], [(n,) * 6])._repr_mimebundle_(),
}


def checked(name: str) -> Report:
    report = Report()
    finding = Finding("race", name, 1, name, name, 2, name, 3)
    report.launches.append(Launch(name, (1, 1, 1), (1, 1, 1), (finding,), (name,), 1, 1, True))
    return report


def fuzz(seed: int, count: int) -> tuple[dict[str, int], list[str]]:
    """({page: how often it was made}, the names that became more than text)."""
    rng = random.Random(seed)
    plain = {page: Tags(make("plain")["text/html"]).found for page, make in PAGES.items()}
    made: dict[str, int] = {}
    wrong = []
    for _ in range(count):
        page = rng.choice(list(PAGES))
        name = hostile(rng)
        try:
            found = Tags(PAGES[page](name)["text/html"]).found
        except Exception as error:
            wrong.append(f"{page}: {type(error).__name__}: {error}: {name!r}")
            continue
        made[page] = made.get(page, 0) + 1
        if found != plain[page]:
            wrong.append(f"{page}: other tags than with a plain name: {name!r}")
    return made, wrong
