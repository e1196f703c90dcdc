"""Test RMSE of a peer on ratings: ratings_error.py PEER TRAIN.csv TEST.csv RANK

Columns: user, movie, any further fields, rating. Peers that know two fields only take the first two.
"""
import sys

import numpy as np
import pandas as pd

peer, rank = sys.argv[1], int(sys.argv[4])
train, test = (pd.read_csv(path) for path in sys.argv[2:4])
truth = test["rating"].to_numpy(float)


def myfm():
    import myfm
    from scipy import sparse

    fields = [name for name in train.columns if name != "rating"]
    sizes = [1 + max(train[name].max(), test[name].max()) for name in fields]

    def rows(frame):
        offsets = np.cumsum([0] + sizes[:-1])
        columns = (frame[fields].to_numpy() + offsets).ravel()
        places = np.repeat(np.arange(len(frame)), len(fields))
        return sparse.csr_matrix((np.ones(len(columns)), (places, columns)), shape=(len(frame), sum(sizes)))

    model = myfm.MyFMRegressor(rank=rank, random_seed=1)
    model.fit(rows(train), train["rating"].to_numpy(float), n_iter=400, n_kept_samples=300, group_shapes=sizes)
    return model.predict(rows(test))


def lenskit():
    from lenskit.als import BiasedMFScorer
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.training import TrainingOptions

    frame = train.rename(columns={"user": "user_id", "movie": "item_id"})[["user_id", "item_id", "rating"]]
    model = BiasedMFScorer(embedding_size=rank, epochs=20)
    data = from_interactions_df(frame)
    model.train(data, TrainingOptions(rng=1))
    mean = frame["rating"].mean()
    predictions = np.full(len(test), mean)
    for user, rows in test.groupby("user").indices.items():
        try:
            scores = model(user, ItemList(item_ids=test["movie"].to_numpy()[rows])).scores()
        except Exception:
            continue
        predictions[rows] = np.where(np.isfinite(scores), scores, mean)
    return predictions


def cmfrec():
    from cmfrec import CMF

    frame = train.rename(columns={"user": "UserId", "movie": "ItemId", "rating": "Rating"})
    best = None
    # Its penalty is tuned on a tenth of the training ratings, as ours is.
    held = np.random.default_rng(1).random(len(frame)) < 0.1
    for penalty in (1.0, 3.0, 10.0, 30.0, 100.0):
        model = CMF(k=rank, lambda_=penalty, verbose=False, nthreads=1).fit(frame[~held][["UserId", "ItemId", "Rating"]])
        some = frame[held]
        error = np.mean((clean(model.predict(some["UserId"], some["ItemId"])) - some["Rating"].to_numpy()) ** 2)
        best = min(best or (error, penalty), (error, penalty))
    model = CMF(k=rank, lambda_=best[1], verbose=False, nthreads=1).fit(frame[["UserId", "ItemId", "Rating"]])
    return clean(model.predict(test["user"], test["movie"]))


def clean(predictions):
    return np.where(np.isfinite(predictions), predictions, train["rating"].mean())


predictions = {"myfm": myfm, "lenskit": lenskit, "cmfrec": cmfrec}[peer]()
print(np.sqrt(np.mean((predictions - truth) ** 2)))
