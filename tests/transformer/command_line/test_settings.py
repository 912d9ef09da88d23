"""The settings' help: one text a field, taken from the docstring."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import pytest

from transformer import TransformerConfig
from transformer.command_line.settings import help_of, read_settings, settings_of
from transformer.training import TrainingConfig


@dataclass
class Kettle:
    """Boils water: three things can be set.

    Args:
        litres: how much water.
        heat: "low" or "high"; the second one: faster,
            and louder.

    Raises:
        ValueError: it is empty.
    """

    litres: float
    heat: str


def test_a_field_has_the_text_of_its_argument_on_one_line():
    assert help_of(Kettle) == {
        "litres": "how much water.",
        "heat": '"low" or "high"; the second one: faster, and louder.',
    }


@pytest.mark.parametrize("settings", [TrainingConfig, TransformerConfig])
def test_every_setting_has_help_and_no_help_is_left_over(settings):
    assert list(help_of(settings)) == [field.name for field in fields(settings)]
    assert all(text.endswith(".") for text in help_of(settings).values())


def boil(
    path: Path | str | None,
    heat: Literal["low", "high"] = "low",
    cups: Sequence[str] = (),
    *,
    degrees: float | None = None,
    minutes: int = 3,
    loud: bool = False,
    between: tuple[float, float] = (0.0, 1.0),
    kettle: Kettle | None = None,
) -> None:
    """Boils.

    Args:
        path: where the water is.
        minutes: how long.
    """


SETTINGS = settings_of(boil)


def test_the_parameters_of_a_function_are_settings_where_a_person_can_write_them_down():
    assert {name: setting.type for name, setting in SETTINGS.items()} == {
        "path": Path,
        "heat": Literal["low", "high"],
        "cups": list[str],
        "degrees": float,
        "minutes": int,
        "loud": bool,
        "between": tuple[float, float],
    }
    assert {name for name in SETTINGS if SETTINGS[name].may_be_none} == {"path", "degrees"}
    assert (SETTINGS["minutes"].help, SETTINGS["loud"].help) == ("how long.", "")


def test_values_of_a_file_come_in_their_types():
    given = {"path": "well", "degrees": None, "between": [1, "1e-9"], "cups": ["a"], "minutes": 3}
    assert read_settings(given, SETTINGS, "kettle") == {
        "path": Path("well"),
        "degrees": None,
        "between": (1.0, 1e-9),
        "cups": ["a"],
        "minutes": 3,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"minutes": 3.5}, r"kettle.minutes \(3.5\) must be a whole number"),
        ({"minutes": True}, r"kettle.minutes \(True\) must be a whole number"),
        ({"minutes": None}, r"kettle.minutes \(None\) must be a whole number"),
        ({"degrees": "warm"}, r"kettle.degrees \('warm'\) must be a number"),
        ({"degrees": [1.0]}, r"kettle.degrees \(\[1.0\]\) must be a number"),
        ({"loud": 1}, r"kettle.loud \(1\) must be true or false"),
        ({"heat": "warm"}, r"kettle.heat \('warm'\) must be one of low, high"),
        ({"cups": "abc"}, r"kettle.cups \('abc'\) must be a list of texts"),
        ({"cups": [1]}, r"kettle.cups \(\[1\]\) must be a list of texts"),
        ({"between": [1.0]}, r"kettle.between \(\[1.0\]\) must be 2 numbers"),
        ({"path": 5}, r"kettle.path \(5\) must be a path"),
        ({"tea": 1}, "kettle.tea is no setting; there are path, heat, cups"),
        ([1], r"kettle \(\[1\]\) must be settings with their values"),
    ],
)
def test_what_is_no_value_of_a_setting_is_said(given: Any, message: str):
    with pytest.raises(ValueError, match=message):
        read_settings(given, SETTINGS, "kettle")
