"""What a reader does in JupyterLab and in Notebook 7, as the tests say it: keys and clicks, no calls behind the page's
back."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from playwright.sync_api import expect

FIRST = """import numpy as np
from xcuda import core as cuda


@cuda.kernel
def matrix_multiply(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        C[i, j] = total


A = np.random.rand(512, 512).astype(np.float32)
B = np.random.rand(512, 512).astype(np.float32)
C = np.zeros((512, 512), np.float32)
matrix_multiply(A, B, C)
bool(np.abs(C - A @ B).max() < 1e-3)"""


class Lab:
    def __init__(self, page, address: str, folder: Path, shots: Path):
        self.page, self.address, self.folder, self.shots = page, address, folder, shots
        self.kept_for_failure = False

    def open(self, name: str, cells: list[str]) -> None:
        """Writes a notebook of the cells (Markdown where one starts with #!md) and opens it with a ready kernel."""
        self.write(name, cells)
        self.page.goto(f"{self.address}/lab/tree/{name}.ipynb?reset")
        self.page.locator(".jp-Notebook").wait_for()
        self.page.evaluate(
            "window.jupyterapp.commands.execute('application:set-mode', {mode: 'single-document'})"
        )
        self.page.evaluate("window.jupyterapp.shell.collapseLeft()")
        self.idle()

    def write(self, name: str, cells: list[str]) -> None:
        made = nbformat.v4.new_notebook()
        made.metadata.kernelspec = {"name": "xcuda", "display_name": "xcuda", "language": "python"}
        for text in cells:
            new = nbformat.v4.new_markdown_cell if text.startswith("#!md") else nbformat.v4.new_code_cell
            made.cells.append(new(text.removeprefix("#!md").strip()))
        nbformat.write(made, self.folder / f"{name}.ipynb")

    def idle(self, timeout: float = 90_000) -> None:
        """Until the status bar says that the kernel is there and has nothing to do."""
        self.page.locator(".jp-StatusBar-TextItem", has_text="xcuda (GPU Python) | Idle").wait_for(
            timeout=timeout
        )

    def cell(self, number: int):
        """The code or Markdown cell at this place, from 0."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number: int):
        return self.cell(number).locator(".jp-OutputArea-output")

    def said(self, number: int) -> str:
        """All that stands under the cell."""
        return self.cell(number).locator(".jp-OutputArea").inner_text()

    def edit(self, number: int) -> None:
        self.cell(number).locator(".cm-content").click()

    def run(self, number: int, wait: bool = True) -> None:
        """Shift-Enter in the cell; waits for its number in brackets."""
        self.edit(number)
        self.page.keyboard.press("Shift+Enter")
        if wait:
            self.prompt(number, r"^\[\d+\]:$")

    def prompt(self, number: int, pattern: str, timeout: float = 90_000) -> None:
        expect(self.cell(number).locator(".jp-InputPrompt")).to_have_text(
            re.compile(pattern), timeout=timeout
        )

    def interrupt(self, number: int, count: int, after: float) -> None:
        """Runs a cell that never ends, and presses the toolbar's button `after` ms later; it is to become cell [count]."""
        self.run(number, wait=False)
        self.prompt(number, r"^\[\*\]:$")
        self.page.wait_for_timeout(after)
        self.page.locator(".jp-Toolbar [data-jp-item-name='interrupt']").click()
        self.prompt(number, rf"^\[{count}\]:$", timeout=5_000)
        assert "KeyboardInterrupt" in self.said(number)

    def theme(self, name: str) -> None:
        self.page.evaluate(
            f"window.jupyterapp.commands.execute('apputils:change-theme', {{theme: '{name}'}})"
        )
        light = "true" if name.endswith("Light") else "false"
        self.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")

    def is_read_in_both_themes(self, element) -> None:
        """Its letters are light on the dark ground, and dark on the light one."""
        for theme, readable in (("JupyterLab Dark", range(200, 256)), ("JupyterLab Light", range(0, 60))):
            self.theme(theme)
            self.page.wait_for_timeout(300)  # colours fade in
            colour = element.evaluate("e => getComputedStyle(e).color")
            assert all(int(part) in readable for part in re.findall(r"\d+", colour)[:3]), (theme, colour)

    def shoot(self, name: str) -> Path:
        """Both themes, side by side in the folder: NAME-light.png and NAME-dark.png."""
        for theme in ("Light", "Dark"):
            self.theme(f"JupyterLab {theme}")
            self.page.wait_for_timeout(400)  # colours fade in
            self.page.screenshot(path=self.shots / f"{name}-{theme.lower()}.png")
        self.theme("JupyterLab Light")
        return self.shots / f"{name}-light.png"

    def shoot_cell(self, number: int, name: str) -> None:
        """As `shoot`, of one cell with all that stands under it."""
        for theme in ("Light", "Dark"):
            self.theme(f"JupyterLab {theme}")
            self.page.wait_for_timeout(400)  # colours fade in
            self.cell(number).screenshot(path=self.shots / f"{name}-{theme.lower()}.png")
        self.theme("JupyterLab Light")


class Notebook(Lab):
    """The same in Notebook 7, a page of its own for each notebook."""

    def open(self, name: str, cells: list[str]) -> None:
        self.write(name, cells)
        self.page.goto(f"{self.address}/notebooks/{name}.ipynb")
        self.page.locator(".jp-Notebook").wait_for()
        self.idle()

    def idle(self, timeout: float = 90_000) -> None:
        self.page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(timeout=timeout)
        self.page.locator(".jp-KernelName", has_text="xcuda (GPU Python)").wait_for()
