// The competitors of measurements/live_model.py, in a page: each is loaded, and translates by greedy
// search, the least that a page has to do.
(() => {
  const [BOS, EOS, EXTRA] = [1, 2, 50];

  /** @param {string} path */
  const run = (path) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = path;
    script.addEventListener("load", () => resolve(undefined));
    script.addEventListener("error", () => reject(new Error(`${path} did not load`)));
    document.head.append(script);
  });

  /** Ours, as widgets.js loads it. */
  async function ours(simd, { name, parts }) {
    if (!globalThis.bookWidgets?.live) await run("_static/widgets/live.js");
    for (let i = 0; i < parts; i += 1) await run(`_static/models/${name}/${i}.js`);
    const live = await globalThis.bookWidgets.live.open(globalThis.bookModels[name], { simd });
    delete globalThis.bookModels[name];
    if (simd !== (live.engine === "simd")) throw new Error(`the engine is ${live.engine}`);
    return async ({ text }, watch) => (await live.translate(text, { watch })).tokens;
  }

  /** ONNX Runtime Web on the page's own thread, as ours. */
  async function onnx(variant, { maxLen, pastShape }) {
    if (!globalThis.ort) {
      await run("onnx/ort.wasm.min.js");
      globalThis.ort.env.wasm.numThreads = 1;
      globalThis.ort.env.wasm.wasmPaths = new URL("onnx/", location.href).href;
    }
    const { InferenceSession, Tensor } = globalThis.ort;
    const [encoder, step] = await Promise.all(["encoder", "step"].map((part) =>
      InferenceSession.create(`onnx/${variant}/${part}.onnx`)));
    const whole = (numbers) =>
      new Tensor("int64", BigInt64Array.from(numbers, BigInt), [1, numbers.length]);
    return async ({ source }, watch) => {
      const src = whole(source);
      const { keys, values } = await encoder.run({ src });
      const nothing = () => new Tensor("float32", new Float32Array(0), pastShape);
      let [past_keys, past_values, token] = [nothing(), nothing(), BOS];
      const tokens = [];
      while (tokens.length < Math.min(source.length + EXTRA, maxLen)) {
        const found = await step.run({ token: whole([token]), src, past_keys, past_values,
          source_keys: keys, source_values: values });
        [past_keys, past_values] = [found.new_keys, found.new_values];
        const row = found.log_probs.data;
        token = 0;
        for (let i = 1; i < row.length; i += 1) if (row[i] > row[token]) token = i;
        watch();
        if (token === EOS) break;
        tokens.push(token);
      }
      return tokens;
    };
  }

  const translators = new Map();

  globalThis.competition = {
    /** Loads a competitor; milliseconds. */
    async load(name, settings) {
      const began = performance.now();
      const found = await (name in settings.engines
        ? ours(settings.engines[name], settings.model) : onnx(name, settings.onnx));
      translators.set(name, found);
      return performance.now() - began;
    },
    /** Translates all sentences: the tokens, and milliseconds to the first of them and to the end. */
    async translate(name, sentences) {
      const began = performance.now();
      let first = 0;
      let steps = 0;
      const outputs = [];
      for (const sentence of sentences) {
        outputs.push(await translators.get(name)(sentence, () => {
          first ||= performance.now() - began;
          steps += 1;
        }));
      }
      return { outputs, first, steps, wall: performance.now() - began };
    },
  };
})();
