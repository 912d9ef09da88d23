"""Steps of an output: Python's against the model's own passes, and the page's against Python's."""

import itertools

import pytest
import torch

from tests.transformer_book.widgets.decoder_examples import OWN, TOY, decoder, translator
from tests.transformer_book.widgets.in_node import answers, source_ids
from transformer.decoding import EXTRA_LENGTH, greedy_search
from transformer.introspect import record_attention
from transformer.text import BOS_ID, EOS_ID

from transformer_book.aligned import aligned_everyday
from transformer_book.heads.measures import log_probabilities, without_heads
from transformer_book.shipped import shipped_model
from transformer_book.widgets.decoder_at_work import DecoderAtWork
from transformer_book.widgets.output_steps import TEMPERATURES, output_steps, steps_state

SENTENCES = [pair.source_text for pair in aligned_everyday()][:30]
NAME = "everyday"
CROSS = [f"decoder.{layer}.cross.{head}" for layer in range(3) for head in range(4)]
SILENCED = {
    "none": [],
    "a head of the encoder": ["encoder.0.self.1"],
    "a head that reads the output": ["decoder.2.self.3"],
    "a head across": ["decoder.1.cross.0"],
    "one of each": ["encoder.2.self.0", "decoder.0.self.2", "decoder.2.cross.1"],
    "all but one across": [name for name in CROSS if name != "decoder.2.cross.1"],
    "all of a layer": ["decoder.0.cross.0", "decoder.0.cross.1", "decoder.0.cross.2",
                       "decoder.0.cross.3"],
}  # fmt: skip


def by_name(names):
    heads = {}
    for name in names:
        heads.setdefault(name.rpartition(".")[0], []).append(int(name.rpartition(".")[2]))
    return heads


def question(sentence, given=(), silenced=(), **draw):
    run = {"at": 0, "sentence": sentence, "given": list(given), **draw}
    constants = decoder().constants
    return {"method": "decoder", "constants": constants, "number": 7, "runs": [run],
            "silenced": list(silenced)}  # fmt: skip


def assert_same(ours, theirs):
    """A run of the page and one of Python."""
    assert ours.keys() == theirs.keys() | {"number", "done", "given", "drawn", "silenced"}
    for name in ("sentence", "source", "tokens", "pieces"):
        assert ours[name] == theirs[name], name
    for name in ("written", "logs", "sums"):
        found, expected = torch.tensor(ours[name]), torch.tensor(theirs[name])
        assert (found - expected).abs().max() < 3e-4, name
    for likely, expected, logs in zip(ours["ids"], theirs["ids"], theirs["logs"], strict=True):
        # Two as probable to four decimals may stand the other way round, at the end too.
        clear = [a - b > 3e-4 for a, b in itertools.pairwise(logs)]
        for i, token in enumerate(expected[:-1]):
            if clear[i] and (i == 0 or clear[i - 1]):
                assert likely[i] == token
    difference = torch.tensor(ours["cross"]) - torch.tensor(theirs["cross"])
    assert difference.abs().max() <= 1  # a thousandth that is rounded the other way
    assert ours["done"] and ours["number"] == 7


@pytest.mark.slow
@pytest.mark.parametrize("silenced", SILENCED.values(), ids=SILENCED)
def test_the_page_writes_what_python_writes_with_the_same_heads_silenced(silenced):
    jobs = [question(text, silenced=silenced) for text in SENTENCES[:3]]
    scores = set()
    for text, found in zip(SENTENCES, answers(shipped_model(), jobs), strict=False):
        steps = output_steps(translator(NAME), text, silenced=silenced)
        expected = steps_state(translator(NAME), text, steps)
        assert_same(found["runs"][0], expected)
        assert found["runs"][0]["silenced"] == silenced
        n_steps = len(steps.tokens)
        assert found["lengths"] == [*range(1, n_steps + 1), n_steps]  # token by token
        scores.add(round(sum(expected["written"]), 3))
    assert len(scores) == 3


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 4])
def test_another_token_goes_on_as_in_python(step):
    text = SENTENCES[1]
    first = output_steps(translator(NAME), text)
    third = first.log_probs[step - 1].topk(3).indices[2].item()
    given = [*first.tokens[: step - 1], third]
    silenced = SILENCED["one of each"]
    jobs = [question(text, given), question(text, given, silenced)]
    for found, heads in zip(answers(shipped_model(), jobs), [(), silenced], strict=True):
        steps = output_steps(translator(NAME), text, given=given, silenced=heads)
        assert steps.tokens[:step] == given != first.tokens[:step]
        assert_same(found["runs"][0], steps_state(translator(NAME), text, steps))
        assert found["runs"][0]["given"] == step


@pytest.mark.slow
def test_the_same_words_cost_what_they_cost_without_a_head():
    text, silenced = SENTENCES[2], SILENCED["one of each"]
    tokens = output_steps(translator(NAME), text).tokens
    (found,) = answers(shipped_model(), [question(text, tokens, silenced)])
    run, model = found["runs"][0], translator(NAME).model
    src = torch.tensor([source_ids(translator(NAME), text)])
    with without_heads(model, by_name(silenced)):
        expected = log_probabilities(model, src, torch.tensor([[BOS_ID, *tokens]]))[0]
    assert run["tokens"] == tokens
    assert run["written"] == pytest.approx(expected.tolist(), abs=2e-4)


@pytest.mark.slow
def test_a_draw_from_one_token_is_no_draw_and_its_settings_are_kept():
    text = SENTENCES[0]
    best = output_steps(translator(NAME), text)
    jobs = [question(text, temperature=2.0, top_k=1), question(text, temperature=1.5, top_k=0)]
    cold, hot = (found["runs"][0] for found in answers(shipped_model(), jobs))
    assert (cold["tokens"], cold["drawn"], hot["drawn"]) == (best.tokens, [2.0, 1], [1.5, 0])
    # Whatever was drawn, its probabilities are the model's own.
    again = output_steps(translator(NAME), text, given=hot["tokens"])
    assert_same(hot, steps_state(translator(NAME), text, again))
    drawn = output_steps(translator(NAME), text, temperature=2.0, top_k=1)
    assert drawn.tokens == best.tokens


def test_what_cannot_be_shown_is_refused_in_pythons_words():
    jobs = [question(text) for text in ("", " \n", " ".join(["Hund"] * 120))]
    page = answers(shipped_model(), jobs)
    for job, found in zip(jobs, page, strict=True):
        with pytest.raises(ValueError) as caught:
            output_steps(translator(NAME), job["runs"][0]["sentence"])
        assert found == {"refused": str(caught.value)}
    assert "This is too long: 121 pieces, and 120 can be shown. Shorten it." in page[2]["refused"]


def test_steps_are_greedy_search_and_the_models_own_passes():
    model, text = translator().model, OWN
    steps = output_steps(translator(), text)
    src = torch.tensor([steps.source])
    limits = {"bos_id": BOS_ID, "eos_id": EOS_ID, "max_len": len(steps.source) + EXTRA_LENGTH}
    ((expected,),) = greedy_search(model, src, **limits)
    assert steps.tokens == [*expected.tokens, EOS_ID]
    written = steps.log_probs[range(len(steps.tokens)), steps.tokens]
    assert written.sum().item() == pytest.approx(expected.score, abs=1e-4)
    with torch.no_grad(), record_attention(model) as weights:
        for n in range(len(steps.tokens)):
            logits = model(src, torch.tensor([[BOS_ID, *steps.tokens[:n]]]))[0, -1]
            assert (steps.log_probs[n] - logits.log_softmax(-1)).abs().max() < 1e-4
            cross = [weights[f"decoder.{i}.cross"][0, :, -1] for i in range(2)]
            assert (steps.cross[n] - torch.cat(cross)).abs().max() < 1e-5
    sums = torch.tensor(steps_state(translator(), text, steps)["sums"])
    for t, column in zip(TEMPERATURES, sums.T, strict=True):
        whole = (steps.log_probs.double() / t).exp().sum(-1).log()
        assert column.tolist() == pytest.approx(whole.tolist(), abs=1e-4)


def test_an_output_that_does_not_end_stops_at_the_papers_limit():
    every = [f"decoder.{i}.cross.{h}" for i in range(2) for h in range(8)]
    steps = output_steps(translator(), TOY, silenced=every, given=[7] * 80)
    assert len(steps.tokens) == len(steps.source) + EXTRA_LENGTH and EOS_ID not in steps.tokens
    assert len(steps.log_probs) == len(steps.tokens)


def test_candidates_after_temperature_and_top_k():
    one = decoder(OWN, step=2)
    log_probs = output_steps(translator(), OWN).log_probs[1]
    for temperature in TEMPERATURES:
        one.temperature = temperature
        for top_k in (0, 1, 3, 8):
            one.top_k = top_k
            kept = (log_probs / temperature).topk(top_k or len(log_probs))
            expected = dict(
                zip(kept.indices.tolist(), kept.values.softmax(0).tolist(), strict=True)
            )
            for candidate in one.candidates():
                wanted = expected.get(candidate["token"], 0.0)
                assert candidate["drawn"] == pytest.approx(wanted, abs=5e-4)
                probability = log_probs[candidate["token"]].exp().item()
                assert candidate["probability"] == pytest.approx(probability, abs=1e-4)


def test_a_kernel_answers_a_question_by_contents_or_by_a_sentence():
    one = decoder([TOY, OWN])
    before = one.run()
    one.ask(silenced=["decoder.1.cross.0"], given=before["tokens"][:1])
    assert (one.message, one.run()["given"]) == ("", 1)
    assert one.run()["silenced"] == ["decoder.1.cross.0"]
    assert one.run(1)["silenced"] == [] and one.run(1)["sentence"] == OWN
    kept = one.contents
    for asked, named in (
        ({"sentence": "Hund " * 200}, "too long: 200 pieces, and 120 can be shown"),
        ({"sentence": "  "}, "the sentence is empty"),
        ({"silenced": ["decoder.9.cross.0"]}, "there is no attention 'decoder.9.cross'"),
        ({"silenced": ["decoder.0.cross.8"]}, "decoder.0.cross has no head 8"),
        ({"silenced": ["nothing"]}, "'nothing' names no head"),
        ({"given": [496]}, "the model's tokens are 0 to 495"),
        ({"temperature": 0.0}, r"temperature \(0.0\) must be a number above 0"),
    ):
        one.ask(**asked)
        assert one.contents == kept
        with pytest.raises(ValueError, match=named):
            raise ValueError(one.message)
    one.ask(sentence="der Mann schläft .")
    assert one.message == "" and one.run()["sentence"] == "der Mann schläft ."


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"sentences": []}, "there are 0 sentences; give one or two"),
        ({"sentences": [TOY] * 3}, "there are 3 sentences"),
        ({"sentences": ""}, "the sentence is empty"),
        ({"given": [[999]]}, "the model's tokens are"),
        ({"silenced": ["decoder.0.cross.9"]}, "has no head 9"),
        ({"layer": 2}, r"layer \(2\) must be 0 to 1"),
        ({"head": -1}, r"head \(-1\) must be 0 to 7"),
        ({"step": 0}, "step"),
        ({"view": "graph"}, "view"),
        ({"temperature": 0.3}, "temperature"),
        ({"top_k": 4}, "top_k"),
    ],
)
def test_settings_that_make_no_sense_are_a_sentence(settings, named):
    sentences = settings.pop("sentences", TOY)
    with pytest.raises(Exception, match=named) as error:
        DecoderAtWork(translator(), sentences, **settings)
    assert type(error.value).__name__ in ("ValueError", "TraitError")


def test_given_tokens_and_silenced_heads_from_the_start():
    tokens = translator().tokenizer.encode("the woman")
    one = decoder([TOY, OWN], given=[tokens], silenced=["encoder.0.self.0"])
    assert one.text().startswith("the woman") and one.run()["given"] == 2
    assert one.run(1)["given"] == 0
    assert one.run(1)["silenced"] == ["encoder.0.self.0"]
    assert one.log_probability() == pytest.approx(sum(one.run()["written"]))


def test_the_twin_draws_the_same_step():
    one = decoder([TOY, OWN], step=3, layer=1, head=2, beside=True)
    figure = one.twin()
    assert len(figure.axes) == 4
    for sentence in (0, 1):
        looked, bars = figure.axes[2 * sentence : 2 * sentence + 2]
        run = one.run(sentence)
        widths = [patch.get_width() for patch in bars.patches]
        assert widths == pytest.approx([c["probability"] for c in one.candidates(sentence)])
        weights = [w / 1000 for w in run["cross"][2][10]]
        assert [line.get_alpha() for line in looked.lines] == [w for w in weights if w >= 0.05]
        words = [text.get_text() for text in looked.texts]
        assert [word for word in words if not word[0].isdigit()] == [
            *run["source"], *run["pieces"][:3]]  # fmt: skip
        assert f"{run['pieces'][2]} (written)" in [t.get_text() for t in bars.get_yticklabels()]
    assert len(decoder(TOY, step=99).twin().axes) == 2  # the last step stands for all beyond it
