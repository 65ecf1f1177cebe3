"""`antiphon backup`, `antiphon restore` and `antiphon traces encrypt`: keep the data safe and secret."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.session import DataDir, settings_for_people
from antiphon.cli.terminal import counted, out
from antiphon.vocabulary.errors import BadInputError


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write: a tar archive.")],
    data_dir: DataDir = None,
) -> None:
    """Writes index, traces, conversations, documents and reports into one file, even while the service runs.

    An encrypted trace store stays encrypted; the rest of the backup is not. `antiphon restore` reads the file.
    """
    settings = settings_for_people(data_dir=data_dir)
    written = service.back_up(settings.data_dir, file, settings.store_key)
    out.print(f"{file}: {_in_words(written)}", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `antiphon backup` wrote.")],
    data_dir: DataDir = None,
) -> None:
    """Creates a data folder from a backup. Checks the whole backup first, and never touches an existing folder.

    A query that was running when the backup was made resumes when a service starts, as after a crash.
    """
    settings = settings_for_people(data_dir=data_dir)
    restored = service.restore(file, settings.data_dir)
    out.print(f"{settings.data_dir}: {_in_words(restored)}", soft_wrap=True)


def encrypt(data_dir: DataDir = None) -> None:
    """Encrypts the trace store with ANTIPHON_TRACE_KEY; stop the service first.

    The plain file is deleted. If a disk keeps deleted data, only the disk's own encryption helps.
    """
    settings = settings_for_people(data_dir=data_dir)
    if settings.store_key is None:
        raise BadInputError(
            "Set ANTIPHON_TRACE_KEY to the key that the store is to have: `openssl rand -hex 32` makes one."
        )
    service.encrypt_store(settings.data_dir, settings.store_key)
    out.print(
        f"The store of traces in {settings.data_dir} is encrypted", soft_wrap=True
    )


def _in_words(manifest: service.Manifest) -> str:
    index = f"index {manifest.generation}" if manifest.generation else "no index"
    return f"{counted(len(manifest.files), 'file')}, {manifest.size_bytes:,} bytes, {index}"
