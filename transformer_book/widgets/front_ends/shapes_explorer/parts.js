// @ts-check
// The parts of Figure 1 in reading order: the axes of what passes through each, its parameters.
// Tests hold them equal to what the module does.

/**
 * @typedef {{batch: number, src_len: number, tgt_len: number, d_model: number, n_heads: number,
 *   d_k: number, d_ff: number, n_layers: number, vocab: number}} Settings
 * @typedef {keyof Settings} Axis
 * @typedef {{key: string, what: string, axes: Axis[]}} Row a tensor
 * @typedef {object} Part
 * @property {string} id
 * @property {"encoder" | "decoder"} stack
 * @property {string} name what its box says
 * @property {string} where tells boxes of the same name apart
 * @property {"attention" | "feed-forward" | "norm" | "embedding" | "output" | "tensor"} kind
 * @property {Row[]} rows the input first, the output last
 * @property {string} formula of the parameters, "" where there are none
 * @property {(s: Settings) => number} parameters of the part, in one layer
 * @property {boolean} repeated whether each of the N layers has one
 * @property {boolean} shared whether its matrix is the source embedding's
 * @property {string} sentence
 */

/** @param {string} key @param {string} what @param {...Axis} axes @returns {Row} */
const row = (key, what, ...axes) => ({ key, what, axes });

const noParameters = () => 0;

/** What most parts share. @param {Partial<Part>} own @returns {Part} */
function part(own) {
  const common = { where: "", formula: "", parameters: noParameters, repeated: false,
    shared: false };
  return /** @type {Part} */ ({ ...common, ...own });
}

/** @typedef {{stack: "encoder" | "decoder", side: "src" | "tgt", len: "src_len" | "tgt_len"}} Tower */

/** @param {Tower} tower @returns {Part[]} */
function entrance({ stack, side, len }) {
  const source = side === "src";
  const table = { formula: "vocabulary · d_model",
    parameters: (/** @type {Settings} */ s) => s.vocab * s.d_model };
  return [
    part({ id: side, stack, where: "token ids", kind: "tensor",
      name: source ? "Source tokens" : "Target tokens, shifted right",
      rows: [row("output", "token ids", "batch", len)],
      sentence: source
        ? "One row for each sentence of the batch, one whole number for each token."
        : "The target as far as it is known: a start mark first, so that each position predicts "
          + "the token after the one that it reads." }),
    part({ id: `${side}_embedding`, stack, where: stack, kind: "embedding",
      name: "Embedding × √d_model", ...table, shared: !source,
      rows: [row("input", "token ids", "batch", len),
        row("table", "embedding matrix", "vocab", "d_model"),
        row("output", "vectors", "batch", len, "d_model")],
      sentence: "Each id picks a row of the matrix: from here on, a token is a vector of d_model "
        + "numbers." }),
    part({ id: `${side}_positions`, stack, where: stack, kind: "embedding",
      name: "+ positions",
      rows: [row("input", "vectors", "batch", len, "d_model"),
        row("table", "sinusoids", len, "d_model"),
        row("output", "vectors with positions", "batch", len, "d_model")],
      sentence: "The same sinusoids are added to every sentence of the batch: the table has no "
        + "batch axis." }),
  ];
}

/** @param {Tower} tower @param {Partial<Part>} own @param {boolean} cross */
function attentionPart({ stack, len }, own, cross = false) {
  const keys = cross ? "src_len" : len;
  const memory = cross ? [row("memory", "memory", "batch", keys, "d_model")] : [];
  return part({ stack, where: stack, kind: "attention", repeated: true, ...own,
    formula: "4 · d_model · (h · d_k)",
    parameters: (s) => 4 * s.d_model * s.n_heads * s.d_k,
    rows: [row("input", "input", "batch", len, "d_model"), ...memory,
      row("query", "queries, projected and split", "batch", "n_heads", len, "d_k"),
      row("key", "keys, projected and split", "batch", "n_heads", keys, "d_k"),
      row("value", "values, projected and split", "batch", "n_heads", keys, "d_k"),
      row("scores", "scores and weights", "batch", "n_heads", len, keys),
      row("heads", "weighted sums of values", "batch", "n_heads", len, "d_k"),
      row("concat", "heads side by side", "batch", len, "d_model"),
      row("output", "output", "batch", len, "d_model")] });
}

/** @param {Tower} tower @param {string} id @param {string} sublayer */
function normPart({ stack, len }, id, sublayer) {
  return part({ id: `${stack}_${id}`, stack, name: "Add & Norm", kind: "norm",
    where: `${stack}, after ${sublayer}`, repeated: true, formula: "2 · d_model",
    parameters: (s) => 2 * s.d_model,
    rows: [row("input", "shortcut", "batch", len, "d_model"),
      row("sublayer", "output of the sub-layer", "batch", len, "d_model"),
      row("output", "normed sum", "batch", len, "d_model")],
    sentence: "Two tensors of one shape are added, so every sub-layer has to give back the "
      + "shape that it got." });
}

/** @param {Tower} tower */
function feedForwardPart({ stack, len }) {
  return part({ id: `${stack}_feed_forward`, stack, name: "Feed-forward", where: stack,
    kind: "feed-forward", repeated: true, formula: "2 · d_model · d_ff + d_ff + d_model",
    parameters: (s) => 2 * s.d_model * s.d_ff + s.d_ff + s.d_model,
    rows: [row("input", "input", "batch", len, "d_model"),
      row("inner", "inner layer", "batch", len, "d_ff"),
      row("output", "output", "batch", len, "d_model")],
    sentence: "Each position alone is widened to d_ff numbers and brought back." });
}

/** @type {Tower} */
const ENCODER = { stack: "encoder", side: "src", len: "src_len" };
/** @type {Tower} */
const DECODER = { stack: "decoder", side: "tgt", len: "tgt_len" };

/** @type {Part[]} */
export const PARTS = [
  ...entrance(ENCODER),
  attentionPart(ENCODER, { id: "encoder_self", name: "Self-attention",
    sentence: "Queries, keys and values all come from the source: the scores are a square for "
      + "each head." }),
  normPart(ENCODER, "norm_1", "self-attention"),
  feedForwardPart(ENCODER),
  normPart(ENCODER, "norm_2", "feed-forward"),
  part({ id: "memory", stack: "encoder", name: "Memory", where: "after N encoder layers",
    kind: "tensor", rows: [row("output", "memory", "batch", "src_len", "d_model")],
    sentence: "What the last encoder layer gives; every decoder layer reads it." }),
  ...entrance(DECODER),
  attentionPart(DECODER, { id: "decoder_self", name: "Masked self-attention",
    sentence: "As in the encoder, but on the target, and no position attends to a later one; a "
      + "mask changes values, no shape." }),
  normPart(DECODER, "norm_1", "masked self-attention"),
  attentionPart(DECODER, { id: "cross", name: "Cross-attention",
    sentence: "The only place where both lengths meet: queries from the target, keys and values "
      + "from the memory." }, true),
  normPart(DECODER, "norm_2", "cross-attention"),
  feedForwardPart(DECODER),
  normPart(DECODER, "norm_3", "feed-forward"),
  part({ id: "output", stack: "decoder", name: "Linear", where: "output projection",
    kind: "output", shared: true, formula: "vocabulary · d_model",
    parameters: (s) => s.vocab * s.d_model,
    rows: [row("input", "decoder's vectors", "batch", "tgt_len", "d_model"),
      row("table", "embedding matrix, once more", "vocab", "d_model"),
      row("output", "logits", "batch", "tgt_len", "vocab")],
    sentence: "Each vector is compared with every row of the embedding matrix: a score for each "
      + "token." }),
  part({ id: "softmax", stack: "decoder", name: "Softmax", where: "over the vocabulary",
    kind: "output",
    rows: [row("input", "logits", "batch", "tgt_len", "vocab"),
      row("output", "probabilities", "batch", "tgt_len", "vocab")],
    sentence: "At each target position the scores become probabilities of the next token. Our "
      + "model stops at the logits; the search and the loss take the logarithm of the softmax." }),
];

/** @param {Row} tensor @param {Settings} settings */
export function shapeOf(tensor, settings) {
  return tensor.axes.map((axis) => settings[axis]);
}

/** All parameters of the model, a shared matrix once. @param {Settings} settings */
export function allParameters(settings) {
  return PARTS.filter((part) => !part.shared).reduce((sum, part) =>
    sum + part.parameters(settings) * (part.repeated ? settings.n_layers : 1), 0);
}
