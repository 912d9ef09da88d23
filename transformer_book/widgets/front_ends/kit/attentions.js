// @ts-check
// The model's three attentions; tests hold them equal to transformer_book.widgets.attentions.

export const ONE = 1000; // a weight of 1: they come as thousandths

/** @typedef {"source" | "target"} Side */

/**
 * What each is called, whose tokens ask, and whose tokens are asked.
 * @type {Object<string, {name: string, queries: Side, keys: Side}>}
 */
export const ATTENTIONS = {
  "encoder self": { name: "encoder self-attention", queries: "source", keys: "source" },
  "decoder self": { name: "decoder self-attention", queries: "target", keys: "target" },
  cross: { name: "cross-attention", queries: "target", keys: "source" },
};
