"""CPU-seconds per ALS epoch of LensKit on users and films: lenskit_epoch.py PREFIX RANK"""
import sys

import pandas as pd
from lenskit.als import BiasedMFScorer
from lenskit.data import from_interactions_df
from lenskit.training import TrainingOptions

from columns import cpu, load

columns, values = load(sys.argv[1])
frame = pd.DataFrame({"user_id": columns[0], "item_id": columns[1], "rating": values})
data = from_interactions_df(frame.drop_duplicates(["user_id", "item_id"], keep="last"))


def fit(epochs):
    BiasedMFScorer(embedding_size=int(sys.argv[2]), epochs=epochs).train(data, TrainingOptions(rng=1))


fit(1)
print(min(cpu(lambda: fit(5)) - cpu(lambda: fit(1)) for _ in range(2)) / 4)
