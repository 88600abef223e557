"""Answers to history requests, from IPython's store. Each is JSON text of a history_reply's content."""

from IPython.core.getipython import get_ipython

from .encode import to_json


def _reply(rows) -> str:
    manager = get_ipython().history_manager
    own = manager.session_number  # IPython calls the running session 0
    history = []
    for session, line, text in rows:
        session = session or own
        if isinstance(text, tuple):
            source, shown = text
            if shown is None and session == own:  # by default only memory has the outputs
                shown = manager.output_hist_reprs.get(line)
            text = [source, shown]
        history.append([session, line, text])
    return to_json({"status": "ok", "history": history})


def tail(n: int, raw: bool, output: bool) -> str:
    """The last ``n`` inputs of all sessions, oldest first."""
    return _reply(get_ipython().history_manager.get_tail(n, raw=raw, output=output, include_latest=True))


def span(session: int, start: int, stop: int, raw: bool, output: bool) -> str:
    """Lines ``start`` to ``stop`` (not included) of a session; 0 is this one, -1 the one before."""
    return _reply(get_ipython().history_manager.get_range(session, start, stop, raw=raw, output=output))


def search(pattern: str, raw: bool, output: bool, n: int, unique: bool) -> str:
    """Inputs that match a glob pattern, the last ``n`` of them."""
    found = get_ipython().history_manager.search(pattern, raw=raw, output=output, n=n, unique=unique)
    return _reply(found)
