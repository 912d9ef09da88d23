"""Settings from the command line, from a file and from presets, for a task's model and training.

Nothing is listed here: a setting of the model or of the training is a field of its dataclass, one
of the data is a parameter of a task's builder, and each becomes an option with the help that its
docstring has.
"""

import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
import yaml

from transformer.command_line.settings import Setting, read_settings, settings_of
from transformer.config import PRESETS, TABLE_3, TransformerConfig
from transformer.support.files import LARGEST_SETTINGS, read_limited
from transformer.tasks import TASKS, TaskKind, kind_of
from transformer.training import TrainingConfig

Command = TypeVar("Command", bound=Callable[..., Any])
# What the reader of YAML raises for a word that is not of the type that its tag names.
NO_SUCH_VALUE = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError)

FROM_TOKENIZER = ("src_vocab_size", "tgt_vocab_size", "pad_id")
MODEL = {n: s for n, s in settings_of(TransformerConfig).items() if n not in FROM_TOKENIZER}
TRAINING = {
    **settings_of(TrainingConfig),
    "epochs": Setting(float, may_be_none=False, help="passes over the data, in place of steps."),
}


def data_settings(kind: TaskKind) -> dict[str, Setting]:
    """What can be said about a task's data: the parameters of its builder."""
    settings = settings_of(getattr(kind.build, "func", kind.build))
    parameters = inspect.signature(kind.build).parameters  # without those that are fixed already
    return {name: settings[name] for name in parameters if name in settings}


def all_data_settings(tasks: Mapping[str, TaskKind]) -> dict[str, Setting]:
    """Those of several tasks; each help names the tasks that it holds for."""
    settings: dict[str, Setting] = {}
    having: dict[str, dict[str, list[str]]] = {}  # by setting and help, the tasks
    for task, kind in tasks.items():
        for name, setting in data_settings(kind).items():
            settings.setdefault(name, setting)
            having.setdefault(name, {}).setdefault(setting.help.rstrip("."), []).append(task)
    return {
        name: Setting(setting.type, setting.may_be_none, _for_tasks(having[name]))
        for name, setting in settings.items()
    }


def _for_tasks(helps: Mapping[str, Sequence[str]]) -> str:
    if len(helps) == 1:
        return "".join(f"{text} ({', '.join(tasks)})" for text, tasks in helps.items())
    return ". ".join(f"{', '.join(tasks)}: {text}" for text, tasks in helps.items())


def option_name(name: str, setting: Setting) -> str:
    """How the command line calls a setting: --data for data_path, --test-set for test_sets."""
    name = name.removesuffix("_path").removesuffix("s" if setting.type == list[str] else "")
    return "--" + name.replace("_", "-")


DATA = all_data_settings(TASKS)

# Arguments that several commands have.
RunFolder = Annotated[Path, typer.Argument(help="The folder that `train` has filled.")]
DataPath = Annotated[
    Path | None, typer.Option("--data", help=DATA["data_path"].help, rich_help_panel="Data")
]
Beam = Annotated[
    int, typer.Option(help="Width of the search; 1 is greedy, the paper's is 4.", min=1)
]
LengthPenalty = Annotated[
    float, typer.Option(help="Alpha of the length penalty, where the beam is wider than 1.", min=0)
]
MaxTokens = Annotated[
    int,
    typer.Option(
        help="Tokens searched at once, a beam's prefixes each; fewer need less memory.", min=1
    ),
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, mps; the best one by default.")]


def check_data(task: str, given: Collection[str], needed: Iterable[str]) -> None:
    """Refuse what a task cannot use of what is said about its data, and ask for what it needs."""
    usable = data_settings(kind_of(task))
    parameters = inspect.signature(kind_of(task).build).parameters
    for name in given:
        if name not in usable:
            reason = "has no such thing" if usable else "makes its own data"
            option = option_name(name, DATA[name])
            raise typer.BadParameter(f"the task {task} {reason}; leave out {option}")
    for name in needed:
        lacking = name in usable and name not in given
        if lacking and parameters[name].default is inspect.Parameter.empty:
            raise typer.BadParameter(f"the task {task} needs {option_name(name, DATA[name])}")


@contextmanager
def called_options(settings: Mapping[str, Setting]) -> Iterator[None]:
    """A ValueError that begins with the name of a setting begins with its option, outside of this.

    So the message names what the user has typed.
    """
    try:
        yield
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        if name not in settings:
            raise
        raise ValueError(f"{option_name(name, settings[name])} {rest}") from error


def options(settings: Mapping[str, Setting], panel: str) -> list[inspect.Parameter]:
    """The parameters that typer makes options of; each is None where nobody gives it."""
    found = []
    for name, setting in settings.items():
        kind, metavar = setting.type, None
        if get_origin(kind) is Literal:
            # Plain text here: what is wrong with another word, its dataclass says.
            kind, metavar = str, "|".join(get_args(kind))
        if kind == list[str]:
            metavar = "name"
        about = setting.help.rstrip(".")
        first, _, _ = about.partition(" ")
        if len(first) > 1 and first.isalpha():  # h and d_k stay small
            about = about[0].upper() + about[1:]
        again = ". May be given again" if kind == list[str] else ""
        option = typer.Option(
            *(() if kind is bool else (option_name(name, setting),)),  # bool has --no-... too
            help=f"{about}{again}.",
            metavar=metavar,
            rich_help_panel=panel,
            show_default=False,
        )
        found.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[kind | None, option],
            )
        )
    return found


def with_options(parameters: Sequence[inspect.Parameter]) -> Callable[[Command], Command]:
    """For a command that takes `**given`: it takes these parameters instead."""

    def changed(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *parameters]
        )
        return command

    return changed


@dataclass(frozen=True)
class Chosen:
    """Settings that somebody has chosen; all others are the recipe's."""

    task: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)

    def over(self, others: "Chosen") -> "Chosen":
        """These, and of the others what these leave open; another task has other data."""
        length = {"steps", "epochs"}
        replaced = length if length & self.training.keys() else set()
        training = {name: v for name, v in others.training.items() if name not in replaced}
        same_task = self.task is None or self.task == others.task
        return Chosen(
            self.task or others.task,
            {**(others.data if same_task else {}), **self.data},
            {**others.model, **self.model},
            {**training, **self.training},
        )


def from_command_line(task: str | None, given: Mapping[str, Any]) -> Chosen:
    """What the options of the command line give."""
    given = {name: value for name, value in given.items() if value is not None and value != []}
    data = {name: v for name, v in given.items() if name not in {**MODEL, **TRAINING}}
    model, training = ({n: v for n, v in given.items() if n in s} for s in (MODEL, TRAINING))
    return Chosen(task, data, model, training)


def from_preset(name: str) -> Chosen:
    """A preset of the model, or a row of Table 3 with its label smoothing.

    Raises:
        ValueError: there is none of this name.
    """
    names = [*PRESETS, *(row for row in TABLE_3 if row not in PRESETS)]
    if name not in names:
        raise ValueError(f"unknown preset {name!r}; choose one of {', '.join(names)}")
    row = TABLE_3.get(name)
    config = TransformerConfig.table3(name) if row else TransformerConfig.preset(name)
    model = {setting: getattr(config, setting) for setting in MODEL}
    return Chosen(model=model, training={"label_smoothing": row.label_smoothing} if row else {})


def from_file(path: Path) -> Chosen:
    """The settings in a JSON or YAML file: a run's config.json, or one written by hand.

    Its parts are `task`, `data`, `config` (the model's settings) and `training`. What else a run
    says of itself and of its data is left out.

    Raises:
        ValueError: the file cannot be read, or holds something that is no setting.
        FileError: it is larger than settings are.
    """
    content = _parsed(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds no settings; write task, data, config and training in it")
    task, data = content.get("task"), all_data_settings(TASKS)
    if task is not None and not isinstance(task, str):
        raise ValueError(f"{path}: task must be a name, one of {', '.join(TASKS)}")
    if task is not None:
        try:
            data = data_settings(kind_of(task))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    parts = {"data": data, "config": MODEL, "training": TRAINING}
    given = {part: content.get(part) or {} for part in parts}
    of_run = {"command", "versions"} <= content.keys() and all(
        isinstance(settings, dict) for settings in given.values()
    )
    for name in content:
        if name not in ("task", *parts) and not of_run:
            raise ValueError(f"{path}: {name} is no setting; there are task, {', '.join(parts)}")
    ignored: dict[str, Sequence[str]] = {}
    if of_run:
        ignored = {"data": [n for n in given["data"] if n not in data], "config": FROM_TOKENIZER}
        if "vocab_size" in data:
            given["data"].setdefault("vocab_size", given["config"].get("src_vocab_size"))
    read = (
        read_settings(given[part], settings, f"{path}: {part}", ignored=ignored.get(part, ()))
        for part, settings in parts.items()
    )
    return Chosen(task, *read)


class _WithoutAliases(yaml.SafeLoader):
    """Reads YAML in which nothing stands for something else: ten lines of names become billions."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next value, which stands there itself."""
        if self.check_event(yaml.AliasEvent):
            name = self.get_event().anchor
            raise ValueError(f"*{name[:40]} is an alias; write out what it stands for")
        return super().compose_node(parent, index)


def _parsed(path: Path) -> Any:
    try:
        text = read_limited(path, LARGEST_SETTINGS).decode("utf-8")
        return json.loads(text) if path.suffix == ".json" else yaml.load(text, _WithoutAliases)
    except OSError as error:
        raise ValueError(f"could not read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8; save it as UTF-8") from error
    except RecursionError as error:
        raise ValueError(f"{path} is nested too deeply to be settings") from error
    except (*NO_SUCH_VALUE, yaml.YAMLError) as error:
        kind = "JSON" if path.suffix == ".json" else "YAML"
        raise ValueError(
            f"{path} is no {kind} file of settings: {' '.join(str(error).split())}"
        ) from error
