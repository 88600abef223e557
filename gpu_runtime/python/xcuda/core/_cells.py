"""What a notebook's cells are called in messages."""

import linecache
import re
import sys

from xcuda import _runtime


def source_line(file, line):
    """A line of a source without the blanks around it; "" where there is none, whatever the file is called."""
    try:
        return linecache.getline(file, line).strip()
    except (ValueError, UnicodeError):  # no file has such a name
        return ""


def name_cell(file):
    """Messages then say "<cell 3>" where IPython knows `file` as the text of a cell. Gives the name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    told = shell.compile.format_code_name(file) if hasattr(shell, "compile") else None
    number = re.fullmatch(r"In ?\[(\d+)\]", told[1]) if told else None
    if number:
        _runtime.show_file_as(file, f"<cell {number[1]}>")
    return _runtime.shown_file(file)
