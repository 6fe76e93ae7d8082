"""Errors a user can mend: each message is one sentence that names the file and the remedy."""


class LgmgcError(Exception):
    """The base of every error that this package raises on purpose.

    Attributes:
        exit_status: what the command line ends with when this error ends the run.
    """

    exit_status = 1


class UsageError(LgmgcError):
    """An option, a path or a combination of them that cannot work; nothing was done."""

    exit_status = 2


class ModelError(UsageError):
    """A model that is absent, damaged, refused or unfit for what was asked."""


class DocumentError(LgmgcError):
    """One document that cannot be chunked; the others go on."""
