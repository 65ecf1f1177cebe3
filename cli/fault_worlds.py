"""Opens the worlds that `antiphon faults` breaks, with their tools, their store, and the folder of a run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from antiphon import faults, service
from antiphon.cli.process import before_ending
from antiphon.cli.session import loaded_settings


@contextmanager
def world_of(tools: str, store: str | None = None) -> Iterator[faults.World]:
    """Opens a world with these tools; its traces are deleted at the end."""
    with scratch_folder() as folder, closing(opener(tools, store)(folder)) as world:
        yield world


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Makes the folder for all temporary files of a run; Ctrl-C, which unwinds nothing, removes it too."""
    with tempfile.TemporaryDirectory() as folder:
        remove = partial(shutil.rmtree, folder, ignore_errors=True)
        before_ending.append(remove)
        tempfile.tempdir = folder
        # Cleaned up even after an exception, such as a broken promise or a user's mistake: the process may go on.
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = None
            before_ending.remove(remove)


def opener(tools: str, store: str | None = None) -> partial[faults.World]:
    """Makes worlds with these tools, and with the subscribers that the settings name.

    Args:
        store: The address of the NATS server that stores the traces; None: they are in the run's folder.

    Raises:
        ConfigurationError: A tool or subscriber does not exist or cannot be used.
    """
    open_store = faults.open_local if store is None else faults.OpenShared(store)
    return partial(
        faults.World,
        tools=service.load_tools(tools),
        named=tools,
        open_store=open_store,
        subscribers=service.load_subscribers(loaded_settings().subscribers),
    )
