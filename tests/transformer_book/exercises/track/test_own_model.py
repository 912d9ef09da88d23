"""A Transformer of the reader's parts is ours: its outputs, gradients and searches, and it learns.

The reader's part is played by functions that are made anew from the text of our solutions.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import torch

from tests.helpers.command_line import run_book
from tests.transformer_book.exercises.right_ones import RIGHT_ONES
from transformer import Transformer, TransformerConfig
from transformer.cache import KeyValueCache
from transformer.data.toy_german import toy_german
from transformer.text.bpe import SPACE, apply_merges
from transformer.training import Trainer

from transformer_book.exercises import EXERCISES, check, solution
from transformer_book.exercises.track import OwnTransformer, Parts, same_as_ours, train
from transformer_book.exercises.track.files import files_in
from transformer_book.exercises.track.folder import Track
from transformer_book.exercises.track.model import build
from transformer_book.exercises.track.own import HIDDEN, FewLines
from transformer_book.exercises.track.parts import STANDS
from transformer_book.exercises.track.proof import PROPERTIES
from transformer_book.exercises.track.subwords import OwnSubwords
from transformer_book.exercises.track.training import OwnTrainer, copying, translating
from transformer_book.exercises.verdict import MOST_LINES

CONFIG = TransformerConfig.tiny(src_vocab_size=20, norm="post", dropout=0.0)
Function = Callable[..., Any]


def readers(name: str) -> Function:
    """A function as a reader may have written it: none of the module's own."""
    names: dict[str, Any] = {}
    exec(compile(str(solution(name)), f"<{name}>", "exec"), names)
    function: Function = names[name]
    return function


@cache
def all_of_them() -> Parts:
    """The parts of a reader who has finished."""
    return Parts({name: readers(name) for name in EXERCISES})


def findings(parts: Parts) -> dict[str, bool]:
    """What holds of a model of these parts, by the names of the properties."""
    both = zip(PROPERTIES, same_as_ours(parts), strict=False)
    return {holds.__name__: finding.holds for holds, finding in both}


def counting(function: Function, calls: list[int]) -> Function:
    def counted(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        return function(*arguments, **named)

    return counted


# Equality ------------------------------------------------------------------------------------


def test_the_readers_model_gives_what_ours_gives() -> None:
    assert set(findings(all_of_them()).values()) == {True}


@pytest.mark.slow
def test_our_solutions_stand_in_where_a_part_is_missing() -> None:
    parts = Parts({"layer_norm": readers("layer_norm")})
    assert set(findings(parts).values()) == {True}
    first, second = parts.about()
    assert first == f"1 of {len(STANDS)} parts are yours."
    assert second.startswith("Ours stand in for softmax, ") and "layer_norm" not in second
    assert Parts().about()[1] == "Ours stand in for all of them."
    assert all_of_them().about() == [f"{len(STANDS)} of {len(STANDS)} parts are yours."]


@pytest.mark.slow
@pytest.mark.parametrize("name", STANDS)
def test_each_part_is_called(name: str) -> None:
    """Whoever takes its place unseen would be noticed."""
    calls: list[int] = []
    yours = {**all_of_them().yours, name: counting(readers(name), calls)}
    assert set(findings(Parts(yours)).values()) == {True}
    if name != "merge_pair":
        assert findings(Parts({**yours, name: lambda *a, **k: 1 / 0})).values() != {True}
    assert calls


@pytest.mark.slow
@pytest.mark.parametrize("number", range(3))
def test_other_right_answers_make_the_same_model(number: int) -> None:
    names = [name for name in STANDS if number < len(RIGHT_ONES.get(name, ()))]
    parts = Parts({name: RIGHT_ONES[name][number] for name in names})
    assert set(findings(parts).values()) == {True}


def everyone_sees_the_next(size: int) -> torch.Tensor:
    return torch.ones(size, size, dtype=torch.bool).tril(1)


def test_a_mask_that_leaks_is_found() -> None:
    found = findings(Parts({"causal_mask": everyone_sees_the_next}))
    assert not found["the_future"] and not found["the_outputs"]
    assert found["the_padding"] and found["the_rates"]


def test_a_part_that_raises_is_a_finding() -> None:
    (finding, *_) = same_as_ours(Parts({"softmax": readers("softmax"), "residual": lambda: None}))
    assert not finding.holds
    assert "But it raises TypeError" in str(finding)


def test_multi_head_attention_calls_the_readers_attention() -> None:
    calls: list[int] = []
    attention = counting(readers("scaled_dot_product_attention"), calls)
    parts = Parts(
        {
            "multi_head_attention": readers("multi_head_attention"),
            "scaled_dot_product_attention": attention,
        }
    )
    build(CONFIG, parts).encode(torch.tensor([[4, 5]]))
    assert len(calls) == CONFIG.n_layers


HEADS = """
def multi_head_attention(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    pairs = ((query, w_query), (key, w_key), (value, w_value))
    q, k, v = ((x @ w).unflatten(-1, (n_heads, -1)).transpose(1, 2) for x, w in pairs)
    return {call}.transpose(1, 2).flatten(2) @ w_output
"""
HELPED = """
def helps(*parts):
    return {name}(*parts)[0]
"""
BY_NAME = "from transformer.attention import scaled_dot_product_attention"
OURS = "transformer.attention.scaled_dot_product_attention"


def heads_of(*lines: str, call: str) -> Function:
    """A reader's multi_head_attention that gets at its attention in some way."""
    names: dict[str, Any] = {}
    exec("\n".join([*lines, HEADS.format(call=call)]), names)
    function: Function = names["multi_head_attention"]
    return function


@pytest.mark.parametrize(
    "heads",
    [
        heads_of(BY_NAME, call="scaled_dot_product_attention(q, k, v, mask)[0]"),
        heads_of(f"{BY_NAME} as attend", call="attend(q, k, v, mask)[0]"),
        heads_of(
            BY_NAME,
            HELPED.format(name="scaled_dot_product_attention"),
            call="helps(q, k, v, mask)",
        ),
        heads_of(f"{BY_NAME} as attend", HELPED.format(name="attend"), call="helps(q, k, v, mask)"),
    ],
    ids=["by name", "by another name", "by a helper", "by a helper and another name"],
)
def test_the_readers_attention_is_called_however_it_is_reached(heads: Function) -> None:
    names: list[int] = []
    attention = counting(readers("scaled_dot_product_attention"), names)
    parts = Parts({"multi_head_attention": heads, "scaled_dot_product_attention": attention})
    build(CONFIG, parts).encode(torch.tensor([[4, 5]]))
    assert len(names) == CONFIG.n_layers
    parts = Parts({**parts.yours, "scaled_dot_product_attention": readers(OURS.split(".")[-1])})
    assert len(parts.about()) == 2  # how many are the reader's, and for what ours stand in


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        (
            heads_of("import transformer.attention", call=f"{OURS}(q, k, v, mask)[0]"),
            f"Your multi_head_attention calls {OURS}, which is ours. Import it by its name",
        ),
        (
            heads_of(call="__import__('torch').softmax(q @ k.mT / q.size(-1) ** 0.5, -1) @ v"),
            "Your multi_head_attention does not call your scaled_dot_product_attention.",
        ),
    ],
    ids=["of the module", "computed anew"],
)
def test_where_the_readers_attention_is_not_called_it_is_said(heads: Function, words: str) -> None:
    attention = readers("scaled_dot_product_attention")
    alone = Parts({"multi_head_attention": heads}).about()
    assert len(alone) == 2  # it is said already that ours stands in
    parts = Parts({"multi_head_attention": heads, "scaled_dot_product_attention": attention})
    assert parts.about()[2].startswith(words)


def test_a_part_that_is_made_of_ours_is_said() -> None:
    parts = Parts({"residual": lambda *arguments: EXERCISES["residual"].solution(*arguments)})
    (_, _, said) = parts.about()
    solved = "transformer_book.exercises.solutions.layers.residual"
    assert said == f"Your residual calls {solved}, which is ours."


def test_of_what_the_readers_functions_print_a_few_lines_are_shown(capsys) -> None:
    def chatty(x, sublayer, norm, dropout):
        print("this is x:", x.shape)
        return readers("residual")(x, sublayer, norm, dropout)

    model = build(CONFIG, Parts({"residual": chatty}))
    for _ in range(20):
        model.encode(torch.tensor([[4, 5]]))
    print("of another")
    printed = capsys.readouterr().out.splitlines()
    assert printed[:MOST_LINES] == [f"this is x: torch.Size([1, 2, {CONFIG.d_model}])"] * MOST_LINES
    assert printed[MOST_LINES:] == [HIDDEN.strip(), "of another"]


def test_a_few_lines_are_all_shown_and_one_long_line_is_cut(capsys) -> None:
    few = FewLines()
    with few.instead(), few.instead():
        print("one\ntwo")
    assert capsys.readouterr().out == "one\ntwo\n"
    with few.instead():
        print("x" * 10_000)
        print("more")
    shown = capsys.readouterr().out
    assert shown.count("x") < 3_000 and shown.endswith(f"x\n{HIDDEN}")


def greedy_with_a_tensor(next_logits, bos_id, eos_id, max_len):
    prefix = torch.tensor([bos_id])
    while len(prefix) <= max_len and (token := next_logits(prefix).argmax()) != eos_id:
        prefix = torch.cat([prefix, token[None]])
    return prefix[1:].tolist()


def greedy_with_a_tuple(next_logits, bos_id, eos_id, max_len):
    prefix = (bos_id,)
    while len(prefix) <= max_len and (token := int(next_logits(prefix).argmax())) != eos_id:
        prefix = (*prefix, token)
    return prefix[1:]


def greedy_with_a_batch(next_logits, bos_id, eos_id, max_len):
    prefix = torch.tensor([[bos_id]])
    while prefix.size(1) <= max_len and (token := next_logits(prefix).argmax()) != eos_id:
        prefix = torch.cat([prefix, token[None, None]], dim=1)
    return prefix[0, 1:].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("search", [greedy_with_a_tensor, greedy_with_a_tuple, greedy_with_a_batch])
def test_a_search_that_passes_its_check_runs_with_the_readers_model(search: Function) -> None:
    passes = check(search, "greedy_search").passed
    assert passes == (search is not greedy_with_a_batch)
    assert findings(Parts({"greedy_search": search}))["the_searches"] == passes


def test_weights_fit_from_one_to_the_other() -> None:
    own = build(CONFIG, all_of_them(), seed=3)
    torch.manual_seed(3)
    ours = Transformer(CONFIG)
    assert own.state_dict().keys() == ours.state_dict().keys()
    for name, weights in ours.state_dict().items():
        assert torch.equal(weights, own.state_dict()[name])


@pytest.mark.parametrize("settings", [{"norm": "pre"}, {"positions": "learned"}])
def test_another_model_than_the_papers_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="the exercises build the paper's model"):
        OwnTransformer(replace(CONFIG, **settings), Parts())


def test_a_cache_is_refused_by_the_readers_decoder() -> None:
    layer = build(CONFIG, Parts()).decoder.layers[0]
    x = torch.zeros(1, 1, CONFIG.d_model)
    with pytest.raises(ValueError, match="use_cache=False"):
        layer(x, x, caches=KeyValueCache(1).layers[0])


def test_parts_keep_what_passes_and_no_more() -> None:
    parts = Parts()
    assert parts.check(readers("residual"))
    assert [*parts.yours] == ["residual"]
    assert not parts.check(lambda x, sublayer, norm, dropout: x, "residual")
    assert not parts.yours
    assert len(parts) == len(EXERCISES) == len([*parts])


def test_words_are_cut_by_the_readers_merges() -> None:
    calls: list[int] = []
    parts = Parts({"merge_pair": counting(readers("merge_pair"), calls)})
    tokenizer = OwnSubwords.learn("ab ab abc bc bc", 3, parts)
    ids = tokenizer.encode("abc ab")
    assert tokenizer.decode([1, *ids, 2]) == "abc ab"
    assert tuple(tokenizer.spell(f"{SPACE}abc")) == apply_merges(f"{SPACE}abc", tokenizer.merges)
    assert tokenizer.pieces(ids)[0] == SPACE + "ab"
    assert '"merges"' in tokenizer.to_json()
    assert calls


# Training ------------------------------------------------------------------------------------


def test_the_readers_loss_and_rate_train_as_ours_do() -> None:
    task = copying(all_of_them())
    task = replace(task, training=replace(task.training, steps=3, log_every=1))
    own = OwnTrainer(build(task.config, all_of_them()), task, show_progress=False)
    torch.manual_seed(0)
    ours = Trainer(
        Transformer(task.config), task.pairs, task.training, device="cpu", show_progress=False
    )
    for one, other in zip(own.train(), ours.train(), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
        assert one["rate"] == pytest.approx(other["rate"])
    assert isinstance(own.model, OwnTransformer)


def test_a_training_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="choose one of copy, toy"):
        train("poems")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory):
    """The folder of a reader who has written all of it."""
    folder = tmp_path_factory.mktemp("track") / "mine"
    track = Track.open(folder)
    for name, path in files_in(folder).items():
        path.write_text(str(solution(name)))
        assert track.check(name)
    return folder


@pytest.mark.slow
def test_one_command_trains_the_readers_model_and_it_copies_all(finished, monkeypatch) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "cpu")
    done = run_book("exercise", str(finished), "--train", "copy")
    assert done.returncode == 0, done.stderr
    assert f"{len(STANDS)} of {len(STANDS)} parts are yours." in done.stdout
    assert done.stdout.count("✓") == len(PROPERTIES) and "✗" not in done.stdout
    assert "Copied whole: 1,000 of 1,000 sequences it has never seen" in done.stdout
    assert "your greedy search writes 10;" in done.stdout


@pytest.mark.slow
def test_the_readers_model_translates_toy_german(monkeypatch) -> None:
    """A smaller model than the command trains, for fewer steps."""
    monkeypatch.setenv("TRANSFORMER_SCALE", "cpu")
    monkeypatch.setattr(
        "transformer_book.exercises.track.training.toy_german", lambda n_train: toy_german(30_000)
    )
    task = translating(all_of_them())
    small = replace(task.config, d_model=64, d_ff=256, n_heads=4)
    task = replace(task, config=small, training=replace(task.training, steps=700))
    said: list[str] = []
    trained = train("toy", all_of_them(), task=task, say=said.append, show_progress=False)
    assert trained.right > 0.5 * trained.total
    text = task.splits["test_combinations"]
    assert trained.translator.tokenizer.decode(task.tokenizer.encode(text.target[0]))
    assert any(line.startswith("Translated exactly: ") for line in said)
    assert f"{trained.examples[0][0]} -> {trained.examples[0][1]}" in said[2]


@pytest.mark.slow
def test_training_shows_a_mask_that_leaks(monkeypatch) -> None:
    """Whoever reads the next symbol in training has not learned to find it."""
    monkeypatch.setenv("TRANSFORMER_SCALE", "cpu")
    leaking = Parts({**all_of_them().yours, "causal_mask": everyone_sees_the_next})
    task = copying(leaking)
    task = replace(task, training=replace(task.training, steps=100))
    said: list[str] = []
    trained = train("copy", leaking, task=task, say=said.append, show_progress=False)
    assert trained.right < 100


@pytest.mark.slow
def test_the_command_says_what_ours_stands_in_for(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRANSFORMER_SCALE", "smoke")
    folder = tmp_path / "mine"
    run_book("exercise", str(folder))
    files_in(folder)["softmax"].write_text(str(solution("softmax")))
    run_book("exercise", str(folder))
    done = run_book("exercise", str(folder), "--train", "copy")
    assert done.returncode == 0, done.stderr
    assert f"1 of {len(STANDS)} parts are yours." in done.stdout
    assert "Ours stand in for scaled_dot_product_attention, split_heads" in done.stdout
    assert "of 20 sequences it has never seen" in done.stdout
    assert "our greedy search writes" in done.stdout and "around our beam_step" in done.stdout
