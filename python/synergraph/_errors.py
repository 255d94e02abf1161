"""What goes wrong, as exceptions."""

from __future__ import annotations


class Error(Exception):
    """Everything that synergraph raises on purpose. The message is one line: what was wrong, where, what was expected."""


class InputError(Error, ValueError):
    """The data is wrong: attention that is not causal, a malformed file, weights that are all zero."""


class UsageError(Error, ValueError):
    """The request is wrong: an unknown option, a number out of its range."""


class OptionError(UsageError, TypeError):
    """An option has a value of the wrong type."""


class Stopped(Error):
    """The call was asked to stop."""
