"""A JupyterLab of one's own: a home, settings, a token, a kernel that no other Jupyter shares."""

import json
import os
import secrets
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


# What Colab has of the widgets' side, in the last JupyterLab that went with it.
OF_COLAB = [
    "jupyterlab==3.6.8",
    "jupyterlab_widgets==1.1.11",
    "ipywidgets==7.7.1",
    "widgetsnbextension==3.6.10",
    "anywidget==0.9.21",
    "ipykernel==6.17.1",
    "ipython==7.34.0",
    "traitlets==5.7.1",
]


@dataclass
class Lab:
    """A running JupyterLab; only who knows its token gets in."""

    address: str
    folder: Path
    token: str = field(repr=False)

    def page_of(self, notebook: str) -> str:
        """The address of a notebook of the folder, with nothing beside it that was open before."""
        return f"{self.address}/lab/tree/{notebook}?reset&token={self.token}"


def environment(home: Path, token: str) -> dict[str, str]:
    """The variables of a Jupyter that sees its virtual environment and nothing of the user's."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
    return kept | {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_TOKEN": token,  # in no list of processes, unlike an option
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


def status_of(address: str, token: str = "") -> int:
    """How the server answers who asks for its notebooks, in HTTP's numbers; 0 while it does not."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    headers = {"Authorization": f"token {token}"} if token else {}
    request = urllib.request.Request(f"{address}/api/contents", headers=headers)
    try:
        with opener.open(request, timeout=5) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def wait_until_up(server: subprocess.Popen[bytes], lab: Lab, log: Path) -> None:
    """Returns when the server answers; fails with what it said when it does not."""
    end = time.monotonic() + STARTS_WITHIN
    while status_of(lab.address, lab.token) != 200:
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


@contextmanager
def running(python: Path, home: Path, folder: Path) -> Iterator[Lab]:
    """The JupyterLab of an environment on an empty folder, meanwhile."""
    write_settings(home)
    port = free_port()
    lab = Lab(f"http://127.0.0.1:{port}", folder, secrets.token_urlsafe())
    command = [str(python), "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ip=127.0.0.1", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={folder}"]
    log = home / "jupyterlab.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(home, lab.token),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_up(server, lab, log)
        yield lab
    finally:
        stop(server)


def install_jupyter_of_colab(folder: Path) -> Path:
    """An environment with Colab's ipywidgets, which takes torch and the rest from ours."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin/python"
    # setuptools, because that Jupyter still asks for pkg_resources.
    install = ["install", "--quiet", "--disable-pip-version-check", *OF_COLAB, "setuptools<81"]
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([str(python), "-m", "pip", *install], check=True, env=environ)
    ours = sysconfig.get_path("purelib")
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "ours.pth").write_text(f"{ours}\n")  # behind its own
    return python
