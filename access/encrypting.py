"""Encrypts the store of traces in a data folder that no service is using."""

from __future__ import annotations

from pathlib import Path

from antiphon.traces import STORE_FILE, empty_log, encrypt_file
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.private_files import make_private_file


def encrypt_store(data_dir: Path, key: str) -> None:
    """Replaces the plain store with an encrypted one.

    Raises:
        BadInputError: There is no store, or another process is using it.
        ConfigurationError: The key has another form, or SQLCipher is not installed.
        TraceError: The store cannot be read.
    """
    path = data_dir / STORE_FILE
    if not path.is_file():
        raise BadInputError(f"There is no store of traces in {data_dir}.")
    # SQLite removes the log with the last connection: if it is still there, another process has the store open.
    empty_log(path)
    if path.with_name(f"{path.name}-wal").exists():
        raise BadInputError(
            "The store of traces is in use: stop the service, then encrypt it."
        )
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    make_private_file(fresh)
    encrypt_file(path, fresh, key)
    fresh.replace(path)
