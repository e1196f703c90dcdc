"""CPU-seconds per Gibbs sweep of myFM on the same pairwise model: myfm_sweep.py PREFIX RANK"""
import sys

import numpy as np
import scipy.sparse as sps
from myfm import MyFMRegressor

from columns import cpu, load

columns, values = load(sys.argv[1])
rank = int(sys.argv[2])
offsets, width = [], 0
for column in columns:
    offsets.append(width)
    width += int(column.max()) + 1
count = len(values)
indices = np.stack([c.astype(np.int64) + o for c, o in zip(columns, offsets)], axis=1).ravel()
matrix = sps.csr_matrix(
    (np.ones(3 * count), indices, np.arange(0, 3 * count + 1, 3)), shape=(count, width)
)
sizes = [int(c.max()) + 1 for c in columns]


def fit(sweeps):
    model = MyFMRegressor(rank=rank)
    model.fit(matrix, values.astype(np.float64), n_iter=sweeps, group_shapes=sizes)


# Two runs of different length: the difference is sweeps alone, without the set-up.
print(min(cpu(lambda: fit(3)) - cpu(lambda: fit(1)) for _ in range(2)) / 2)
