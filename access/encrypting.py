"""Encrypts the store of traces of a data folder that no service uses."""

from __future__ import annotations

from pathlib import Path

from antiphon.traces import STORE_FILE, empty_log, encrypt_file
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.private_files import make_private_file


def encrypt_store(data_dir: Path, key: str) -> None:
    """Puts an encrypted store in the place of the plain one.

    Raises:
        BadInputError: There is none, or another process uses it.
        ConfigurationError: The key has another form, or SQLCipher is not installed.
        TraceError: It cannot be read.
    """
    path = data_dir / STORE_FILE
    if not path.is_file():
        raise BadInputError(f"There is no store of traces in {data_dir}.")
    # With the last connection SQLite takes the log away; if one is left, somebody else is there.
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
