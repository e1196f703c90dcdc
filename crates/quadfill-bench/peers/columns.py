"""The benchmark's raw columns, and CPU time."""
import time

import numpy as np


def load(prefix):
    columns = [np.fromfile(f"{prefix}.{mode}.u32", dtype=np.uint32) for mode in range(3)]
    return columns, np.fromfile(f"{prefix}.values.f32", dtype=np.float32)


def cpu(work):
    start = time.process_time()
    work()
    return time.process_time() - start
