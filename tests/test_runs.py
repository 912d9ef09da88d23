"""Run folders say what is wrong with them."""

from pathlib import Path

import pytest

from transformer.runs import RunError, load_run


@pytest.mark.parametrize("content", ["[]", "{}", '{"task": ["copy"]}', "no JSON"])
def test_a_config_that_is_no_runs_is_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(RunError, match="holds no run"):
        load_run(tmp_path)
