"""Formulas as MathML: `$..$` in a line, a fence called `math` for a formula of its own. No script, no font, no network."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

#: Below code between backticks, above escapes, which would take the backslashes.
_PRIORITY = 185


class _Inline(InlineProcessor):
    def handleMatch(self, m: Any, data: str) -> tuple[Element | str, int, int]:
        return self.md.htmlStash.store(convert(m.group(1))), m.start(0), m.end(0)


class _Formulas(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(_Inline(r"\$([^$\n]+)\$", md), "formula", _PRIORITY)


def _block(source: str, *_: Any, **__: Any) -> str:
    lines = [convert(line, display="block") for line in source.split("\n\n") if line.strip()]
    return f'<div class="formula">{"".join(lines)}</div>'


def on_config(config: Any) -> Any:
    """Called by mkdocs before pages are read."""
    config["markdown_extensions"].append(_Formulas())
    fences = {"custom_fences": [{"name": "math", "class": "formula", "format": _block}]}
    config["mdx_configs"].setdefault("pymdownx.superfences", {}).update(fences)
    return config
