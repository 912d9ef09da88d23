"""What a page may load and run: the site's own, and the scripts that stood in it from the start."""

import base64
import hashlib

import pytest

from tools.site.after.policy import inline_scripts, policy_of, with_policy

PAGE = """<!DOCTYPE html><html><head>
    <meta charset="utf-8" />
    <script data-cfasync="false">first = "1 > 0";</script>
    <script src="own.js"></script>
</head><body>
<script type="application/json">{"a": "b"}</script>
<script>second
over two lines with ü</script><SCRIPT TYPE='text/javascript'>third</SCRIPT><script>second
over two lines with ü</script>
<script type="module">fourth</script></body></html>
"""
SCRIPTS = ['first = "1 > 0";', "second\nover two lines with ü", "third", "fourth"]


def test_programs_in_a_page_are_told_from_data_and_from_files() -> None:
    assert inline_scripts(PAGE) == SCRIPTS


def test_a_policy_has_the_hash_of_each_script_and_no_other_way_in() -> None:
    parts = dict(part.split(" ", 1) for part in policy_of(PAGE).split("; "))
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in SCRIPTS
    }
    assert set(parts.pop("script-src").split()) == {"'self'", "'wasm-unsafe-eval'", *hashes}
    for foreign in ("object-src", "frame-src", "media-src", "manifest-src"):
        assert parts.pop(foreign) == "'none'"
    assert parts.pop("form-action") == "'self' file:"
    assert parts.pop("style-src") == "'self' 'unsafe-inline'"
    assert parts.pop("img-src") == "'self' data:"
    own = ("default-src", "font-src", "connect-src", "worker-src", "base-uri")
    assert parts == dict.fromkeys(own, "'self'")


def test_the_tag_comes_after_the_encoding_and_before_all_else() -> None:
    page = with_policy(PAGE)
    before, tag, after = page.partition("<meta http-equiv=")
    assert tag and "<script" not in before and before.count("<meta") == 1
    assert len(page.encode()[: page.index('charset="utf-8"')]) < 1024
    assert after.count("<script") == PAGE.count("<script")


def test_a_page_that_has_its_policy_keeps_it_and_one_that_has_changed_gets_another() -> None:
    once = with_policy(PAGE)
    assert with_policy(once) == once
    changed = with_policy(once.replace("third", "other"))
    assert changed == with_policy(PAGE.replace("third", "other"))


CHARSET = '<meta charset="utf-8" />'


@pytest.mark.parametrize(
    "page",
    [
        f"<html><head><title>a</title></head><body>{CHARSET}</body></html>",
        f"<html><head><script>first</script>{CHARSET}</head></html>",
        f"<html><head><!-- {CHARSET} --><script>first</script></head></html>",
        "<html><head><meta charset=utf-8><script>first</script></head></html>",
        "<script>first</script>",
    ],
    ids=["after the head", "after a script", "in a comment", "otherwise", "nowhere"],
)
def test_a_page_in_which_a_policy_would_come_too_late_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="in its head before any script"):
        with_policy(page)


@pytest.mark.parametrize("page", ['<meta http-equiv="Refresh" content="0; url=a.html" />\n', ""])
def test_a_page_without_a_head_has_one_too(page: str) -> None:
    assert with_policy(page).startswith('<meta http-equiv="Content-Security-Policy" ')
    assert with_policy(page).endswith(page)
