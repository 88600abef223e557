"""Malformed and unsigned messages on every socket harm nobody; many clients are served at once."""

import hashlib
import hmac
import json
import threading

import pytest

jupyter_client = pytest.importorskip("jupyter_client")
zmq = pytest.importorskip("zmq")

DELIMITER = b"<IDS|MSG>"


def connect(kernel, kind, port):
    info = kernel.client.get_connection_info()
    socket = zmq.Context.instance().socket(kind)
    socket.linger = 0
    socket.connect(f"tcp://{info['ip']}:{info[port]}")
    return socket


def frames(key: bytes, *, signature=None, parts=4, header=None):
    """A message's frames, with what is asked for wrong in them."""
    header = json.dumps({"msg_id": "x", "msg_type": "execute_request", "session": "s", "username": "u",
                         "version": "5.3", "date": "2026-01-01"}).encode() if header is None else header  # fmt: skip
    body = [header, b"{}", b"{}", json.dumps({"code": "harmed = 1", "silent": False}).encode()][:parts]
    if signature is None:
        signature = hmac.new(key, b"".join(body), hashlib.sha256).hexdigest().encode()
    return [DELIMITER, signature, *body]


HOSTILE = {
    "nothing": [b""],
    "no delimiter": [b"a", b"b", b"c"],
    "only a delimiter": [DELIMITER],
    "no frames after the signature": [DELIMITER, b"0" * 64],
    "no JSON": [DELIMITER, b"0" * 64, b"{", b"}", b"[", b"\xff\xfe"],
    "long": [b"x" * 1_000_000],
    "many frames": [b"x"] * 2000,
}


@pytest.mark.parametrize("port", ["shell_port", "control_port", "stdin_port"])
def test_malformed_messages_are_ignored_on_every_socket(kernel, port):
    key = kernel.client.session.key
    socket = connect(kernel, zmq.DEALER, port)
    for message in HOSTILE.values():
        socket.send_multipart(message)
    for wrong in (b"", b"0" * 64, b"\xff" * 64, b"short"):
        socket.send_multipart(frames(key, signature=wrong))
    socket.send_multipart(frames(b"another key"))
    for signed in (frames(key, parts=2), frames(key, header=b"[]"), frames(key, header=b"null"), frames(key, header=b"{}"),
                   frames(key, header=b'{"msg_type": 5}'), frames(key, header=b"\xff")):  # fmt: skip
        socket.send_multipart(signed)
    assert kernel.run("'harmed' in globals()").result == "False"
    assert kernel.ask("kernel_info")["status"] == "ok"
    socket.close()


@pytest.mark.parametrize("port", ["shell_port", "control_port"])
@pytest.mark.parametrize("kind", ["comm_open", "comm_msg", "comm_close"])
def test_a_comm_id_of_any_length(kernel, port, kind):
    key = kernel.client.session.key
    socket = connect(kernel, zmq.DEALER, port)
    header = {
        "msg_id": "x",
        "msg_type": kind,
        "session": "s",
        "username": "u",
        "version": "5.3",
        "date": "2026-01-01",
    }
    for length in (54, 55, 56, 5000):
        content = json.dumps({"comm_id": "x" * length, "target_name": "t", "data": {}}).encode()
        parts = [json.dumps(header).encode(), b"{}", b"{}", content]
        signature = hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()
        socket.send_multipart([DELIMITER, signature, *parts])
    assert kernel.run("1").result == "1"
    socket.close()


def test_the_heartbeat_answers_anything(kernel):
    socket = connect(kernel, zmq.REQ, "hb_port")
    for text in (b"ping", b"", b"x" * 100_000):
        socket.send(text)
        assert socket.poll(5000) and socket.recv() == text
    socket.close()
    assert kernel.run("1").result == "1"


def test_messages_to_iopub_are_ignored(kernel):
    socket = connect(kernel, zmq.SUB, "iopub_port")
    socket.subscribe(b"")
    socket.subscribe(b"\xff" * 10_000)
    socket.close()
    assert kernel.run("1").result == "1"


def test_eight_clients_at_once(kernel):
    found, errors = {}, []

    def work(number):
        client = jupyter_client.BlockingKernelClient(connection_file=kernel.manager.connection_file)
        try:
            client.load_connection_file()  # a session of its own
            client.start_channels()
            client.wait_for_ready(timeout=60)
            for turn in range(5):
                message = client.execute(f"c{number} = {turn}\nc{number} + {number}")
                while True:
                    reply = client.get_iopub_msg(timeout=60)
                    if reply["parent_header"].get("msg_id") != message:
                        continue
                    if reply["msg_type"] == "execute_result":
                        found[number, turn] = int(reply["content"]["data"]["text/plain"])
                    if reply["msg_type"] == "status" and reply["content"]["execution_state"] == "idle":
                        break
        except Exception as error:
            errors.append(error)
        finally:
            client.stop_channels()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == [] and found == {(n, t): n + t for n in range(8) for t in range(5)}
    assert kernel.run("1").result == "1"
