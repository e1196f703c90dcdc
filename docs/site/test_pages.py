"""Runs the pages: python blocks from top to bottom, and commands that begin with `$ quadfill`, in a scratch folder each."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SITE = Path(__file__).parent
ROOT = SITE.parent.parent
PAGES = sorted((SITE / "pages").rglob("*.md"))
_BLOCK = re.compile(r"^( *)```(python|console)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(r"`((?:crates|docs|examples)/[\w./-]+)`")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block of code, in their order."""
    return [(kind, textwrap.dedent(text)) for _, kind, text in _BLOCK.findall(page.read_text())]


def commands(text: str) -> list[str]:
    """The lines of a console that are typed; a backslash at the end of one continues it."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line[2:] for line in lines if line.startswith("$ quadfill ")]


def run_page(page: Path, folder: Path) -> None:
    """Run all blocks of a page; Python goes on in the same interpreter."""
    names: dict[str, object] = {"__name__": "__main__"}
    program = str(Path(sys.executable).parent / "quadfill")
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, f"{page.name}", "exec"), names)
            continue
        for line in commands(text):
            words = [program, *shlex.split(line, comments=True)[1:]]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(os.environ, "MPLBACKEND", "agg")
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_sources_that_are_named_exist(page: Path) -> None:
    missing = [path for path in _SOURCE.findall(page.read_text()) if not (ROOT / path).exists()]
    assert not missing


def test_a_broken_block_fails(tmp_path: Path) -> None:
    page = tmp_path / "broken.md"
    page.write_text("```python\nx = 1\n```\n\n```console\n$ quadfill fit nothing.csv -o model\n```\n")
    with pytest.raises(AssertionError, match=r"nothing\.csv"):
        run_page(page, tmp_path)
