"""A page's content security policy: what a browser may load for it, and which scripts it may run.

Everything is the site's own. Of the scripts that stand in a page it runs those that stood there
when the page was made, which it knows by their hashes: what finds its way in later stays text. A
tag in the page says so, since a book may be opened from the disk or from a server that sends no
headers of its own.
"""

import base64
import hashlib
import re
from collections.abc import Iterable

# Styles stand in pages in hundreds of places (a column's width, a formula's height), and none of
# them can call anybody: other hosts are out of reach for pictures and fonts too.
POLICY = {
    # Firefox asks this, and nothing else, before it fetches the next page ahead of its reader.
    "default-src": "'self'",
    **dict.fromkeys(("object-src", "frame-src", "media-src", "manifest-src"), "'none'"),
    # A model that runs in the page will be compiled there: WebAssembly, and nothing but that.
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'self'",
    "form-action": "'self' file:",  # to Firefox no file is 'self': its search would stand still
    "worker-src": "'self'",
}
SCRIPT = re.compile(
    r"<script\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(.*?)</script\s*>", re.DOTALL | re.I
)
ELSEWHERE = re.compile(r"\bsrc\s*=", re.IGNORECASE)
TYPE = re.compile(r"\btype\s*=\s*[\"']?([^\"'\s>]*)", re.IGNORECASE)
PROGRAMS = {"", "module", "text/javascript", "application/javascript"}  # of all others, data
TAG = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*" />\n?')
# A browser reads the encoding in a page's first kilobyte, so that comes first.
CHARSET = re.compile(r'<meta charset="utf-8" ?/?>\n?', re.IGNORECASE)
# Where a policy would stand in vain: a page with a head that has no such tag, and what may not come
# before the tag. A comment could be around it.
HEAD = re.compile(r"<(?:head|script)\b", re.IGNORECASE)
TOO_LATE = re.compile(r"</head\b|<(?:body|script)\b|<!--", re.IGNORECASE)


def inline_scripts(page: str) -> list[str]:
    """The programs that stand in a page, each once, as they are there."""
    found = (
        text
        for attributes, text in SCRIPT.findall(page)
        if not ELSEWHERE.search(attributes)
        and (TYPE.findall(attributes) or [""])[0].lower() in PROGRAMS
    )
    return list(dict.fromkeys(found))


def policy_of(page: str, scripts: Iterable[str] = (), **more: str) -> str:
    """The policy under which all that stands in the page still works.

    Args:
        page: its text.
        scripts: the text of others that it may run.
        more: what it may do besides, by the name of the directive.
    """
    hashes = (
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in [*inline_scripts(page), *scripts]
    )
    allowed = " ".join([POLICY["script-src"], *(f"'sha256-{each}'" for each in hashes)])
    policy = {**POLICY, **more, "script-src": allowed}
    return "; ".join(f"{name} {value}" for name, value in policy.items())


def with_policy(page: str, scripts: Iterable[str] = (), **more: str) -> str:
    """The page with its policy, before anything that it could be about.

    The other arguments are those of `policy_of`.

    Raises:
        ValueError: a policy would come too late in it: a head that does not say its encoding as
            ours do, or says it after a script or after its end.
    """
    page = TAG.sub("", page)
    policy = policy_of(page, scripts, **more)
    tag = f'<meta http-equiv="Content-Security-Policy" content="{policy}" />\n'
    charset = CHARSET.search(page)
    start = charset.end() if charset else 0
    if (HEAD if charset is None else TOO_LATE).search(page, 0, start or len(page)):
        raise ValueError(
            'a page must have <meta charset="utf-8" /> in its head before any script: its policy '
            "comes behind it, and holds for what follows"
        )
    return page[:start] + tag + page[start:]
