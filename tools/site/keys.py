"""What decides an output: keys that change when it has to be made anew.

Nothing here needs more than Python, since a cache of executed chapters asks for `execution_key`
before anything is installed.
"""

import ast
import hashlib
import os
import platform
import runpy
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from tools.environment import BASE, groups

PACKAGES = ("transformer", "transformer_book")  # those that chapters import, if they are there
FRONT_ENDS = "widgets/front_ends"
NIGHT = "transformer_book.figures.night"  # every kernel loads it: figures have a dark twin
# A cell with one of these may run, or read, what no import names.
ANYTHING = {"exec", "eval", "importlib", "pkgutil", "runpy", "subprocess", "__file__", "__import__"}


def files_under(*folders: Path) -> Iterator[Path]:
    """All files of some folders but byte code and what npm installs, in a fixed order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not {"__pycache__", "node_modules"} & set(path.parts):
                yield path


def digest(root: Path, paths: Iterable[Path], *more: str) -> str:
    """Changes when a file is added, removed, renamed or edited."""
    sha = hashlib.sha256("\0".join(more).encode())
    for path in paths:
        if path.exists():
            sha.update(f"\0{path.relative_to(root)}\0".encode())
            sha.update(path.read_bytes())
    return sha.hexdigest()


def packages(root: Path) -> list[Path]:
    """The folders of the packages that chapters import."""
    return [root / name for name in PACKAGES if (root / name).is_dir()]


def front_ends(root: Path) -> list[Path]:
    """The widgets' scripts: what they do, they do in the reader's browser."""
    return [package / FRONT_ENDS for package in packages(root)]


def execution_key(root: Path) -> str:
    """What decides the outputs of all chapters besides their own texts."""
    data = (root / "book/results", root / "book/models")
    paths, scripts = files_under(*packages(root), *data), front_ends(root)
    paths = (p for p in paths if not any(map(p.is_relative_to, scripts)))
    return digest(root, paths, *_machine(root))


def site_key(root: Path) -> str:
    """What decides the look of every page."""
    names = ("_config.yml", "_toc.yml", "book/references.bib")
    folders = files_under(root / "book/_static", root / "tools", *front_ends(root))
    return digest(root, [*(root / name for name in names), *folders])


def wheel_key(root: Path) -> str:
    """What decides the module's wheel and the notebooks' first cell: its files and the commit."""
    names = ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT.md")
    data = (root / "book/results", root / "book/models")
    version: str = runpy.run_path(str(root / "transformer/support/version.py"))["version"](root)
    paths = [*(root / name for name in names), *files_under(*packages(root), *data)]
    return digest(root, paths, version)


def _machine(root: Path) -> tuple[str, str, str]:
    """With what cells are executed; another linter or browser is nothing to them."""
    scale = os.environ.get("TRANSFORMER_SCALE", "")
    path = root / "requirements.txt"
    pins = groups(path.read_text())[BASE] if path.exists() else ""
    return platform.python_version(), f"scale={scale}", pins


class Module:
    """A file of Python, or the code of a chapter: what it imports and which results it names."""

    def __init__(self, code: str) -> None:
        """Reads code; what is no Python, such as a command of Jupyter's, has no tree."""
        self.tree: ast.AST | None
        try:
            self.tree = ast.parse(code)
        except SyntaxError:
            self.tree = None
        self.nodes = [] if self.tree is None else list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> set[tuple[str, str]]:
        """Each import, anywhere in it: the module, and the name that is taken from it or ""."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {(alias.name, "") for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {(node.module, alias.name) for alias in node.names}
        return found

    @cached_property
    def names(self) -> set[str]:
        """All names that it uses or gives, and which modules it imports; `model.eval` is none."""
        used = {n.id for n in self.nodes if isinstance(n, ast.Name)}
        used |= {n.attr for n in self.nodes if isinstance(n, ast.Attribute)} & {"__file__"}
        return used | {name.split(".")[0] for name, _ in self.imports}

    @cached_property
    def results(self) -> set[str] | None:
        """The recorded results that it asks for by name; None where that may be any of them."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "recorded":
                given = node.args[0] if node.args else None
                if not isinstance(given, ast.Constant):
                    return None
                found.add(str(given.value))
        return found

    def homes(self, name: str) -> list[str]:
        """Where a package that imports its names when they are asked for has one of them.

        It says so in a dictionary, from names to modules or from modules to names.
        """
        found = []
        for node in self.nodes:
            pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
            for key, value in pairs:
                match key, value:
                    case ast.Constant(value=str(known)), ast.Constant(value=str(text)):
                        found += [text] if known == name else []
                        found += [known] if name in text.split() else []
        return found

    @cached_property
    def defines(self) -> set[str]:
        """The functions and classes at its top."""
        top = getattr(self.tree, "body", [])
        return {n.name for n in top if isinstance(n, ast.FunctionDef | ast.ClassDef)}

    @property
    def is_lazy(self) -> bool:
        """Whether it imports its names when they are asked for."""
        return "__getattr__" in self.defines | self.names


class Sources:
    """The packages of a book, each module read once."""

    def __init__(self, root: Path) -> None:
        """Finds the modules of a book's folder."""
        self.root = root
        self.paths: dict[str, Path] = {}
        for path in (p for package in packages(root) for p in sorted(package.rglob("*.py"))):
            parts = path.relative_to(root).with_suffix("").parts
            self.paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self._modules: dict[str, Module] = {}
        others = [path for path in files_under(*packages(root)) if path.suffix != ".py"]
        scripts = front_ends(root)
        self._common = [
            *(path for path in others if not any(map(path.is_relative_to, scripts))),
            *files_under(root / "book/models"),
            *(path for name, path in self.paths.items() if name == NIGHT),
        ]

    def module(self, name: str) -> Module:
        """One of them by its dotted name."""
        if name not in self._modules:
            self._modules[name] = Module(self.paths[name].read_text(encoding="utf-8"))
        return self._modules[name]

    def below(self, name: str) -> set[str]:
        """A package and its modules."""
        return {other for other in self.paths if f"{other}.".startswith(f"{name}.")}

    def targets(self, module: str, name: str) -> tuple[set[str], set[str]]:
        """What `from module import name`, or `import module`, leads to.

        Returns:
            the packages through which it leads, of which the file alone counts, and the modules
            whose own imports count too. A package that only hands on what others have made is of
            the first kind: another widget does not change what this one shows.
        """
        if module.split(".")[0] not in PACKAGES:
            return set(), set()
        parts = module.split(".")
        through = {".".join(parts[:n]) for n in range(1, len(parts))} & self.paths.keys()
        if f"{module}.{name}" in self.paths:
            return through | {module}, {f"{module}.{name}"}
        if module not in self.paths or not name or name == "*":
            return through, {module} & self.paths.keys()
        code = self.module(module)
        homes = {(home, taken) for home, taken in code.imports if taken == name and home != module}
        if not homes and code.is_lazy:
            named = code.homes(name) or [
                home for home in self.below(module) if name in self.module(home).defines
            ]
            homes = {(h if h in self.paths else f"{module}.{h}", name) for h in named}
            homes = {(h, n) for h, n in homes if h in self.paths} or {
                (h, "") for h in self.below(module)
            }
        if not homes or self.paths[module].name != "__init__.py":
            return through, {module}
        found = [self.targets(home, taken) for home, taken in homes]
        files = (through | {module}).union(*(more for more, _ in found))
        return files, set().union(*(run for _, run in found))

    def needed(self, chapter: Module) -> set[str]:
        """The modules that decide what a chapter puts out."""
        if chapter.tree is None or chapter.names & ANYTHING:
            return set(self.paths)
        files: set[str] = set()
        modules: set[str] = set()
        waiting = [chapter]
        while waiting:
            code = waiting.pop()
            for imported, taken in code.imports:
                through, run = self.targets(imported, taken)
                files |= through
                waiting += [self.module(name) for name in sorted(run - modules)]
                modules |= run
            if not waiting:  # what finds its neighbours by itself needs all of them
                for name in [n for n in modules if "pkgutil" in self.module(n).names]:
                    is_package = self.paths[name].name == "__init__.py"
                    folder = name if is_package else name.rpartition(".")[0]
                    more = self.below(folder) - modules
                    waiting += [self.module(other) for other in sorted(more)]
                    modules |= more
        return files | modules

    def files(self, cells: Iterable[str]) -> list[Path]:
        """What decides the outputs of a chapter with these cells, besides their own text."""
        chapter = Module("\n".join(cells))
        needed = self.needed(chapter)
        results = self.root / "book/results"
        asked = [chapter.results, *(self.module(name).results for name in needed)]
        if chapter.tree is None or None in asked:
            recorded = list(files_under(results))
        else:
            names = sorted(set().union(*(found or () for found in asked)))
            recorded = [results / f"{name}.json" for name in names]
        return [*self._common, *(self.paths[name] for name in sorted(needed)), *recorded]

    def key(self, cells: Iterable[str]) -> str:
        """Changes when the outputs of a chapter with these cells may."""
        return digest(self.root, self.files(cells), *_machine(self.root))
