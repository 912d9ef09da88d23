"""A JupyterLab of one's own: a home, settings and a kernel that no other Jupyter shares."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 180  # seconds; on a busy machine it is slow
ENDS_WITHIN = 60
SETTINGS = {
    # No question about news on the first start, no request to other hosts, no cell taken off the
    # page while it is scrolled out of sight.
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


@dataclass
class Lab:
    """A running JupyterLab."""

    address: str
    folder: Path


def environment(home: Path) -> dict[str, str]:
    """The variables of a Jupyter that sees its virtual environment and nothing of the user's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(ROOT),
    }


def write_settings(home: Path) -> None:
    """JupyterLab's settings, where it looks for the user's."""
    for name, values in SETTINGS.items():
        path = home / "config/lab/user-settings/@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(values))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def answers(address: str) -> bool:
    """Whether the server is up."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/api/status", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def wait_until_up(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Returns when the server answers; fails with what it said when it does not."""
    end = time.monotonic() + STARTS_WITHIN
    while not answers(address):
        said = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        if server.poll() is not None:
            pytest.fail(f"JupyterLab ended with status {server.returncode}. It said:\n{said}")
        if time.monotonic() > end:
            pytest.fail(f"JupyterLab did not answer in {STARTS_WITHIN} s. It said:\n{said}")
        time.sleep(0.2)


def stop(server: subprocess.Popen[bytes]) -> None:
    """Ends the server and its kernels, by force if they do not go."""
    family = []
    if server.poll() is None:
        family = psutil.Process(server.pid).children(recursive=True)
        server.terminate()  # the server then shuts its kernels down
    try:
        server.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    _, left = psutil.wait_procs(family, timeout=10)
    for process in left:
        process.kill()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on an empty folder."""
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.fail("JupyterLab is not installed: make setup")
    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("notebooks")
    write_settings(home)
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ip=127.0.0.1", "--ServerApp.port_retries=0"]
    command += [
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        f"--ServerApp.root_dir={folder}",
    ]
    log = home / "jupyterlab.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=environment(home), stdout=out, stderr=subprocess.STDOUT
        )
    try:
        wait_until_up(server, address, log)
        yield Lab(address, folder)
    finally:
        stop(server)
