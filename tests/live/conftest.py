"""JupyterLab for the tests: ours, and one with the widgets' side of Colab."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.servers import Lab, install_jupyter_of_colab, running


@pytest.fixture(
    scope="session",
    params=["8", pytest.param("7", marks=pytest.mark.nightly)],
    ids=["ipywidgets 8", "ipywidgets 7.7.1"],
)
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on an empty folder: ours, and at night one with Colab's widgets."""
    if importlib.util.find_spec("jupyterlab") is None:
        pytest.fail("JupyterLab is not installed: make setup")
    python = Path(sys.executable)
    if request.param == "7":
        if sys.version_info >= (3, 13):
            pytest.skip("JupyterLab 3.6 needs packages that have no wheels for Python 3.13")
        python = install_jupyter_of_colab(tmp_path_factory.mktemp("jupyter") / "venv")
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("notebooks")
    with running(python, home, folder) as started:
        yield started
