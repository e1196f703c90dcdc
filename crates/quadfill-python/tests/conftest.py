"""Small data that many tests share."""

from __future__ import annotations

import numpy as np
import pytest

import quadfill


@pytest.fixture(scope="session")
def ratings() -> dict[str, np.ndarray]:
    """Noisy ratings with integer and text labels; few, so that fits take no time."""
    rng = np.random.default_rng(7)
    users, films = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    cells = rng.permutation(600)[:350]
    user, film = cells // 20, cells % 20
    stars = (users[user] * films[film]).sum(axis=1) + 3 + 0.2 * rng.normal(size=350)
    return {
        "user": user.astype(np.int64) * 3 + 100,
        "film": np.array([f"film {at}" for at in range(20)])[film],
        "stars": stars.round(3),
    }


@pytest.fixture(scope="session")
def settings() -> dict[str, object]:
    """A fit that takes no time."""
    return {"model": "pairwise", "rank": 2, "penalty": 0.05, "solver": "als", "sweeps": 8}


@pytest.fixture(scope="session")
def model(ratings, settings) -> quadfill.TensorModel:
    return quadfill.TensorModel(**settings).fit(ratings)
