"""The first cell of every notebook, after this line: `notebooks.py` puts it there.

It runs before anything of the book is installed, so it needs nothing but Python.
"""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys


def module_here() -> tuple[str | None, str | None]:
    """The version of the book's module that pip has installed, and its file where pip has not."""
    importlib.invalidate_caches()
    spec = importlib.util.find_spec("transformer")
    if spec is None or spec.origin is None:
        return None, None
    for known in importlib.metadata.distributions(name="transformer-book"):
        path = known.locate_file("transformer/__init__.py")
        if os.path.realpath(str(path)) == os.path.realpath(spec.origin):
            return known.version, None
    return None, spec.origin


def install_book(version: str, *sources: str) -> None:
    """Makes sure of this version, from the first source that has it; what is yours stays."""
    here, yours = module_here()
    if yours:
        print(f"The book's module is {yours}, which may differ from this notebook's, {version}.")
        return
    if here and here != version:
        print(f"Version {here} of the book's module gives way to this notebook's, {version}.")
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is missing: its download can take some minutes.")
    said: dict[str, None] = {}  # what pip says of two sources is often the same
    for source in sources if here != version else ():
        # Not %pip, which never fails, and says each time that a restart may be needed.
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command.append(f"transformer-book[book] @ {source}")
        done = subprocess.run(command, capture_output=True, text=True)
        said |= dict.fromkeys((done.stdout + done.stderr).splitlines())
        if done.returncode == 0 and module_here()[0] == version:
            break
    if module_here()[0] != version:
        raise RuntimeError(
            "The book's module could not be installed. Is this machine connected to the internet? "
            "If so, run this cell again; without a connection, a clone of the book's repository "
            "opens this notebook with `make lab`. What pip said:\n" + "\n".join(said)
        )
    if here != version:  # what cells have imported of another version is imported anew
        packages = ("transformer", "transformer_book")
        for name in [name for name in sys.modules if name.split(".")[0] in packages]:
            del sys.modules[name]
    release, _, commit = version.partition("+g")
    print(f"The book's module: version {release}" + (f", commit {commit}" if commit else ""))


def show_widgets() -> None:
    """Colab shows widgets that are not its own when it is told to."""
    if "google.colab" in sys.modules:
        from google.colab import output

        output.enable_custom_widget_manager()
