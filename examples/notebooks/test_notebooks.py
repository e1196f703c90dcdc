"""Runs every notebook on the data that it makes, and checks what it claims.

pytest examples/notebooks                                    # QUADFILL_DATA is left aside
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent

#: What must hold in the names of a notebook once all of its cells have run.
CLAIMS = {
    "image_cube": "np.abs(filled - cube)[hidden].mean() < 0.1 * np.abs(means - cube)[hidden].mean()",
    "knowledge_graph": "figures['mrr'] > 0.5 and set(guesses.columns) == {'head', 'relation', 'tail', 'score'}",
    "paper_in_one_page": "model.status_ == 'exact' and best.certificate_['relative_gap'] < 1e-6 and max(above) < 1e-6",
    "ratings_with_time": "with_time.evaluate(test)['rmse'] < 0.97 * without.evaluate(test)['rmse']",
    "recommendations": "errors[-1] < 0.8 * errors[0] and len(best) == 9",
    "sensors": "0.85 < inside < 0.95 and model.evaluate(lost)['rmse'] < 0.7",
}


def test_every_notebook_is_checked() -> None:
    """A notebook without a claim would only be run."""
    assert sorted(CLAIMS) == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_notebook(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, warns of nothing, draws something, and what it claims holds."""
    monkeypatch.delenv("QUADFILL_DATA", raising=False)
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "clear the outputs before saving"
    notebook.cells.append(nbformat.v4.new_code_cell(f"assert {CLAIMS[name]}"))
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in code for output in cell.outputs]
    told = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert not told, "a notebook warns of nothing"
    assert any("image/png" in output.get("data", {}) for output in outputs), "a notebook has a plot"
