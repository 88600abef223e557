"""A running kernel to talk to, and what came back as something one can ask questions of."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

jupyter_client = pytest.importorskip("jupyter_client")


@dataclass
class Outcome:
    """What one request brought: its reply's content and its iopub messages, in order."""

    reply: dict
    messages: list = field(default_factory=list)
    seconds: float = 0.0

    def of(self, kind: str) -> list[dict]:
        return [message["content"] for message in self.messages if message["msg_type"] == kind]

    def text(self, name: str = "stdout") -> str:
        return "".join(part["text"] for part in self.of("stream") if part["name"] == name)

    @property
    def result(self) -> str | None:
        found = self.of("execute_result")
        return found[0]["data"]["text/plain"] if found else None


class Session:
    """One kernel process and a client of it."""

    def __init__(self, **start_options):
        self.manager, self.client = jupyter_client.manager.start_new_kernel(
            kernel_name="xcuda", startup_timeout=30, **start_options
        )

    @property
    def process(self):
        return self.manager.provisioner.process

    def run(self, code: str, timeout: float = 20, **options) -> Outcome:
        return self.finish(self.client.execute(code, **options), timeout)

    def finish(self, message_id: str, timeout: float = 20) -> Outcome:
        """Everything that belongs to a request that was sent already."""
        begin = time.monotonic()
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        reply = self.reply(message_id, timeout)
        return Outcome(reply, messages, time.monotonic() - begin)

    def reply(self, message_id: str, timeout: float = 20) -> dict:
        while True:
            reply = self.client.get_shell_msg(timeout=timeout)
            if reply["parent_header"].get("msg_id") == message_id:
                return reply["content"]

    def ask(self, question: str, *arguments, **options) -> dict:
        """The reply to one of the client's other requests: complete, inspect, history, ..."""
        return self.reply(getattr(self.client, question)(*arguments, **options))

    def wait_for(self, kind: str, message_id: str, timeout: float = 10) -> dict:
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["msg_type"] == kind and message["parent_header"].get("msg_id") == message_id:
                return message["content"]

    def interrupt_after(self, code: str, delay: float = 0.3, **options) -> Outcome:
        """Run a cell that prints 'begun' and then stays; interrupt it ``delay`` seconds later."""
        message_id = self.client.execute(code, **options)
        self.wait_for("stream", message_id)
        time.sleep(delay)
        self.manager.interrupt_kernel()
        return self.finish(message_id)

    def close(self) -> int:
        """Shut down as Jupyter does. Returns the process's exit code."""
        process = self.process
        self.manager.shutdown_wait_time = (
            60  # by its own 5 s it sends SIGTERM after half, which a loaded machine may take
        )
        self.client.stop_channels()
        self.manager.shutdown_kernel()
        return process.wait(timeout=60)


@pytest.fixture(scope="module")
def kernel() -> Iterator[Session]:
    session = Session()
    yield session
    assert session.close() == 0


@pytest.fixture
def own_kernel() -> Iterator[Session]:
    """A kernel for a test that ends or spoils it."""
    session = Session()
    yield session
    if session.process is not None and session.process.poll() is None:
        session.manager.shutdown_kernel(now=True)
    session.client.stop_channels()
