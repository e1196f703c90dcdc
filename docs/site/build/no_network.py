"""Refuses pages that would load anything from the network."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.exceptions import PluginError

_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Called by mkdocs with the finished page."""
    loaded = _LOADED.search(output)
    if loaded is not None:
        raise PluginError(f"{page.file.src_uri} loads from the network: {loaded.group(0)}")
    return output
