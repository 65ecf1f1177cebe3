"""Checks a file's first bytes, and Office files, which are ZIP archives, before unpacking them."""

from __future__ import annotations

import io
import zipfile
import zlib

from antiphon.knowledge.readers.content import UnreadableError

MOST_ENTRIES = 10_000
MOST_UNPACKED_BYTES = 400_000_000
MOST_XML_BYTES = 60_000_000
"""Most bytes of one entry to parse: a tree takes several times as much."""

_PARSED = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")

_SIGNATURES = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive, as .docx, .pptx and .epub files are"),
    (b"\xd0\xcf\x11\xe0", "an Office file that is encrypted or of before 2007"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"\x1f\x8b", "a compressed file"),
    (b"{\\rtf", "an RTF file"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
)


def not_a(kind: str, data: bytes) -> UnreadableError:
    """Says that a file does not match its ending, and which format it looks like."""
    reason = f"it is not {kind}"
    for signature, looks_like in _SIGNATURES:
        if data.startswith(signature):
            reason += f"; it looks like {looks_like}"
    if not data.strip(b"\0"):
        reason += "; it is empty"
    return UnreadableError(reason)


class Archive:
    """The entries of a ZIP archive with a checked directory, each unpacked on demand.

    Args:
        kind: The file's format in words.

    Raises:
        UnreadableError: It is not such a file, is encrypted, or would be too large unpacked.
    """

    def __init__(self, kind: str, data: bytes) -> None:
        if data.startswith(b"\xd0\xcf\x11\xe0"):
            raise UnreadableError(
                "it is encrypted, or of a format of before 2007; save it again without a password"
            )
        if not data.startswith(b"PK"):
            raise not_a(kind, data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise UnreadableError(
                f"it is broken or was cut short; fetch or save it again ({error})"
            ) from error
        entries = self._zip.infolist()
        _check_sizes(entries)
        self._entries = {_plain(entry.filename): entry for entry in entries}

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._entries

    def read(self, name: str) -> bytes:
        """Unpacks one entry.

        Raises:
            UnreadableError: It is missing or broken.
        """
        entry = self._entries.get(_plain(name))
        if entry is None:
            raise UnreadableError(f"it is broken: it holds no {name}")
        try:
            return self._zip.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise UnreadableError(f"it is broken: {error}") from error
        except (RuntimeError, NotImplementedError) as error:
            raise UnreadableError(
                f"{name} in it cannot be unpacked: {error}"
            ) from error


def _plain(name: str) -> str:
    """Returns an entry's name in the form that Office compares: some programs write backslashes or capitals."""
    return name.replace("\\", "/").lstrip("/").lower()


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise UnreadableError(
            f"it holds {len(entries)} entries; at most {MOST_ENTRIES}"
        )
    # The sizes in an archive may be false; then the limits of the reading process still apply.
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MOST_UNPACKED_BYTES:
        raise UnreadableError(_too_large(unpacked, MOST_UNPACKED_BYTES))
    for entry in entries:
        is_xml = entry.filename.lower().endswith(_PARSED)
        if is_xml and entry.file_size > MOST_XML_BYTES:
            raise UnreadableError(_too_large(entry.file_size, MOST_XML_BYTES))


def _too_large(size_bytes: int, limit_bytes: int) -> str:
    return (
        f"it unpacks to {size_bytes // 1_000_000} MB, and {limit_bytes // 1_000_000} MB are the most: "
        "it is a ZIP bomb, or has to be split"
    )
