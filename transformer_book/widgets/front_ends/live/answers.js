// @ts-check
// What Python answers in Jupyter to a reader's own sentence, answered by the model in the page.

import { ATTENTIONS, ONE } from "../kit/attentions.js";
import { assign, bytesOf, inflate } from "../kit/model.js";
import { decoder } from "./decoder.js";
import { deflated, joined } from "./parts.js";
import { EOS, SPACE } from "./tokenizer.js";

/**
 * @typedef {import("../kit/model.js").Model} Model
 * @typedef {import("./index.js").Live} Live
 */

const MOST_TOKENS = 120; // of a sentence: more could not be seen in a picture
const BROKEN = "the page has a fault, by which it could not answer; another sentence may do";
const ELSEWHERE = "another figure of this page has asked the model meanwhile; ask again";
const DIGITS = 5; // of each logarithm, as BeamExplorer has them
/** @type {Object<string, (layer: number) => string>} */
const NAMES = {
  "encoder self": (layer) => `encoder.${layer}.self`,
  "decoder self": (layer) => `decoder.${layer}.self`,
  cross: (layer) => `decoder.${layer}.cross`,
};

/** A token without the sign for a space, as AttentionHeads has it. @param {string} token */
const plain = (token) => token.replaceAll(SPACE, "") || token;

/** AttentionHeads: one more example behind the others. @param {Model} model @param {Live} live @param {string} text */
async function heads(model, live, text) {
  const { source, target, weights, translation, note } = await live.attention(text);
  const { heads: kinds, examples } = model.get("contents");
  const cells = Object.keys(ATTENTIONS).filter((kind) => kind in kinds).flatMap((kind) =>
    kinds[kind].flatMap((/** @type {number} */ _, /** @type {number} */ layer) =>
      weights[NAMES[kind](layer)].flat(2).map((w) => Math.min(ONE, Math.round(w * ONE)))));
  const old = await inflate(bytesOf(model.get("packed")));
  // All low bytes, then all high bytes.
  const both = joined([
    old.subarray(0, old.length / 2), Uint8Array.from(cells, (cell) => cell & 255),
    old.subarray(old.length / 2), Uint8Array.from(cells, (cell) => cell >> 8),
  ]);
  const packed = await deflated(both);
  const written = model.get("written") && { source: source.map(plain),
    target: [...target.slice(1), ...live.pieces([EOS])].map(plain) };
  const example = { source, target, ...written, alignment: [], said: `${text} \u2192 ${translation}` };
  model.set("contents", { heads: kinds, examples: [...examples, example],
    ...(note ? { note } : {}), ...(live.ways ? { back: translation } : {}) });
  model.set("packed", new DataView(packed.buffer));
  assign(model, "example", examples.length);
}

/** BeamExplorer: the trees of one more sentence. @param {Model} model @param {Live} live @param {string} text */
async function beams(model, live, text) {
  const { pieces: before, end: endBefore, ...contents } = model.get("contents");
  const pieces = [...before];
  let end = endBefore;
  /** @type {Map<number, number>} */
  const places = new Map();
  const placeOf = (/** @type {number} */ token) => {
    const [piece] = live.pieces([token]);
    const known = places.get(token) ?? (token === EOS ? end : pieces.indexOf(piece));
    const place = known < 0 ? pieces.push(piece) - 1 : known;
    if (token === EOS) end = place;
    places.set(token, place);
    return place;
  };
  const rounded = (/** @type {number} */ x) => Number(x.toFixed(DIGITS));
  /** @type {Object<string, import("../beam_explorer/data.js").Columns>} */
  const trees = {};
  for (const beamSize of contents.beam_sizes) {
    /** @type {import("../beam_explorer/data.js").Columns} */
    const columns = { parent: [], token: [], log_prob: [], total: [], fate: "", cut: false };
    let alive = [0]; // the nodes of the prefixes
    await live.search(text, { beamSize, nBest: beamSize, alpha: contents.alpha,
      watch({ candidates, living, cut }) {
        const first = columns.parent.length + 1;
        for (const { parent, token, logProb, total, fate } of candidates) {
          columns.parent.push(alive[parent]);
          columns.token.push(placeOf(token));
          columns.log_prob.push(rounded(logProb));
          columns.total.push(rounded(total));
          columns.fate += fate[0];
        }
        alive = living.map((i) => first + i);
        columns.cut = cut;
      } });
    trees[beamSize] = columns;
  }
  const examples = [...contents.examples, { source: text, trees }];
  model.set("contents", { ...contents, pieces, end, examples });
  assign(model, "example", examples.length - 1);
}

/**
 * Which trait asks, and who answers.
 * @type {Object<string, [string, (model: Model, live: Live, asked: any) => Promise<void>]>}
 */
const ANSWERS = {
  attention_heads: ["sentence", heads],
  beam_explorer: ["sentence", beams],
  decoder_at_work: ["question", decoder],
};

/** Figures that follow another ask one after the other: the model answers one at a time. */
let turn = Promise.resolve();
/** Until when the figure asks that they follow. */
let leading = Promise.resolve();

/** Answers when that figure does not ask, and once more if it came between. @param {() => Promise<void>} now */
async function behind(now) {
  for (;;) {
    const lead = leading;
    await lead.catch(() => {});
    try {
      if (lead === leading) return await now();
    } catch (error) {
      if (lead === leading) throw error;
    }
  }
}

/**
 * Answers to each change of a widget's "sentence" or "question" as its class does in Python, by
 * "contents" or by a "message"; a front end may bring its own way to.
 * @param {Model} model @param {Live} live
 */
export function answer(model, live) {
  const [trait, respond] = ANSWERS[model.get("front_end")] ?? model.answers ?? [];
  if (!respond) return; // a front end that asks the model itself
  let newest = 0;
  model.on(`change:${trait}`, async () => {
    const asked = model.get(trait);
    if (!asked) return;
    newest += 1;
    const own = newest;
    model.set("message", "");
    try {
      if (trait === "sentence") live.source(asked, MOST_TOKENS); // refuses what is too long
      const now = async () => {
        if (own === newest) await respond(model, live, asked);
      };
      if (model.get("live")?.follows) {
        turn = turn.catch(() => {}).then(() => behind(now));
        await turn;
      } else {
        leading = now();
        await leading;
      }
    } catch (error) {
      const superseded = error instanceof Error && error.name === "Superseded";
      if (superseded && own !== newest) return;
      if (error instanceof RangeError) model.set("message", error.message);
      else model.set("message", superseded ? ELSEWHERE : BROKEN);
      if (trait === "sentence") model.set(trait, ""); // so that the same one can be asked again
      if (!superseded && !(error instanceof RangeError)) throw error; // for the console
    }
  });
}
