"""`antiphon double`: a Messages API that answers by a script, to test against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from antiphon.cli.serve import listening
from antiphon.cli.terminal import err
from antiphon.engine import Double, read_script
from antiphon.service import load_settings


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("double")(double)


def double(
    script: Annotated[
        Path, typer.Option("--script", help="YAML or JSON file: what to reply, how fast, where to break.")
    ],
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes a free one.")] = 8400,
    host: Annotated[str, typer.Option("--host", help="Address to serve on.")] = "127.0.0.1",
) -> None:
    """Serves a Messages API that answers by a script (docs/double.md): set ANTHROPIC_BASE_URL to its address."""
    app = Double(read_script(script), on_port=True)
    with listening(load_settings(host=host, port=port)) as listener:
        address, at = listener.getsockname()[:2]
        err.print(f"The double answers at http://{address}:{at} (Ctrl-C stops it)", soft_wrap=True)
        config = uvicorn.Config(app, lifespan="off", log_config=None, log_level="critical", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])
