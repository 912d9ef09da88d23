"""The options of `train` follow from the settings, and from nothing else."""

import inspect
import json
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from transformer import TransformerConfig
from transformer.command_line import options
from transformer.command_line.cli import app
from transformer.command_line.options import (
    MODEL,
    TRAINING,
    Chosen,
    all_data_settings,
    data_settings,
    from_command_line,
    from_file,
    from_preset,
    with_options,
)
from transformer.command_line.settings import settings_of
from transformer.config import TABLE_3
from transformer.tasks import TASKS
from transformer.training import TrainingConfig

from transformer_book.shipped import shipped_folder

TRAIN = typer.main.get_command(app).commands["train"]
DATA = all_data_settings(TASKS)


def test_every_setting_has_one_option_with_a_help() -> None:
    settings = [field.name for cls in (TrainingConfig, TransformerConfig) for field in fields(cls)]
    settings = [name for name in settings if name not in options.FROM_TOKENIZER]
    by_name = {parameter.name: parameter for parameter in TRAIN.params}
    assert {*settings, "epochs", *DATA} <= by_name.keys()
    assert len({*settings, "epochs", *DATA}) == len(settings) + 1 + len(DATA)  # no name twice
    for name in (*settings, "epochs", *DATA):
        assert len(by_name[name].help) > 8
        assert by_name[name].default is None
        assert by_name[name].opts[0].startswith("--")
    flags = [flag for parameter in TRAIN.params for flag in parameter.opts]
    assert len(flags) == len(set(flags))


def test_what_tasks_ask_about_their_data_is_described() -> None:
    assert all(setting.help for kind in TASKS.values() for setting in data_settings(kind).values())
    assert {name: set(data_settings(TASKS[name])) for name in ("copy", "toy")} == {
        "copy": set(),
        "toy": set(),
    }


@dataclass(frozen=True)
class MoreTraining(TrainingConfig):
    __doc__ = f"{TrainingConfig.__doc__}".replace(
        "        steps:", "        swiftness: how fast it goes.\n        steps:"
    )
    swiftness: float = 1.0


def test_a_field_that_is_added_is_an_option() -> None:
    added = settings_of(MoreTraining)
    assert added.keys() - TRAINING.keys() == {"swiftness"}
    small = typer.Typer()
    taken = {}

    @small.command()
    @with_options(options.options(added, "Training"))
    def command(**given: object) -> None:
        taken.update({name: value for name, value in given.items() if value is not None})

    done = CliRunner().invoke(small, ["--swiftness", "2.5", "--betas", "0.8", "0.9", "--compile"])
    assert done.exit_code == 0, done.output
    assert taken == {"swiftness": 2.5, "betas": (0.8, 0.9), "compile": True}
    assert "How fast it goes." in CliRunner().invoke(small, ["--help"]).stdout


def test_the_command_itself_lists_no_setting() -> None:
    """The parameters of the function that runs are those about the run, and the rest comes."""
    own = inspect.signature(inspect.unwrap(TRAIN.callback)).parameters
    assert not own.keys() & {*MODEL, *TRAINING, *DATA}


def test_options_stand_over_a_file_and_a_preset() -> None:
    file = Chosen("copy", {"source": "de"}, {"d_ff": 1, "n_heads": 1}, {"steps": 5, "seed": 1})
    given = from_command_line(None, {"d_ff": 2, "epochs": 3.0, "target": "fr", "dropout": None})
    both = given.over(file)
    assert both == Chosen(
        "copy",
        {"source": "de", "target": "fr"},
        {"d_ff": 2, "n_heads": 1},
        {"seed": 1, "epochs": 3.0},
    )
    assert from_command_line("toy", {}).over(file).data == {}
    assert from_command_line("toy", {}).over(file).task == "toy"


@pytest.mark.parametrize("row", TABLE_3)
def test_a_preset_is_the_whole_row_of_table_3(row: str) -> None:
    chosen = from_preset(row)
    sizes = {"src_vocab_size": 37_000, "tgt_vocab_size": 37_000}
    assert TransformerConfig(**sizes, **chosen.model) == TransformerConfig.table3(row)
    assert chosen.training == {"label_smoothing": TABLE_3[row].label_smoothing}
    assert from_preset("tiny").training == {}


def test_a_run_from_before_is_taken_up_whole(tmp_path: Path) -> None:
    """Its config.json said nothing of its data; the vocabulary follows from its sizes.

    Nor does it know the settings that have come since; they have their defaults.
    """
    config = json.loads((shipped_folder() / "config.json").read_text("utf-8"))
    del config["data"], config["config"]["word_dropout"], config["training"]["betas"]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), "utf-8")
    chosen = from_file(path)
    assert (chosen.task, chosen.data) == ("everyday", {"vocab_size": 8000})
    known = [name for name in MODEL if name in config["config"]]
    assert {"d_model", "dropout", "norm"} <= set(known) and "word_dropout" not in known
    assert chosen.model == {name: config["config"][name] for name in known}
    assert chosen.training == config["training"]
    assert TrainingConfig(**chosen.training).betas == (0.9, 0.98)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("config.json", b"\xff\xfe\x00", "is no text in UTF-8"),
        ("config.json", b"[" * 50_000, "is nested too deeply"),
        ("config.yaml", b"training: {factor: 1" + b"0" * 400 + b"}", "must be a number"),
    ],
    ids=["bytes", "deep", "large"],
)
def test_a_file_that_no_settings_could_be_in_is_a_sentence(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        from_file(tmp_path / name)
