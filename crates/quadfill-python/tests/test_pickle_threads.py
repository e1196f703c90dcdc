"""Pickling, joblib, threads, Ctrl-C, callbacks."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest

import quadfill
from quadfill import TensorModel


@pytest.fixture(scope="module")
def large():
    """Data whose plain fit takes many seconds, and a step of it far less than one."""
    return quadfill.synth((200, 200, 200), rank=8, observations=50_000, noise=0.3, test_observations=10, seed=1)[0]


def test_pickling_keeps_everything(ratings, model):
    for same in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert same._core.to_bytes() == model._core.to_bytes()
        assert same.get_params() == model.get_params()
        np.testing.assert_array_equal(same.predict(ratings), model.predict(ratings))
        assert same.summary_ == model.summary_
    unfitted = pickle.loads(pickle.dumps(TensorModel(rank=3)))
    assert unfitted.rank == 3


def test_joblib_and_processes(tmp_path, ratings, settings, model):
    joblib.dump(model, tmp_path / "model.joblib")
    same = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(same.predict(ratings), model.predict(ratings))
    fits = joblib.Parallel(n_jobs=2)(
        joblib.delayed(lambda seed: TensorModel(**settings, random_state=seed).fit(ratings))(seed) for seed in (0, 1)
    )
    assert fits[0]._core.to_bytes() == model._core.to_bytes()


def test_any_number_of_fits_in_threads(ratings, settings, model):
    with ThreadPoolExecutor(4) as threads:
        fits = list(threads.map(lambda _: TensorModel(**settings).fit(ratings)._core.to_bytes(), range(8)))
    assert set(fits) == {model._core.to_bytes()}


def test_the_number_of_threads_changes_nothing(ratings, settings, model):
    for n_jobs in (1, 2, 3, -1):
        assert TensorModel(**settings, n_jobs=n_jobs).fit(ratings)._core.to_bytes() == model._core.to_bytes()


def test_other_threads_run_during_a_fit(large):
    count, done = 0, threading.Event()

    def counting():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)

    counter = threading.Thread(target=counting)
    counter.start()
    begun = time.perf_counter()
    TensorModel(time_limit=1.0, n_jobs=1).fit(large)
    seconds = time.perf_counter() - begun
    done.set()
    counter.join()
    assert count > 100 * seconds


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
def test_ctrl_c_ends_a_fit_with_the_model_so_far(large):
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    # Where tests run in the background of a shell, Python is started with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.5, press)
    timer.start()
    try:
        with pytest.warns(quadfill.FitInterrupted):
            model = TensorModel().fit(large)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.perf_counter() - pressed[0] < 1.0
    assert model.status_ == "interrupted"
    assert np.isfinite(model.predict(large)).all()


@pytest.mark.skipif(os.name == "nt", reason="processes are forked on Unix alone")
def test_a_forked_process_has_threads_of_its_own():
    script = """
        import os, quadfill
        train, test = quadfill.synth((9, 9), rank=1, observations=40, seed=1)
        model = quadfill.TensorModel(rank=1).fit(train)
        child = os.fork()
        if child == 0:
            model.predict(test)
            quadfill.TensorModel(rank=1).fit(train)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_callbacks_see_every_step_and_may_end_the_fit(ratings, settings):
    seen = []
    TensorModel(**settings).fit(ratings, callback=seen.append)
    assert [progress.done for progress in seen if progress.stage == "solve"] == list(range(1, 9))
    assert all(progress.train_rmse > 0 for progress in seen)
    ended = TensorModel(**settings).fit(ratings, callback=lambda progress: progress.done == 3)
    assert ended.status_ == "interrupted"

    def broken(progress):
        raise RuntimeError(f"step {progress.done}")

    with pytest.raises(RuntimeError, match="step 1"):
        TensorModel(**settings).fit(ratings, callback=broken)


def test_a_progress_bar_only_where_it_is_wanted(ratings, large, capfd):
    TensorModel(time_limit=0.5).fit(large)
    assert capfd.readouterr().err == ""
    TensorModel(time_limit=0.5, verbose=True).fit(large)
    assert "[" in capfd.readouterr().err
    TensorModel(time_limit=0.5, verbose=False).fit(large)
    assert capfd.readouterr().err == ""
