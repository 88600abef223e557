"""Comms (widgets) through the package ``comm``, whose objects and manager are the ones users and libraries hold."""

import sys
import traceback
import types

import comm
from comm.base_comm import BaseComm, CommManager

from . import _kernel, report
from .encode import to_json


class KernelComm(BaseComm):
    """A comm whose messages leave through the kernel."""

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
        if msg_type == "comm_open":
            _kernel.route_comm(self.comm_id, self.target_name)
        content = {"data": data or {}, "comm_id": self.comm_id, **keys}
        _kernel.publish(msg_type, to_json(content), to_json(metadata or {}), list(buffers or ()))


class KernelCommManager(CommManager):
    """The manager, telling the C++ side which ids and targets exist."""

    def register_target(self, target_name, f):
        super().register_target(target_name, f)
        _kernel.route_target(target_name)

    def unregister_comm(self, comm):
        super().unregister_comm(comm)
        _kernel.unroute_comm(comm.comm_id)


manager = KernelCommManager()


def _handled(handler, message) -> None:
    try:
        handler(None, None, message)
    except KeyboardInterrupt:
        if report.runtime_loaded():
            report.call("xcuda._runtime", "stop_kernels")
        print("What a widget's message had begun was interrupted:", file=sys.stderr)
        traceback.print_exc()


def deliver_open(message) -> None:
    _handled(manager.comm_open, message)


def deliver_message(message) -> None:
    _handled(manager.comm_msg, message)


def deliver_close(message) -> None:
    _handled(manager.comm_close, message)
    _kernel.unroute_comm(message["content"]["comm_id"])


def install() -> None:
    comm.create_comm = KernelComm
    comm.get_comm_manager = lambda: manager
    sys.modules["comm"] = comm  # xeus-python puts its own there
    # Libraries from before the package `comm` import these from ipykernel, which need not be installed.
    old = types.ModuleType("ipykernel.comm", "Comm and CommManager of the xcuda kernel.")
    old.Comm, old.CommManager = KernelComm, KernelCommManager
    sys.modules["ipykernel.comm"] = old
