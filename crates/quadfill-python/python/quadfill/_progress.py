"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from quadfill._frames import in_notebook


class Progress(NamedTuple):
    """Where a running fit is; a callback gets one after every step.

    >>> import quadfill
    >>> train, _ = quadfill.synth((9, 9), rank=1, observations=40, seed=1)
    >>> seen = []
    >>> def stop_after_three(progress):
    ...     seen.append(progress.train_rmse)
    ...     return len(seen) == 3
    >>> quadfill.TensorModel(rank=1).fit(train, callback=stop_after_three).status_
    'interrupted'
    >>> len(seen)
    3
    """

    stage: str
    done: int
    steps: int
    penalty: float | None
    train_rmse: float | None
    validation_rmse: float | None
    seconds: float


def text_of(progress: Progress, width: int = 30) -> str:
    """Draw one line."""
    share = min(1.0, progress.done / max(progress.steps, 1))
    filled = round(share * width)
    bar = "=" * filled + ">" * (filled < width) + " " * (width - filled - 1)
    line = f"{progress.stage:>14} [{bar}] {progress.done}/{progress.steps}"
    if progress.train_rmse is not None:
        line += f" rmse {progress.train_rmse:.4g}"
    if progress.validation_rmse is not None:
        line += f", held out {progress.validation_rmse:.4g}"
    return line


class TerminalBar:
    """A line on standard error that is drawn over and over."""

    def __init__(self) -> None:
        self.width = 0

    def __call__(self, *progress: Any) -> None:
        line = text_of(Progress(*progress))
        sys.stderr.write("\r" + line.ljust(self.width))
        sys.stderr.flush()
        self.width = len(line)

    def close(self) -> None:
        """Clear the line."""
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


class NotebookBar:
    """A line of output that is replaced by the next one."""

    def __init__(self) -> None:
        self.handle: Any = None

    def __call__(self, *progress: Any) -> None:
        self._show(text_of(Progress(*progress)))

    def _show(self, line: str) -> None:
        from IPython.display import display

        data = {"text/plain": line}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)

    def close(self) -> None:
        """Clear the line."""
        if self.handle is not None:
            self._show("")


def bar_for(verbose: object) -> TerminalBar | NotebookBar | None:
    """Choose a bar; by default there is one where somebody can see it."""
    if verbose not in ("auto", True, False, 0, 1):
        raise ValueError(f'`verbose` is {verbose!r}: it must be True, False or "auto"')
    if in_notebook():
        return NotebookBar() if verbose else None
    is_terminal = hasattr(sys.stderr, "isatty") and sys.stderr.isatty()
    if verbose == "auto":
        return TerminalBar() if is_terminal else None
    return TerminalBar() if verbose else None
