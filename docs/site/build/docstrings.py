"""Docstrings as the site needs them: roles become links, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(class|meth|func):`([^`]+)`")
#: Parameters that share a description: each gets its own, and with it its own default.
_GROUP = re.compile(r"(?m)^(\w+(?:, \w+)+)\n((?: {4}.*\n?)+)")
_EXAMPLE = re.compile(r"(?m)^>>> .*(?:\n(?!$).*)*")


def _link(match: re.Match[str]) -> str:
    kind, name = match.groups()
    name = name.removeprefix("quadfill.")
    full = f"quadfill.TensorModel.{name}" if kind == "meth" and "." not in name else f"quadfill.{name}"
    return f"[`{name}`][{full}]"


def _each(match: re.Match[str]) -> str:
    names, description = match.groups()
    return "".join(f"{name}\n{description}" for name in names.split(", "))


class Docstrings(griffe.Extension):
    """Rewrite every docstring before it is parsed."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is None:
            return
        text = _ROLE.sub(_link, obj.docstring.value)
        text = _GROUP.sub(_each, text)
        if "Examples\n---" not in text:
            text = _EXAMPLE.sub(lambda match: f"```pycon\n{match.group(0)}\n```", text)
        obj.docstring.value = text
