"""The estimator."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from quadfill import _quadfill
from quadfill._data import Data, _table, reading_options, warn_about
from quadfill._errors import DataError, FitInterrupted, SettingError
from quadfill._frames import columns_of, describe_type, is_path, kind_of
from quadfill._progress import Progress, bar_for
from quadfill._sklearn import seed_of
from quadfill._uses import Uses

#: Parameters that the fit itself has, under the same names.
_SETTINGS = [
    "model",
    "kernel",
    "rank",
    "max_rank",
    "solver",
    "penalty",
    "penalty_scale",
    "row_norm_penalty",
    "perturb",
    "bias",
    "centre",
    "effort",
    "tie",
    "precision",
    "views",
    "hold_out",
    "time_limit",
    "keep_draws",
    "implicit",
    "negatives",
    "negative_modes",
    "theory",
    "sdp_form",
    "path_steps",
    "sweeps",
    "tolerance",
    "step",
    "burn_in",
    "samples",
    "thin",
    "chains",
    "prior",
    "noise_prior",
]


class TensorModel(Uses):
    """A model of a sparse tensor, fitted to some of its cells.

    With nothing given everything is chosen: exact data are reproduced, and for others models, ranks and priors are
    compared on held-out data. What is given stays fixed.

    Parameters
    ----------
    model : str
        "auto", "pairwise", "cp", "transe", "matrix", "norms", "learned", or some pairs: "pairs:1-2,1-3".
    kernel : table of numbers or str, optional
        Any symmetric kernel, one row per mode; overrides `model`.
    rank : int or "auto"
        Columns of the factors; `max_rank` is the largest that is tried.
    solver : str
        "auto", "path", "als", "gd", "lbfgs", "gauss-newton", "sdp" or "gibbs".
    penalty : float or "auto"
        The penalty on squared factors.
    bias : str
        "auto", "none", "mean", or "modes" for one bias per label.
    centre : bool or "auto"
        Whether CP draws the rows of a mode to their centre instead of to zero.
    effort : str
        How much is computed to choose a model: "quick", "normal" or "thorough".
    tie : list of modes, or list of such lists, optional
        Modes that share their factors.
    precision : str
        "f32" for speed, or "f64"; "auto" is "f64".
    views : str
        How the data are kept during a fit: "plain", "packed" or, in temporary files, "mapped"; "auto" goes by their
        size and the free memory. The model is the same in any case.
    hold_out : float
        The share of the data that models are compared on.
    time_limit : float, optional
        Seconds after which a fit ends with the best model so far.
    keep_draws : bool
        Keep the draws of a chosen model, for intervals that differ from cell to cell.
    implicit : float, optional
        Count every cell that is not in the data as a zero of this weight.
    negatives : int, optional
        Draw this many unobserved cells per row as negative examples, in `negative_modes`.
    on_duplicate : str
        What to do with a cell that is given twice: "error", "mean", "last" or "sum".
    missing : float, optional
        The value of missing cells of a dense array; NaN always is one.
    max_rank, penalty_scale, row_norm_penalty, perturb, theory, sdp_form, path_steps, sweeps, tolerance, step
        As the flags of `quadfill fit --help`.
    burn_in, samples, thin, chains, prior, noise_prior
        How `solver="gibbs"` draws.
    verbose : bool or "auto"
        Whether a progress bar is shown; by default in terminals and notebooks.
    random_state : int, numpy RandomState or None
        The random seed.
    n_jobs : int, optional
        The number of threads; all processors by default. It changes no digit of any result.

    Examples
    --------
    >>> import quadfill
    >>> ratings = {
    ...     "user": ["ann", "ann", "ann", "bob", "bob", "cem", "cem", "cem", "dia", "dia"],
    ...     "film": ["Heat", "Ronin", "Up", "Heat", "Coco", "Ronin", "Up", "Coco", "Heat", "Up"],
    ...     "stars": [5.0, 5, 2, 4, 1, 2, 5, 5, 1, 4],
    ... }
    >>> model = quadfill.TensorModel(effort="quick").fit(ratings)
    >>> model.modes_
    ['user', 'film']
    >>> model.predict({"user": ["dia"], "film": ["Coco"]}).shape
    (1,)
    >>> model.top({"user": "bob"}, mode="film", k=2)["film"].tolist()
    ['Heat', 'Ronin']
    """

    def __init__(
        self,
        *,
        model: str = "auto",
        kernel: Any = None,
        rank: int | str = "auto",
        max_rank: int | None = None,
        solver: str = "auto",
        penalty: float | str = "auto",
        penalty_scale: str = "auto",
        row_norm_penalty: tuple[float, float] | None = None,
        perturb: bool = False,
        bias: str = "auto",
        centre: bool | str = "auto",
        effort: str = "normal",
        tie: Sequence[Any] | None = None,
        precision: str = "auto",
        views: str = "auto",
        hold_out: float = 0.1,
        time_limit: float | None = None,
        keep_draws: bool = False,
        implicit: float | None = None,
        negatives: int | None = None,
        negative_modes: Sequence[str] | None = None,
        theory: float | str | None = None,
        sdp_form: str | None = None,
        path_steps: int | None = None,
        sweeps: int | None = None,
        tolerance: float = 1e-7,
        step: float | None = None,
        burn_in: int | None = None,
        samples: int | None = None,
        thin: int | None = None,
        chains: int | None = None,
        prior: str | None = None,
        noise_prior: float | None = None,
        on_duplicate: str = "error",
        missing: float | None = None,
        verbose: bool | str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.kernel = kernel
        self.rank = rank
        self.max_rank = max_rank
        self.solver = solver
        self.penalty = penalty
        self.penalty_scale = penalty_scale
        self.row_norm_penalty = row_norm_penalty
        self.perturb = perturb
        self.bias = bias
        self.centre = centre
        self.effort = effort
        self.tie = tie
        self.precision = precision
        self.views = views
        self.hold_out = hold_out
        self.time_limit = time_limit
        self.keep_draws = keep_draws
        self.implicit = implicit
        self.negatives = negatives
        self.negative_modes = negative_modes
        self.theory = theory
        self.sdp_form = sdp_form
        self.path_steps = path_steps
        self.sweeps = sweeps
        self.tolerance = tolerance
        self.step = step
        self.burn_in = burn_in
        self.samples = samples
        self.thin = thin
        self.chains = chains
        self.prior = prior
        self.noise_prior = noise_prior
        self.on_duplicate = on_duplicate
        self.missing = missing
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        modes: Sequence[object] | None = None,
        value: object = None,
        weight: Any = None,
        bins: Mapping[Any, Any] | None = None,
        callback: Callable[[Progress], object] | None = None,
    ) -> TensorModel:
        """Fit the model to some cells and return it.

        `X` is a table of pandas, polars or pyarrow (anything with an Arrow stream), a dict or a tuple of arrays, a
        2-d array of labels with the values in `y`, a sparse array of scipy, a dense array of numpy or xarray with
        NaN where cells are missing, the path of a file, or :class:`Data`.

        `modes`, `value` and `weight` name columns; what is left out is recognised by name and content, as
        `roles_` tells. `weight` may also be an array. `bins` cuts times, such as `{"time": "20w"}`; None keeps
        them as labels. `callback` is called with a :class:`Progress` after every step; if it returns something
        true, the fit ends with the best model so far, and so it does on Ctrl-C.

        >>> import quadfill
        >>> users, films, stars = [1, 1, 2, 3, 3], [7, 8, 7, 8, 9], [4.0, 2.0, 5.0, 1.0, 3.0]
        >>> quadfill.TensorModel(rank=1, penalty=0.1).fit((users, films), stars).modes_
        ['mode1', 'mode2']
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"`callback` is of type {describe_type(callback)}: it must be a function")
        source = Source(X, y, modes=modes, value=value, weight=weight, bins=bins)
        core = source.observe(self)
        warn_about(core)
        roles = core.roles
        bar = bar_for(self.verbose)
        parameters = self._settings()
        try:
            model, is_interrupted = _quadfill.fit(
                core,
                parameters,
                consume=not isinstance(X, Data),
                n_jobs=self.n_jobs,
                callback=None if callback is None else lambda *now: callback(Progress(*now)),
                progress=bar,
            )
        finally:
            if bar is not None:
                bar.close()
        self._adopt(model, source)
        self.roles_ = None if roles is None else json.loads(roles)
        source.describe(self)
        if is_interrupted:
            warnings.warn("the fit was interrupted: this is the best model so far", FitInterrupted, stacklevel=2)
        return self

    def _settings(self) -> dict[str, Any]:
        """Collect the settings of the fit for the compiled part."""
        settings = {name: getattr(self, name) for name in _SETTINGS}
        if settings["kernel"] is not None:
            settings["kernel"] = _table(settings["kernel"])
        for name in ("tie", "negative_modes"):
            if settings[name] is not None and not isinstance(settings[name], str):
                settings[name] = [
                    str(mode) if isinstance(mode, (str, int)) else [str(each) for each in mode]
                    for mode in settings[name]
                ]
        settings["seed"] = seed_of(self.random_state)
        return settings

    @classmethod
    def load(cls, path: Any) -> TensorModel:
        """Open a model that :meth:`save` or the `quadfill` command has written.

        >>> import quadfill, tempfile
        >>> train, test = quadfill.synth((9, 9), rank=1, observations=40, seed=1)
        >>> model = quadfill.TensorModel(rank=1).fit(train)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/model")
        ...     same = quadfill.TensorModel.load(folder + "/model")
        >>> bool((same.predict(test) == model.predict(test)).all())
        True
        """
        if not is_path(path):
            raise TypeError(f"`path` is a {describe_type(path)}: give the path of a model")
        loaded = cls()
        loaded._adopt(_quadfill.Model.load(path), None)
        return loaded


def load(path: Any) -> TensorModel:
    """Open a model that :meth:`TensorModel.save` or the `quadfill` command has written.

    >>> import quadfill, tempfile
    >>> train, _ = quadfill.synth((9, 9), rank=1, observations=40, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     quadfill.TensorModel(rank=1).fit(train).save(folder + "/model")
    ...     quadfill.load(folder + "/model").rank_
    1
    """
    return TensorModel.load(path)


class Source:
    """What a model was fitted to: kept so that a report or intervals can look at the data again."""

    def __init__(self, X: Any, y: Any, **reading: Any) -> None:
        self.X = X
        self.y = y
        self.reading = reading
        self.kind = kind_of(X)
        self.dtypes: dict[str, Any] = {}
        self.names: list[str] | None = None
        self.count = 0

    @property
    def title(self) -> str:
        """What a report calls the data."""
        return str(self.X) if is_path(self.X) else "a fit from Python"

    def observe(self, model: TensorModel) -> _quadfill.Data:
        """Turn the data into observations."""
        X, y = self.X, self.y
        weight = self.reading["weight"]
        is_column = weight is None or isinstance(weight, str)
        given = {**self.reading, "weight": weight if is_column else None}
        seen_only = model.implicit is not None or model.negatives is not None
        reading = reading_options(
            **given,
            on_duplicate=model.on_duplicate,
            missing=model.missing,
            values_are_ones=seen_only and y is None and given["value"] is None,
        )
        if y is not None and (given["value"] is not None or isinstance(X, Data) or is_path(X)):
            raise SettingError("`y` and `value` (or a file) both give values: leave one of them out")
        if isinstance(X, Data):
            if any(self.reading[name] is not None for name in ("modes", "value", "weight", "bins")):
                raise SettingError("Data know their modes and values: name columns when you read them")
            self.names, self.count = [*X.modes], len(X.modes)
            return X._core
        if is_path(X):
            core = _quadfill.Data.from_file(X, reading, model.n_jobs)
            self.names, self.count = core.modes, len(core.modes)
            return core
        cube = as_cube(X, y, given)
        if cube is not None:
            self.kind = "cube"
            self.count = cube.ndim
            stream = io.BytesIO()
            np.save(stream, cube, allow_pickle=False)
            return _quadfill.Data.from_npy(stream.getvalue(), reading)
        builder, found = columns_of(X, y=y, weight=None if is_column else weight)
        self.dtypes = builder.dtypes
        extra = len(found)
        self.count = len(builder.core.names) - extra
        if self.kind != "numpy" or isinstance(X, Mapping):
            self.names = builder.core.names[: self.count]
        return _quadfill.Data.from_columns(builder.core, {**reading, **found}, model.n_jobs)

    def describe(self, model: TensorModel) -> None:
        """Note the columns, as scikit-learn does."""
        model.n_features_in_ = self.count
        if self.names is not None:
            model.feature_names_in_ = np.asarray(self.names, dtype=object)
        elif hasattr(model, "feature_names_in_"):
            del model.feature_names_in_


def as_cube(X: Any, y: Any, given: Mapping[str, Any]) -> Any:
    """The dense array that `X` is, if it is one: three dimensions, or two and no values beside it."""
    if not isinstance(X, np.ndarray) or X.ndim < 2 or (X.ndim == 2 and (y is not None or given["value"] is not None)):
        return None
    if y is not None:
        raise DataError(
            f"X is an array with {X.ndim} dimensions, which holds the values itself: leave `y` out. For rows of labels "
            f"the array must be 2D. Found array with dim {X.ndim}, while dim <= 2 is required by TensorModel."
        )
    if X.dtype.kind not in "biuf":
        raise DataError(f"X is a dense array of type {X.dtype}: its cells must be numbers, NaN where they are missing")
    array = np.ascontiguousarray(X)
    return array.astype(np.uint8) if array.dtype.kind == "b" else array
