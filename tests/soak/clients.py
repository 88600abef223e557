"""Several clients of one kernel at once: each gets its own results, and nothing of the others'."""

from __future__ import annotations

import queue
import random
import threading

from soak.cells import KINDS, SETUP, Cell
from soak.session import Hang, Session

# An interrupt would stop whichever client's cell runs then.
ALONE = [(make, weight) for make, weight in KINDS if make.__name__ != "interrupt"]


def clients(count: int, cells: int, seed: int) -> tuple[int, list[str]]:
    """`count` clients run `cells` random cells each, all at once; how many ran, and what went wrong."""
    session = Session()
    others, wrong, ran = [], [], []
    try:
        session.run(Cell("setup", SETUP))
        others = [session.another() for _ in range(count - 1)]

        def work(number: int, client: Session) -> None:
            rng = random.Random(f"{seed} {number}")
            try:
                for turn in range(cells):
                    [make] = rng.choices([m for m, _ in ALONE], [w for _, w in ALONE])
                    if problem := client.run(make(rng)):
                        wrong.append(f"client {number}, cell {turn}: {problem}")
                    # Its own number comes back to it, whatever the others compute meanwhile.
                    own = rng.randrange(10**9)
                    if problem := client.run(Cell("own", str(own), str(own))):
                        wrong.append(f"client {number}, cell {turn}: {problem}")
                    ran.append(2)
            except (Hang, queue.Empty) as error:
                wrong.append(f"client {number} got no answer: {error!r}")

        threads = [
            threading.Thread(target=work, args=(number, client))
            for number, client in enumerate([session, *others])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for other in others:
            other.leave()
        session.close()
    return sum(ran), wrong
