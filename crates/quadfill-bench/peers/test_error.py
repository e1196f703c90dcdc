"""Test RMSE of a peer: test_error.py PEER TRAIN.csv TEST.csv RANK [standardise]

Columns: label indices from 0, one column per mode, and the value last. Peers that know two modes only take the first
two. `standardise` fits values with mean 0 and deviation 1, for peers whose priors expect about that; errors are in the
units of the files.
"""
import sys

import numpy as np
import pandas as pd

peer, rank = sys.argv[1], int(sys.argv[4])
train, test = (pd.read_csv(path) for path in sys.argv[2:4])
*fields, value = train.columns
sizes = [1 + max(int(train[name].max()), int(test[name].max())) for name in fields]
truth = test[value].to_numpy(float)
centre, scale = 0.0, 1.0
if "standardise" in sys.argv[5:]:
    centre, scale = train[value].mean(), train[value].std() or 1.0
train[value] = (train[value] - centre) / scale


def myfm():
    import myfm
    from scipy import sparse

    def rows(frame):
        offsets = np.cumsum([0] + sizes[:-1])
        columns = (frame[fields].to_numpy() + offsets).ravel()
        places = np.repeat(np.arange(len(frame)), len(fields))
        return sparse.csr_matrix((np.ones(len(columns)), (places, columns)), shape=(len(frame), sum(sizes)))

    model = myfm.MyFMRegressor(rank=rank, random_seed=1)
    model.fit(rows(train), train[value].to_numpy(float), n_iter=400, n_kept_samples=300, group_shapes=sizes)
    return model.predict(rows(test))


def lenskit():
    from lenskit.als import BiasedMFScorer
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.training import TrainingOptions

    user, item = fields[:2]
    # Cells that differ only in further modes become one.
    frame = train.groupby([user, item], as_index=False)[value].mean()
    frame.columns = ["user_id", "item_id", "rating"]
    model = BiasedMFScorer(embedding_size=rank, epochs=20)
    data = from_interactions_df(frame)
    model.train(data, TrainingOptions(rng=1))
    mean = frame["rating"].mean()
    predictions = np.full(len(test), mean)
    for label, rows in test.groupby(user).indices.items():
        try:
            scores = model(label, ItemList(item_ids=test[item].to_numpy()[rows])).scores()
        except Exception:
            continue
        predictions[rows] = np.where(np.isfinite(scores), scores, mean)
    return predictions


def cmfrec():
    from cmfrec import CMF

    names = ["UserId", "ItemId", "Rating"]
    frame = train[[*fields[:2], value]].set_axis(names, axis=1)
    best = None
    # Its penalty is tuned on a tenth of the training data, as ours is.
    held = np.random.default_rng(1).random(len(frame)) < 0.1
    for penalty in (1.0, 3.0, 10.0, 30.0, 100.0):
        model = CMF(k=rank, lambda_=penalty, verbose=False, nthreads=1).fit(frame[~held])
        some = frame[held]
        error = np.mean((known(model.predict(some["UserId"], some["ItemId"])) - some["Rating"].to_numpy()) ** 2)
        best = min(best or (error, penalty), (error, penalty))
    model = CMF(k=rank, lambda_=best[1], verbose=False, nthreads=1).fit(frame)
    return known(model.predict(test[fields[0]], test[fields[1]]))


def tensorly():
    # CP of the whole array, in which cells that are not observed are replaced by predictions again and again.
    from tensorly.decomposition import parafac

    def cells(frame):
        return tuple(frame[name].to_numpy() for name in fields)

    array, mask = np.zeros(sizes), np.zeros(sizes)
    array[cells(train)] = train[value]
    mask[cells(train)] = 1
    weights, factors = parafac(array, rank=rank, mask=mask, init="random", random_state=1, n_iter_max=200, tol=1e-6)
    product = np.ones((len(test), rank)) * weights
    for factor, labels in zip(factors, cells(test)):
        product *= factor[labels]
    return product.sum(axis=1)


def known(predictions):
    return np.where(np.isfinite(predictions), predictions, train[value].mean())


predictions = {"myfm": myfm, "lenskit": lenskit, "cmfrec": cmfrec, "tensorly": tensorly}[peer]()
print(np.sqrt(np.mean((np.asarray(predictions) * scale + centre - truth) ** 2)))
