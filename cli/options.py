"""Options that several commands share; each overrides one setting."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from antiphon.vocabulary.settings import DECLARED

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder of the index and the traces.", show_default="data")
]
Reasoner = Annotated[
    Literal["auto", "claude", "offline"] | None,
    typer.Option("--reasoner", help="Who answers; auto is Claude where a key is set.", show_default="auto"),
]
Model = Annotated[str | None, typer.Option("--model", help="Claude's model.", show_default=False)]
Embedder = Annotated[
    Literal["auto", "minilm", "onnx"] | None,
    typer.Option("--embedder", help="Who turns texts into vectors.", show_default="auto"),
]
ChromaUrl = Annotated[
    str | None, typer.Option("--chroma-url", help="A Chroma server; none is the index in this process.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def wish(name: str, flag: str) -> Any:
    """An option for one setting that a caller may choose, as vocabulary/settings.py declares it."""
    return typer.Option(flag, help=DECLARED[name].sentence)
