"""The model as a page has it, run by Node: jobs in, what its methods give out."""

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tests.helpers.node import in_node
from transformer.text import EOS_ID
from transformer.translation import Translator

from transformer_book.page.model_scripts import Packed, pack
from transformer_book.widgets.base import FRONT_ENDS
from transformer_book.widgets.beam_explorer import tokens_of

LIVE = FRONT_ENDS / "live"
DRIVER = """
import fs from "node:fs";
const { default: live } = await import(process.argv[1]);
const { decoder } = await import(process.argv[1].replace("index.js", "decoder.js"));
const { answer } = await import(process.argv[1].replace("live/index", "broken_translator/answers"));
const { parts, simd, jobs } = JSON.parse(fs.readFileSync(0, "utf8"));
const model = await live.open(parts, { simd });
const list = (row) => Array.from(row);
const METHODS = {
  engine: () => model.engine,
  translate: async ({ text, silenced = [], ...others }) => {
    const steps = [];
    const found = await model.translate(text, { ...others, silenced: new Set(silenced),
      watch: (step) => steps.push(step.token) });
    return { tokens: found.tokens, score: found.score, text: found.text, steps,
      logProbs: others.given ? found.steps.map(({ logProbs }) => list(logProbs)) : [] };
  },
  search: async ({ text, ...settings }) => {
    const steps = [];
    const found = await model.search(text, { ...settings, watch: (step) => steps.push(step) });
    return { found, steps: settings.nBest > 1 ? steps : [] };
  },
  decoder: async ({ constants, ...question }) => {
    const state = { constants, question, contents: { runs: [] } };
    const lengths = [];
    await decoder({ get: (name) => state[name], set: (name, value) => {
      state[name] = value;
      lengths.push(value.runs.at(-1).tokens.length);
    } }, model);
    return { runs: state.contents.runs, lengths };
  },
  broken: async ({ constants, attention, ...question }) => {
    const state = { constants, attention, contents: { runs: [] } };
    const own = { get: (name) => state[name], set: (name, value) => { state[name] = value; } };
    await answer(own, model, question);
    return state.contents.runs;
  },
  readBack: ({ text, beamSize }) => model.readBack(text, beamSize),
  attention: ({ text }) => model.attention(text),
  encode: ({ texts }) => texts.map((text) => model.tokenizer.encode(text)),
  fewest: ({ texts }) => texts.map((text) => model.tokenizer.fewest(text)),
  decode: ({ lists }) => lists.map((ids) => model.tokenizer.decode(ids)),
};
const answers = [];
for (const { method, ...settings } of jobs) {
  try {
    answers.push(await METHODS[method](settings));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    answers.push({ refused: error.message });
  }
}
console.log(JSON.stringify(answers));
"""


@lru_cache(maxsize=8)
def packed(translator: Translator) -> Packed:
    """Packing takes half a second, and several tests ask for the same model."""
    return pack(translator)


def source_ids(translator: Translator, text: str) -> list[int]:
    """The tokens that a model reads: the page asks for a direction as Python does."""
    return [*tokens_of(translator, text), EOS_ID]


def answers(
    translator: Translator, jobs: Sequence[dict[str, Any]], *, simd: bool = True
) -> list[Any]:
    """What the page's model answers to each job; a refusal is {"refused": its sentence}."""
    parts = [base64.b64encode(part).decode() for part in packed(translator).parts]
    given = {"parts": parts, "simd": simd, "jobs": list(jobs)}
    found: list[Any] = in_node(DRIVER, given, (LIVE / "index.js").as_uri())
    return found
