"""What can go wrong, one class for each kind."""

from __future__ import annotations


class QuadfillError(ValueError):
    """An input that cannot be used; the message says what is wrong, where, and what to do.

    >>> import quadfill
    >>> try:
    ...     quadfill.TensorModel(rank=0).fit([[0, 0], [1, 1]], [1.0, 2.0])
    ... except quadfill.QuadfillError as error:
    ...     print(type(error).__name__)
    SettingError
    """


class DataError(QuadfillError):
    """Data that cannot be used: a null, a value that is not finite, a column that does not exist."""


class SettingError(QuadfillError):
    """A parameter that is out of range, excludes another one, or does not suit the data."""


class LabelError(QuadfillError, LookupError):
    """A mode or a label that a model does not know, or that is missing."""


class UnsupportedError(QuadfillError):
    """Something that this kind of model does not support."""


class ModelFileError(QuadfillError):
    """A model file that cannot be read."""


class FileError(QuadfillError, OSError):
    """A file that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit: the model is the best one so far."""


class ColumnWarning(UserWarning):
    """A column is probably not what it was taken for."""
