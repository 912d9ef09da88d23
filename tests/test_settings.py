"""The settings' help: one text a field, taken from the docstring."""

from dataclasses import dataclass, fields

import pytest

from transformer import TransformerConfig
from transformer.settings import help_of
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
