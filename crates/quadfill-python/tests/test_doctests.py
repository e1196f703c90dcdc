"""Every public name has a docstring, and every class and function an example that runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import quadfill

MODULES = [f"quadfill.{module.name}" for module in pkgutil.iter_modules(quadfill.__path__) if module.name != "__main__"]


@pytest.mark.parametrize("name", ["quadfill", *MODULES])
def test_examples_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def public_functions():
    for name in quadfill.__all__:
        thing = getattr(quadfill, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing) and thing.__module__.startswith("quadfill"):
            yield name, thing
            for attribute, member in inspect.getmembers(thing, inspect.isroutine):
                if not attribute.startswith("_") and (getattr(member, "__module__", None) or "").startswith("quadfill"):
                    yield f"{name}.{attribute}", member
        elif inspect.ismodule(thing):
            yield from ((f"{name}.{each}", getattr(thing, each)) for each in thing.__all__)


def test_every_public_name_has_an_example():
    lacking = []
    for name, thing in public_functions():
        doc = thing.__doc__ or ""
        is_plain = inspect.isclass(thing) and issubclass(thing, (Exception, Warning))
        belongs_to_example = name.startswith(("Data.", "Progress."))
        if not doc or (">>>" not in doc and not is_plain and not belongs_to_example):
            lacking.append(name)
    assert lacking == []
