"""Rich output: IPython's display publisher and display hook, publishing through the kernel."""

import sys

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher

from . import _kernel
from .encode import to_json


def publish_display(data, metadata=None, transient=None, update=False) -> None:
    """Send a MIME bundle as display_data, or as an update of the display with the same id."""
    content = {"data": data, "metadata": metadata or {}, "transient": transient or {}}
    _kernel.publish("update_display_data" if update else "display_data", to_json(content))


class KernelDisplayPublisher(DisplayPublisher):
    """What ``display()`` calls. Hooks may change or keep back a message, as with ipykernel."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._hooks = []

    def publish(self, data, metadata=None, *, transient=None, update=False, **_):
        message = {
            "header": {"msg_type": "update_display_data" if update else "display_data"},
            "content": {"data": data, "metadata": metadata or {}, "transient": transient or {}},
        }
        for hook in self._hooks:
            message = hook(message)
            if message is None:
                return
        content = message["content"]
        publish_display(content["data"], content.get("metadata"), content.get("transient"), update)

    def clear_output(self, wait=False):
        _kernel.publish("clear_output", to_json({"wait": bool(wait)}))

    def register_hook(self, hook):
        self._hooks.append(hook)

    def unregister_hook(self, hook) -> bool:
        if hook not in self._hooks:
            return False
        self._hooks.remove(hook)
        return True


class KernelDisplayHook(DisplayHook):
    """What a cell's last expression goes through."""

    _bundle = None

    def start_displayhook(self):
        self._is_active = True
        self._bundle = None

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        self._bundle = {"data": format_dict, "metadata": md_dict or {}}

    def finish_displayhook(self):
        sys.stdout.flush()
        if self._bundle and self._bundle["data"]:
            content = {"execution_count": self.prompt_count, **self._bundle}
            _kernel.publish("execute_result", to_json(content))
        self._bundle = None
        self._is_active = False
