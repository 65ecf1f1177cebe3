"""Checks of a file's first bytes, and of the ZIP archives that Office files are, before a library unpacks them."""

from __future__ import annotations

import io
import zipfile

from antiphon.knowledge.readers.content import UnreadableError

MOST_ENTRIES = 10_000
MOST_UNPACKED_BYTES = 400_000_000
MOST_XML_BYTES = 60_000_000
"""Of one entry that is parsed: a tree takes several times its bytes."""

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
    """Says that a file is not what its ending says, and what it looks like instead."""
    reason = f"it is not {kind}"
    for signature, looks_like in _SIGNATURES:
        if data.startswith(signature):
            reason += f"; it looks like {looks_like}"
    if not data.strip(b"\0"):
        reason += "; it is empty"
    return UnreadableError(reason)


def check_office_file(kind: str, data: bytes, part: str) -> None:
    """Checks an Office file before it is unpacked.

    Args:
        kind: Its format in words.
        part: The entry that every file of that format has.

    Raises:
        UnreadableError: It is no such file, is encrypted, or would unpack to too much.
    """
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnreadableError(
            "it is encrypted, or of a format of before 2007; save it anew without a password"
        )
    if not data.startswith(b"PK"):
        raise not_a(kind, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except zipfile.BadZipFile as error:
        raise UnreadableError(f"it is broken: {error}") from error
    if part not in [entry.filename for entry in entries]:
        raise UnreadableError(f"it is not {kind}: it holds no {part}")
    _check_sizes(entries)


def _check_sizes(entries: list[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise UnreadableError(
            f"it holds {len(entries)} entries; at most {MOST_ENTRIES}"
        )
    # What an archive says of itself may be a lie; then the limits of the process that reads it hold.
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MOST_UNPACKED_BYTES:
        raise UnreadableError(_too_large(unpacked, MOST_UNPACKED_BYTES))
    for entry in entries:
        is_xml = entry.filename.lower().endswith(_PARSED)
        if is_xml and entry.file_size > MOST_XML_BYTES:
            raise UnreadableError(_too_large(entry.file_size, MOST_XML_BYTES))


def _too_large(size_bytes: int, limit_bytes: int) -> str:
    return (
        f"it unpacks to {size_bytes // 1_000_000} MB where {limit_bytes // 1_000_000} MB are the most: "
        "it is a ZIP bomb, or has to be split"
    )
