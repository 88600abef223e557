"""JupyterLab and Notebook 7 with the xcuda kernel on a free port, Debian's Chromium without a window, and a folder for what it shows."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from lab import Lab

ROOT = Path(__file__).resolve().parents[2]
SHOTS = Path(os.environ.get("XCUDA_SCREENSHOTS", ROOT / "build" / "browser"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

START = 150  # seconds that a loaded machine may take for it

# No news, no update checks, nothing of the user's own settings.
OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--expose-app-in-browser",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
]

SETTINGS = [
    ("apputils-extension", "notification", {"fetchNews": "false", "checkForUpdates": False}),
    # A loaded machine's kernel may take longer than the second that the completer waits.
    ("completer-extension", "manager", {"providerTimeout": 15_000}),
]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """(address, folder of notebooks) of a server of both that this session started, and ends."""
    home = tmp_path_factory.mktemp("lab")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    places = (
        "JUPYTER_CONFIG_DIR",
        "JUPYTERLAB_SETTINGS_DIR",
        "JUPYTERLAB_WORKSPACES_DIR",
        "JUPYTER_RUNTIME_DIR",
    )
    env = {**os.environ, "XCUDA_CACHE_DIR": str(home / "cache"), "IPYTHONDIR": str(home / "ipython")}
    env |= {place: str(home / place.lower()) for place in places}
    for extension, plugin, values in SETTINGS:
        settings = Path(env["JUPYTERLAB_SETTINGS_DIR"]) / "@jupyterlab" / extension
        settings.mkdir(parents=True)
        (settings / f"{plugin}.jupyterlab-settings").write_text(json.dumps(values))
    log = (home / "log").open("w")
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        *OPTIONS,
        f"--port={port}",
        f"--ServerApp.root_dir={notebooks}",
    ]
    process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=home)
    address = f"http://127.0.0.1:{port}"
    try:
        patience = time.monotonic() + START
        while True:
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=5).read()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                assert process.poll() is None and time.monotonic() < patience, (home / "log").read_text()
                time.sleep(0.1)
        yield address, notebooks
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "no Chromium: ./run browser installs it"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def lab(server, browser, request):
    """A fresh window on JupyterLab (or what the test's parameter opens); what it shows at the end of a failing
    test is kept, too."""
    address, notebooks = server
    SHOTS.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(viewport={"width": 1180, "height": 860})
    page.set_default_timeout(60_000)
    opened = getattr(request, "param", Lab)(page, address, notebooks, SHOTS)
    yield opened
    if opened.kept_for_failure:
        page.screenshot(path=SHOTS / "failed.png")
    page.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.failed and "lab" in item.fixturenames:
        item.funcargs["lab"].kept_for_failure = True
    return report
