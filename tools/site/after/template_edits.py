"""The last touch to each page, while it is made from the theme's template.

- The side bar becomes a landmark, for those who move from landmark to landmark.
- Who comes by keyboard can skip to the first interactive figure, past dozens of links.
- The search index is loaded by the search page only, and is the one of `search.py`.
- A link to a notebook of the site saves it, whatever type its server says that it has.
- Without scripts a page is a light one: the theme has colours for "light" and "dark", and its file
  says "auto" until a script has chosen. With them it has its colours at once: until then a browser
  would fetch both pictures of a figure.
- A browser that refuses to keep anything throws where the theme and the search ask what it has
  kept, and both would stop there. It gets a storage that forgets with the tab, in the tab's name.
- Pictures are loaded when they come near the window, and have their place before they have come.
  One so wide that a phone would make its letters too small to read keeps a least width, in a box
  that scrolls.
- Words of code that have no colour of their own are no elements of their own.
- What a cell prints is prose, which is broken where a line ends, or rows, in which something stands
  below something: a box that scrolls keeps them whole.

`template_bridge` in _config.yml names the class: Sphinx makes its pages with it.
"""

import re
import struct
from pathlib import Path
from typing import Any

from sphinx.builders import Builder
from sphinx.errors import ExtensionError
from sphinx.jinja2glue import BuiltinTemplateLoader
from sphinx.theming import Theme

from tools.site.after import search
from tools.site.after.edits import edited

THEME = re.compile(r'(?<= data-theme=)"auto"(?=>)')
CHOSEN = re.compile(r'(?<=localStorage\.getItem\("theme"\) \|\| )"auto"')
PREFERRED = '(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")'
FIRST_SCRIPT = re.compile(r"(?=<script data-cfasync)")
STORAGE = """<script>
  {
    let kept = {};
    const keep = (changed) => {
      kept = { ...kept, ...changed };
      window.name = JSON.stringify(kept);
    };
    for (const storage of ["localStorage", "sessionStorage"]) {
      try {
        window[storage].setItem("asked", "");
        window[storage].removeItem("asked");
      } catch {
        try {
          kept = Object(JSON.parse(window.name));
        } catch {}
        Object.defineProperty(window, storage, { value: {
          getItem: (key) => kept[key] ?? null,
          setItem: (key, value) => keep({ [key]: String(value) }),
          removeItem: (key) => keep({ [key]: undefined }),
        } });
      }
    }
  }
</script>
"""
SIDE_BAR = re.compile(r'<div id="pst-primary-sidebar"(?= class=)')
SEARCH = re.compile(
    r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js"></script>'
)
INDEX = re.compile(r'(?<= src=")searchindex(?=\.js")')
SKIP = re.compile(r'(<div id="pst-skip-link"[^>]*>.*?)(?=</div>)')
NOTEBOOK = re.compile(r'<a (?=[^>]*\bhref="(?!\w+:)[^"]*\.ipynb")')
FIRST_WIDGET = re.compile(r'<div class="widget-place"(?= data-front-end="(?!self_check"))')
# What stands in quotation marks may hold the sign that ends a tag.
IMAGE = re.compile(r'<img (?!(?:[^>"]|"[^"]*")*\bloading=)((?:[^>"]|"[^"]*")*>)')
PICTURE = re.compile(r'\bsrc="[^"]*\b_images/([^"/]+\.png)"')
MODE = re.compile(r'\bclass="[^"]*\bonly-(light|dark)\b')

PRINTED = re.compile(
    r'<div class="(output (?:stream|text_plain)[^"]*"><div class="highlight"><pre>)(.*?)(?=</pre>)',
    re.DOTALL,
)
# In a signature Sphinx puts each word into an element for which the site has no style.
SIGNATURE = re.compile(r'<dt class="sig .*?</dt>', re.DOTALL)
WORD = re.compile(r'<span class="pre">([^<]*)</span>')
# Names, punctuation and spaces have the colour of all code, which book.css gives to its box. As
# elements a phone would lay them out for nothing, and in a chapter nearly every second one is such.
UNCOLOURED = re.compile(r'<span class="(?:n|nn|p|w)">([^<]*)</span>')
ALIGNED = re.compile(r"[^\s>] {2,}\S")

# How many points a figure's smallest letters have, as tools/site/extensions/night.py says it.
LETTERS = re.compile(r"\bletters-([\d.]+) ?")
USUAL = 12.0  # points, of a picture of which nobody says it
DOTS = 160 / 72  # pixels of the file in a point: figures are saved with 160 an inch
PHONE = 328  # CSS pixels: the column of a phone that is 360 wide
LEAST_LETTER, SCROLLED_LETTER = 8.5, 11.0  # CSS pixels; whoever has to scroll can read with ease


class Pages(BuiltinTemplateLoader):
    """Sphinx's own templates, and what is changed in a page that was made from one."""

    def init(
        self, builder: Builder, theme: Theme | None = None, dirs: list[str] | None = None
    ) -> None:
        """Sphinx calls this once; the builder knows the pictures."""
        super().init(builder, theme, dirs)
        self.builder = builder

    def render(self, template: str, context: dict[str, Any]) -> str:  # type: ignore[override]
        """A page, or a part of one, as which the theme's menus are made first."""
        page = super().render(template, context)
        if "</html>" not in page:
            return page
        images = self.builder.images
        pictures = {name: Path(self.builder.srcdir, path) for path, name in images.items()}
        return finished(page, context["pagename"], pictures)


def finished(page: str, name: str, pictures: dict[str, Path]) -> str:
    """A page with all edits; `pictures` has the file of each picture by its name on the site."""
    landmark = '<div id="pst-primary-sidebar" role="region" aria-label="Book"'
    page = edited("template_edits.SIDE_BAR", SIDE_BAR, landmark, page, name)
    page = edited("template_edits.THEME", THEME, '"light"', page, name)
    page = edited("template_edits.CHOSEN", CHOSEN, PREFERRED, page, name)
    page = edited("template_edits.FIRST_SCRIPT", FIRST_SCRIPT, STORAGE, page, name)
    if name != "search":
        page = edited("template_edits.SEARCH", SEARCH, "", page, name)
    else:
        page = edited("template_edits.INDEX", INDEX, f"{search.FOLDER}/index", page, name)
    page = NOTEBOOK.sub("<a download ", page)
    if FIRST_WIDGET.search(page):
        page = FIRST_WIDGET.sub('<div class="widget-place" id="first-figure"', page, count=1)
        link = r'\1<a href="#first-figure">Skip to the first interactive figure</a>'
        page = edited("template_edits.SKIP", SKIP, link, page, name)

    def waiting(match: re.Match[str]) -> str:
        rest = LETTERS.sub("", match[1])
        picture = PICTURE.search(rest)
        size = ""
        if picture and not re.search(r"\bwidth=", rest):
            if picture[1] not in pictures:
                raise ExtensionError(f"{name}: the page shows {picture[1]}, which Sphinx lacks")
            width, height = size_of(pictures[picture[1]])
            size = f' width="{width}" height="{height}"'
            points = float(found[1]) if (found := LETTERS.search(match[1])) else USUAL
            if points * DOTS * PHONE / width < LEAST_LETTER:
                least = f"--least: {width * SCROLLED_LETTER / points / DOTS:.0f}px"
                image = f'<img loading="lazy"{size} style="{least}" {rest}'
                mode = f" only-{found[1]}" if (found := MODE.search(rest)) else ""
                return f'<span class="wide-picture{mode}">{image}</span>'
        return f'<img loading="lazy"{size} {rest}'

    def printed(match: re.Match[str]) -> str:
        lines = match[2].strip().splitlines()
        rows = "rows " if len(lines) > 1 and any(map(ALIGNED.search, lines)) else ""
        return f'<div class="{rows}{match[1]}{match[2]}'

    page = SIGNATURE.sub(lambda match: WORD.sub(r"\1", match[0]), page)
    page = UNCOLOURED.sub(r"\1", page)
    return PRINTED.sub(printed, IMAGE.sub(waiting, page))


def size_of(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG file in pixels."""
    with picture.open("rb") as file:
        width, height = struct.unpack(">II", file.read(24)[16:])
    return width, height
