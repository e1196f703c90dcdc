"""CPU-seconds per SGD epoch of libmf on users and films: libmf_epoch.py PREFIX RANK"""
import sys

import numpy as np
from libmf import mf

from columns import cpu, load

columns, values = load(sys.argv[1])
triplets = np.stack([columns[0], columns[1], values], axis=1).astype(np.float64)


def fit(epochs):
    mf.MF(k=int(sys.argv[2]), nr_iters=epochs, nr_threads=1, quiet=True).fit(triplets)


print(min(cpu(lambda: fit(6)) - cpu(lambda: fit(1)) for _ in range(2)) / 5)
