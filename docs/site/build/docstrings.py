"""Docstrings as the site needs them: roles become links, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(class|meth|func):`([^`]+)`")
_EXAMPLE = re.compile(r"(?m)^>>> .*(?:\n(?!$).*)*")


def _link(match: re.Match[str]) -> str:
    kind, name = match.groups()
    name = name.removeprefix("quadfill.")
    full = f"quadfill.TensorModel.{name}" if kind == "meth" and "." not in name else f"quadfill.{name}"
    return f"[`{name}`][{full}]"


class Docstrings(griffe.Extension):
    """Rewrite every docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = _ROLE.sub(_link, obj.docstring.value)
        if "Examples\n---" not in text:
            text = _EXAMPLE.sub(lambda match: f"```pycon\n{match.group(0)}\n```", text)
        obj.docstring.value = text
