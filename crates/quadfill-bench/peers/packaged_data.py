"""Writes data sets that come inside Python packages as arrays: packaged_data.py FOLDER

serology.npy: samples x antigens x receptors. kinetic.npy: measurements x emission x excitation x time. pines.npy: row x
column x band of a hyperspectral image. responses.npy: ligand x time x dose x cell type. All are from TensorLy, with NaN
where a value is missing. Prints how many were written.
"""
import sys
from pathlib import Path

import numpy as np
from tensorly.datasets import load_covid19_serology, load_IL2data, load_indian_pines, load_kinetic

folder = Path(sys.argv[1])
for name, load in [
    ("serology", load_covid19_serology),
    ("pines", load_indian_pines),
    ("responses", load_IL2data),
]:
    np.save(folder / f"{name}.npy", np.array(load().tensor, dtype=float))
kinetic = load_kinetic()
fluorescence = np.array(kinetic.tensor, dtype=float)
# The package replaces what is missing by zeros.
fluorescence[np.array(kinetic.missing_values_position, dtype=bool)] = np.nan
np.save(folder / "kinetic.npy", fluorescence)
print(4)
