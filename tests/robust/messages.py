"""The kernel's sockets under mutated messages: it drops or answers them, and goes on."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import subprocess

import jupyter_client
import zmq

DELIMITER = b"<IDS|MSG>"
PORTS = ("shell_port", "control_port", "stdin_port")
KINDS = (
    "execute_request", "complete_request", "inspect_request", "is_complete_request", "history_request",
    "comm_info_request", "comm_open", "comm_msg", "comm_close", "kernel_info_request", "debug_request",
    "input_reply", "nothing_such", "", "interrupt_request",
)  # fmt: skip
VALUES = (
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "x" * 5000,
    "\x00",
    "é",
    [],
    [1],
    {},
    {"a": {"b": []}},
    "1+1",
    "1/0",
)
FIELDS = (
    "code", "silent", "store_history", "user_expressions", "allow_stdin", "stop_on_error", "cursor_pos", "detail_level",
    "hist_access_type", "session", "start", "stop", "n", "pattern", "output", "raw", "unique", "comm_id", "target_name",
    "data", "type", "seq", "command", "arguments", "value",
)  # fmt: skip


def content(rng: random.Random):
    if rng.random() < 0.1:
        return rng.choice(VALUES)
    return {rng.choice(FIELDS): rng.choice(VALUES) for _ in range(rng.randrange(6))}


def message(rng: random.Random, key: bytes) -> list[bytes]:
    """The frames of one message, sound or not."""
    kind = rng.choice(KINDS)
    header = {"msg_id": f"{rng.random()}", "msg_type": kind, "session": "fuzz", "username": "u", "version": "5.3",
              "date": "2026-01-01T00:00:00Z"}  # fmt: skip
    for name in list(header):
        if rng.random() < 0.05:
            header[name] = rng.choice(VALUES)
        elif rng.random() < 0.05:
            del header[name]
    parts = [json.dumps(p).encode() for p in (header, {}, rng.choice([{}, {}, [], None]), content(rng))]
    if rng.random() < 0.1:
        parts = parts[: rng.randrange(4)]
    if rng.random() < 0.1 and parts:
        at = rng.randrange(len(parts))
        broken = bytearray(parts[at])
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        parts[at] = bytes(broken)
    signature = hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()
    if rng.random() < 0.1:
        signature = rng.choice([b"", b"0" * 64, signature[:-1], signature[::-1], b"\xff\x00"])
    frames = [
        DELIMITER,
        signature,
        *parts,
        *(rng.randbytes(rng.randrange(50)) for _ in range(rng.choice([0, 0, 0, 3]))),
    ]
    if rng.random() < 0.05:
        frames.pop(rng.randrange(len(frames)))
    if rng.random() < 0.05:
        frames = [rng.randbytes(rng.randrange(1, 40)) for _ in range(rng.randrange(1, 5))]
    return frames or [b""]


def settle(control: zmq.Socket, key: bytes) -> str:
    """ "" once the kernel has dealt with all that went to its control channel: an interrupt on its way there
    would, rightly, interrupt the cell that asks how the kernel fares."""
    header = {"msg_id": f"settle-{random.random()}", "msg_type": "kernel_info_request", "session": "fuzz",
              "username": "u", "version": "5.3", "date": "2026-01-01T00:00:00Z"}  # fmt: skip
    parts = [json.dumps(part).encode() for part in (header, {}, {}, {})]
    signature = hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()
    control.send_multipart([DELIMITER, signature, *parts])
    while control.poll(60_000):
        if any(header["msg_id"].encode() in frame for frame in control.recv_multipart()):
            return ""
    return "no answer on the control channel within a minute"


def fuzz(seed: int, count: int, every: int = 200) -> tuple[dict[str, int], list[str]]:
    """({port: messages sent}, what went wrong); each `every` messages the kernel is asked whether it still works."""
    rng = random.Random(seed)
    manager, client = jupyter_client.manager.start_new_kernel(
        kernel_name="xcuda", startup_timeout=60, stderr=subprocess.DEVNULL
    )
    wrong: list[str] = []
    sent = dict.fromkeys(PORTS, 0)
    try:
        info = client.get_connection_info()
        key = info["key"]
        sockets = {}
        for port in PORTS:
            sockets[port] = zmq.Context.instance().socket(zmq.DEALER)
            sockets[port].linger = 0
            sockets[port].connect(f"tcp://{info['ip']}:{info[port]}")
        for number in range(1, count + 1):
            port = rng.choice(PORTS)
            sockets[port].send_multipart(message(rng, key))
            sent[port] += 1
            while sockets[port].poll(0):
                sockets[port].recv_multipart()
            if number % every == 0 or number == count:
                if problem := settle(sockets["control_port"], key) or asked(client, manager):
                    wrong.append(f"after {number} messages of seed {seed}: {problem}")
                    break
        for socket in sockets.values():
            socket.close()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return sent, wrong


def asked(client, manager) -> str:
    """ "" where the kernel answers 1 + 1 with 2."""
    if not manager.is_alive():
        return f"the kernel ended with {manager.provisioner.process.poll()}"
    found = []

    def output(message):
        if message["msg_type"] == "execute_result":
            found.append(message["content"]["data"]["text/plain"])

    try:
        reply = client.execute_interactive("1 + 1", timeout=60, output_hook=output, allow_stdin=False)
    except TimeoutError:
        return "no answer within a minute"
    return "" if reply["content"]["status"] == "ok" and found == ["2"] else f"{reply['content']} {found}"
