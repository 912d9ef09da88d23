"""The product in the page: WebAssembly and plain JavaScript against double precision."""

import pytest

from tests.conftest import ROOT
from tests.helpers.node import in_node
from tests.transformer_book.widgets.in_node import LIVE
from tools.front_ends import install

COMPARE = f"""
import {{ plainEngine, simdEngine }} from "{(LIVE / "product.js").as_uri()}";
const sizes = [[1, 1], [3, 5], [16, 8], [100, 7], [256, 1024], [6, 4096], [70, 33]]
  .map(([outs, ins]) => ({{ outs, ins }}));
const random = ((state) => () => (state = (state * 48271) % 2147483647) / 2147483647)(7);
const VECTORS = {{
  usual: () => random() - 0.5,
  zeros: () => 0,
  small: () => 1e-20 * (random() - 0.5),
  large: () => 1e25 * (random() - 0.5),
  outlier: (i) => (i ? 1e-4 * (random() - 0.5) : 3e4),
  extreme: () => 2 - 2 ** -23,
  lowest: () => -2 + 2 ** -23,
}};
const found = {{}};
for (const engine of [await simdEngine(sizes), plainEngine()]) {{
  for (const {{ outs, ins }} of sizes) {{
    const matrix = engine.matrix(outs, ins);
    for (let o = 0; o < outs; o += 1) {{
      matrix.scales[o] = random() * 1e-3;
      for (let i = 0; i < ins; i += 1) {{
        matrix.rows[o * matrix.stride + i] = o === 2 ? 127 : Math.round(random() * 254) - 127;
      }}
    }}
    for (const [kind, number] of Object.entries(VECTORS)) {{
      for (const [n, withBias] of [[1, true], [40, false]]) {{
        const x = Float32Array.from({{ length: n * ins }}, (_, at) => number(at % ins));
        const bias = withBias ? Float32Array.from({{ length: outs }}, () => random()) : null;
        const y = new Float32Array(n * outs).fill(NaN);
        for (const _ of engine.product(x, n, matrix, bias, y)) ;
        let worst = 0;
        for (let r = 0; r < n; r += 1) {{
          const own = x.subarray(r * ins, (r + 1) * ins);
          const top = Math.max(...own.map(Math.abs));
          for (let o = 0; o < outs; o += 1) {{
            let [sum, whole] = [0, 0];
            for (let i = 0; i < ins; i += 1) {{
              const w = matrix.rows[o * matrix.stride + i];
              sum += w * own[i];
              whole += Math.abs(w);
            }}
            const expected = sum * matrix.scales[o] + (bias?.[o] ?? 0);
            const size = whole * top * matrix.scales[o] + Math.abs(bias?.[o] ?? 0);
            const error = Math.abs(y[r * outs + o] - expected);
            worst = Math.max(worst, error === 0 ? 0 : error / size);
            if (Number.isNaN(error)) worst = Infinity;
          }}
        }}
        found[`${{engine.kind}} ${{kind}} ${{outs}}x${{ins}} ${{n}}`] = worst;
      }}
    }}
  }}
}}
const wide = await simdEngine([{{ outs: 4, ins: 4097 }}]);
console.log(JSON.stringify({{ found, wide }}));
"""


@pytest.mark.slow
def test_both_engines_multiply_as_exactly_as_floats_do():
    result = in_node(COMPARE)
    assert len(result["found"]) == 2 * 7 * 7 * 2
    bad = {what: error for what, error in result["found"].items() if not error < 2**-22}
    assert not bad
    assert result["wide"] is None  # its sums could leave 32 bits; plain JavaScript takes over


def test_an_outlier_takes_a_part_in_2_to_the_29_from_the_others():
    found = in_node(f"""
          import {{ simdEngine }} from "{(LIVE / "product.js").as_uri()}";
          const engine = await simdEngine([{{ outs: 1, ins: 32 }}]);
          const matrix = engine.matrix(1, 32);
          matrix.scales[0] = 1;
          matrix.rows.fill(127, 1, 32);
          const y = new Float32Array(1);
          const x = Float32Array.from({{ length: 32 }}, (_, i) => (i ? 0.00123456 : 1000));
          for (const _ of engine.product(x, 1, matrix, null, y)) ;
          console.log(JSON.stringify(y[0]));""")
    assert abs(found - 31 * 127 * 0.00123456) < 31 * 127 * 1000 * 2**-29


@pytest.mark.slow
def test_the_bytes_of_the_fast_product_are_those_of_its_source():
    if not install(ROOT):
        pytest.skip("npm's registry is not within reach")
    found = in_node(f"""
      import {{ createRequire }} from "node:module";
      import fs from "node:fs";
      const require = createRequire("{ROOT}/tools/front_end/package.json");
      const wabt = await require("wabt")();
      const module = wabt.parseWat("product.wat", fs.readFileSync("{LIVE}/product.wat", "utf8"));
      module.validate();
      const bytes = Buffer.from(module.toBinary({{}}).buffer).toString("base64");
      console.log(JSON.stringify(bytes));""")
    text = "".join((LIVE / "product.js").read_text().split('" +\n  "'))
    assert f'"{found}"' in text
