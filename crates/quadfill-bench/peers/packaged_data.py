"""Writes data sets that come inside Python packages as arrays: packaged_data.py FOLDER

serology.npy: samples x antigens x receptors. kinetic.npy: measurements x emission x excitation x time. Both are from
TensorLy, with NaN where a value is missing. Prints how many were written.
"""
import sys
from pathlib import Path

import numpy as np
from tensorly.datasets import load_covid19_serology, load_kinetic

folder = Path(sys.argv[1])
serology = np.array(load_covid19_serology().tensor, dtype=float)
np.save(folder / "serology.npy", serology)
kinetic = load_kinetic()
fluorescence = np.array(kinetic.tensor, dtype=float)
# The package replaces what is missing by zeros.
fluorescence[np.array(kinetic.missing_values_position, dtype=bool)] = np.nan
np.save(folder / "kinetic.npy", fluorescence)
print(2)
