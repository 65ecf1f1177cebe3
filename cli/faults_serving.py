"""`antiphon faults serve`: breaks the exchange between an agent and its model, and reports how the agent reacted."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import typer

from antiphon import api, faults, service
from antiphon.cli.faults import Points
from antiphon.cli.faults_showing import refuse_unwritable
from antiphon.cli.process import INTERRUPTED
from antiphon.cli.serve import listening
from antiphon.cli.session import loaded_settings
from antiphon.cli.terminal import counted, err, one_line, out
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.imports import needing_extra
from antiphon.vocabulary.private_files import make_private_file

if TYPE_CHECKING:
    import httpx2

SILENCE_S = 600.0
"""Seconds for which the upstream may be silent, the same as in its own SDKs."""
_RAISED = re.compile(r"^[A-Za-z_][\w.]{0,200}(?:Error|Exception)\b.*", re.MULTILINE)
_MOST_OUTPUT_BYTES = 16 * 2**20
"""Bytes of an agent's output that are searched; the rest does not count."""


def serve(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            help="After --: your agent, run with ANTHROPIC_BASE_URL and OPENAI_BASE_URL set to the proxy."
        ),
    ] = None,
    upstream: Annotated[
        str | None, typer.Option("--upstream", help="Address of the model's server.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", help="Reply from this recording, without a server."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", help="Append every exchange to this file (JSONL)."),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="Fault plan (YAML or JSON).")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Without a plan: draw one, by this seed."),
    ] = None,
    points: Points = "*",
    expect: Annotated[
        str,
        typer.Option("--expect", help="Text that the agent's output must hold."),
    ] = "",
    limit_s: Annotated[
        float,
        typer.Option(
            "--limit", min=1, help="Seconds that a run of the agent may take."
        ),
    ] = 60.0,
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes a free one.")] = 0,
) -> None:
    """Sits in front of a model's server, injects the faults of a plan, and says what the client did about each.

    With a command and neither a plan nor a seed, each fault that the agent can meet is tried by itself. Exit code 1
    means that the agent failed.
    """
    chosen: faults.Plan | None = None
    if plan is not None:
        chosen = faults.read_plan(plan)
        faults.check_wire_plan(chosen)
    elif seed is not None:
        chosen = faults.drawn_plan(seed)
    proxy = faults.FaultProxy(_server(upstream, replay), _recorder(record))
    app = service.Double(proxy, on_port=True)
    with needing_extra("serve", "`antiphon faults serve`"):
        serve_app = api.serve_app
    with listening(loaded_settings(host="127.0.0.1", port=port)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        # In a separate thread, which Ctrl-C does not reach, so that the proxy serves until the verdict is printed. With
        # its own socket, because an agent that ends at once may end the command before the thread serves.
        own = listener.dup()
        serving = threading.Thread(
            target=lambda: asyncio.run(serve_app(app, own)), daemon=True
        )
        serving.start()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)
        try:
            if command:
                agent = _Agent(proxy, command, address, expect, limit_s)
                _try_out(agent, chosen, points.split(","))
            else:
                _wait(proxy, chosen or faults.Plan(), address)
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None


def _server(upstream: str | None, replay: Path | None) -> httpx2.AsyncClient:
    # Imported here, because help and error messages do not need it.
    import httpx2

    if replay is not None and upstream is None:
        recording = faults.read_recording(replay)
        return httpx2.AsyncClient(base_url="http://replay.invalid", transport=recording)
    address = (upstream or "").rstrip("/").removesuffix("/v1")
    if replay is not None or not address.startswith(("http://", "https://")):
        raise BadInputError(
            "Name what is behind the proxy: --upstream with the address of a model's server "
            "(http://… or https://…), or --replay with a recording."
        )
    timeout = httpx2.Timeout(SILENCE_S, connect=10.0)
    return httpx2.AsyncClient(base_url=address, timeout=timeout)


def _recorder(path: Path | None) -> Callable[[faults.Exchange], object]:
    if path is None:
        return lambda _: None
    refuse_unwritable(path)
    make_private_file(path)
    file = path.open("ab", buffering=0)
    return lambda exchange: file.write(msgspec.json.encode(exchange) + b"\n")


class _Agent(NamedTuple):
    """A user's agent, as a command.

    Attributes:
        expect: Text that its output must hold.
        limit_s: Seconds that a run may take.
    """

    proxy: faults.FaultProxy
    command: Sequence[str]
    address: str
    expect: str
    limit_s: float

    def run(self, plan: faults.Plan) -> str:
        """Runs the agent once under a plan; returns how it failed, or an empty text."""
        self.proxy.begin(plan.faults)
        # A double or a recording needs no key, but every SDK insists on one; the user's own keys take precedence.
        keys = {"ANTHROPIC_API_KEY": "none", "OPENAI_API_KEY": "none"}
        at = {
            "ANTHROPIC_BASE_URL": self.address,
            "OPENAI_BASE_URL": f"{self.address}/v1",
        }
        with tempfile.TemporaryFile() as printed:
            try:
                process = subprocess.Popen(
                    self.command,
                    env=keys | os.environ | at,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise BadInputError(
                    f"{self.command[0]} cannot be run ({error.strerror}): name your agent's command after --."
                ) from error
            try:
                code = process.wait(self.limit_s)
            except subprocess.TimeoutExpired:
                return f"it did not end within {self.limit_s:g} s"
            finally:
                # The whole process group, so that processes that the agent started end too.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            printed.seek(0)
            said = printed.read(_MOST_OUTPUT_BYTES).decode("utf-8", "replace").rstrip()
        if code:
            # The last line with an exception, if any: notes may follow it. Other programs print their error last.
            *_, last = [said.rpartition("\n")[2], *_RAISED.findall(said)]
            return f"it ended with status {code}: {one_line(last, 200)}"
        if self.expect not in said:
            return f"its output lacks {self.expect!r}"
        return ""

    def try_out(self, plan: faults.Plan) -> bool:
        """Runs the agent under a plan, and prints its reactions; returns True if it failed."""
        failed = self.run(plan)
        did = "; ".join(_met(self.proxy, plan))
        told = f"✗ {did}; {failed}" if failed else f"✓ {did}"
        out.print(told, style="red" if failed else None, soft_wrap=True)
        return bool(failed)


def _met(proxy: faults.FaultProxy, plan: faults.Plan) -> list[str]:
    """Returns the client's reaction to each fault, in words."""
    told = faults.reactions(proxy.exchanges)
    points = [fired.point for fired in proxy.injected.fired]
    for fault in plan.faults:
        if not any(map(fault.is_at, points)):
            told.append(f"{fault.point}:{fault.kind}: never fired")
    return told


def _try_out(agent: _Agent, chosen: faults.Plan | None, wanted: Sequence[str]) -> None:
    """Tries the plan, or every fault alone, and shrinks the first plan that broke the agent."""
    plans = [chosen or faults.Plan()]
    if chosen is None:
        failed = agent.run(plans[0])
        if failed:
            raise BadInputError(f"The agent fails though nothing is broken: {failed}.")
        points = {point for point, _ in agent.proxy.injected.traversed}
        plans = faults.single_plans(points, len(agent.proxy.exchanges), wanted)
    broken = [plan for plan in plans if agent.try_out(plan)]
    out.print(f"{counted(len(plans), 'plan')} tried, {len(broken)} broke the agent")
    if not broken:
        return
    small = faults.smallest(
        faults.Experiment.of(broken[0]),
        lambda fewer: any(map(agent.run, fewer.plans)),
    )
    out.print("The smallest plan that breaks it:")
    out.print(faults.write_experiment(small))
    raise typer.Exit(1)


def _wait(proxy: faults.FaultProxy, plan: faults.Plan, address: str) -> None:
    """Serves until Ctrl-C, and prints the client's reactions."""
    proxy.begin(plan.faults)
    err.print(f"The proxy answers at {address} (Ctrl-C: the verdict)", soft_wrap=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    for told in _met(proxy, plan):
        out.print(told, soft_wrap=True)
    out.print(f"{counted(len(proxy.exchanges), 'exchange')} passed")
