"""What IPython keeps of outputs and errors, for ``%notebook``: the latest, so that a session can go on for ever."""

from collections import OrderedDict, deque

MOST = 1000  # outputs, and errors
MOST_BYTES = 8 * 2**20  # of the outputs
MOST_TEXT = 2**20  # characters that one cell prints


class Outputs(dict):
    """Lists of outputs by the cell's number; the oldest outputs go once there are too many."""

    def __init__(self):
        super().__init__()
        self._order = deque()  # [cell, bytes] of each output, the oldest first
        self._bytes = 0

    def __missing__(self, cell):
        return _OfCell(self, cell)  # a part of this with its first output

    def clear(self):
        super().clear()
        self._order.clear()
        self._bytes = 0

    def took(self, cell):
        """The size of the cell's newest output, to be added to by `grow`."""
        size = [cell, 0]
        self._order.append(size)
        if len(self._order) > MOST:
            self._drop_oldest()
        return size

    def grow(self, size, by):
        size[1] += by
        if size[0] is None:  # it was dropped
            return
        self._bytes += by
        while self._bytes > MOST_BYTES and len(self._order) > 1:
            self._drop_oldest()

    def _drop_oldest(self):
        size = self._order.popleft()
        cell, size[0] = size[0], None
        self._bytes -= size[1]
        left = self[cell]
        del left[0]
        if not left:  # IPython looks at the last output of every list
            del self[cell]


class _OfCell(list):
    def __init__(self, all_outputs, cell):
        super().__init__()
        self._all, self._cell = all_outputs, cell

    def append(self, output):
        list.append(self._all.setdefault(self._cell, self), output)
        size = self._all.took(self._cell)
        if isinstance(output.bundle.get("stream"), list):
            output.bundle["stream"] = _Printed(self._all, size)  # IPython puts the text in after this
        else:
            self._all.grow(size, sum(_size(value) for value in output.bundle.values()))


def _size(value):
    return len(value) if isinstance(value, (str, bytes)) else 1000


class _Printed(list):
    """The pieces of text that a cell prints, to a bound."""

    def __init__(self, all_outputs, size):
        super().__init__()
        self._all, self._size = all_outputs, size

    def append(self, piece):
        if self._size[1] > MOST_TEXT:
            return
        self._all.grow(self._size, len(piece))
        super().append(
            piece if self._size[1] <= MOST_TEXT else "\n[what was printed after this was not kept]\n"
        )


class Errors(OrderedDict):
    """By the cell's number: how the latest errors were shown."""

    def __setitem__(self, cell, error):
        super().__setitem__(cell, error)
        if len(self) > MOST:
            self.popitem(last=False)
