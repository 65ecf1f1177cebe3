"""Runs one tool call from its request to its single outcome."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.dispatcher.attempts import (
    MAX_DETAIL,
    ToolCircuits,
    candidates,
    describe,
    run_tool,
    substitute_arguments,
)
from antiphon.dispatcher.output import line
from antiphon.dispatcher.tool import CallContext, Registry, Tool
from antiphon.vocabulary.containment import contained, failure_of, message_of
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.events import (
    ToolAnsweredLate,
    ToolFailed,
    ToolFailureKind,
    ToolRequested,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Clock, Publish, Spawn, ToolOutput
from antiphon.vocabulary.values import StoredText

Outcome = ToolSucceeded | ToolFailed
End = Callable[[Outcome], None]
"""Takes the call's outcome, once."""


def _do_nothing() -> None:
    """Takes the place of a cancel function when nothing is running."""


class ToolRun:
    """Runs the requested tool, its retry and its substitutes; stops them when time is up, and reports one outcome."""

    def __init__(
        self,
        asked: ToolRequested,
        publish: Publish,
        spawn: Spawn,
        clock: Clock,
        tools: Registry,
        circuits: ToolCircuits,
        end: End,
        context: CallContext,
    ) -> None:
        self._asked = asked
        self._call = asked.call
        self._publish = publish
        self._spawn = spawn
        self._clock = clock
        self._tools = tools
        self._circuits = circuits
        self._report = end
        self._context = context
        self._started_at = clock.now()
        self._ended = False
        self._cancel_work: Callable[[], object] = _do_nothing
        self._cancel_timer: Callable[[], object] = _do_nothing

    def begin(self) -> None:
        """Starts the work, or ends at once if there is no such tool or the arguments do not fit."""
        tool = self._tools.offered(self._call.name)
        if tool is None:
            offered = ", ".join(self._tools.names) or "none"
            name = line(self._call.name, 80)
            self._fail(
                "unknown_tool",
                f"There is no tool named {name!r}. The tools are: {offered}.",
            )
            return
        try:
            tool.parameters.read(self._call.arguments)
        except BadInputError as error:
            self._fail("invalid_arguments", f"{tool.name}: {error}")
            return
        except BaseException as error:  # noqa: BLE001 - the check of a user's own type may raise anything
            self._fail("error", describe(tool, failure_of(error)))
            return
        # Announced here, not in the task, so that the event follows its request even if tasks start late.
        self._start(tool)
        self._cancel_work = self._spawn(self._work(tool))

    def abandon(self, why: str, /) -> None:
        """Stops the work, whose outcome is no longer wanted."""
        if self._ended:
            return
        self._cancel_work()
        self._cancel_timer()
        self._fail(
            "abandoned", f"{self._call.name} was stopped: {line(why, MAX_DETAIL)}"
        )

    async def _work(self, tool: Tool) -> None:
        outcome = await self._outcome(tool)
        self._cancel_timer()
        # A tool may ignore its cancellation and answer after the call's outcome was published.
        if self._ended:
            self._publish_late(outcome)
        self._end(outcome)

    def _publish_late(self, outcome: Outcome) -> None:
        """Publishes that a stopped tool answered all the same; a late failure is not news."""
        if isinstance(outcome, ToolSucceeded):
            self._publish(
                ToolAnsweredLate(
                    tool_call_id=outcome.tool_call_id,
                    name=outcome.name,
                    passages=len(outcome.passages),
                    duration_ms=outcome.duration_ms,
                )
            )

    async def _outcome(self, tool: Tool) -> Outcome:
        """Tries the tool and its substitutes until one produces an outcome."""
        failures: list[str] = []
        why = ""
        last = tool
        for candidate in candidates(tool, self._tools.substitutes(tool)):
            if self._ended:
                break  # The call was stopped, and the tool turned the cancellation into another exception.
            arguments = self._arguments(tool, candidate, failures)
            if arguments is None:
                if failures:
                    why = failures[-1]
                continue
            self._announce(candidate, last, arguments, why)
            last = candidate
            outcome = await self._attempt(candidate, arguments)
            if not isinstance(outcome, str):
                return outcome
            why = outcome
            failures.append(outcome)
        # A retry mostly fails as the first attempt did: the message has each sentence once.
        return self._failed("error", "; ".join(dict.fromkeys(failures)))

    async def _attempt(self, tool: Tool, arguments: str) -> Outcome | str:
        """Returns the call's outcome, or why this attempt produced none."""
        try:
            output = await contained(run_tool(tool, arguments, self._context))
        except NotFoundError as error:
            return self._failed("not_found", line(message_of(error), MAX_DETAIL))
        except BadInputError as error:
            return self._failed(
                "invalid_arguments", line(message_of(error), MAX_DETAIL)
            )
        except Exception as error:  # noqa: BLE001 - a user's tool may raise anything; it becomes an event
            self._circuits.failed(tool.name, self._clock.now())
            return describe(tool, error)
        # A late answer is not a success: the circuit has already counted the timeout.
        if not self._ended:
            self._circuits.succeeded(tool.name)
        return self._succeeded(tool, output)

    def _arguments(
        self, asked: Tool, candidate: Tool, failures: list[str]
    ) -> str | None:
        """Returns the arguments for `candidate`; None if it is skipped, in which case `failures` may get a reason."""
        if self._circuits.keeps_out(candidate.name, self._clock.now()):
            failures.append(
                f"{candidate.name} failed too often of late and is left alone for a while"
            )
            return None
        if candidate is asked:
            return self._call.arguments
        try:
            return substitute_arguments(asked, candidate, self._call.arguments)
        except BaseException as error:  # noqa: BLE001 - so may a user's adapter
            failures.append(describe(candidate, failure_of(error)))
            return None

    def _announce(self, candidate: Tool, last: Tool, arguments: str, why: str) -> None:
        """Publishes every attempt except the first, which `begin` published before the work began."""
        if candidate is not last:
            self._publish(
                ToolSubstituted(
                    tool_call_id=self._call.id,
                    failed=last.name,
                    substitute=candidate.name,
                    arguments=arguments,
                    why=why,
                )
            )
        if why:
            self._start(candidate)

    def _start(self, tool: Tool) -> None:
        """Publishes that `tool` begins to run, and starts its own time limit within the call's."""
        seconds = max(0.0, self._started_at + self._asked.timeout_s - self._clock.now())
        if tool.timeout_s is not None:
            seconds = min(seconds, tool.timeout_s)
        key = "" if tool.key_parameter is None else self._context.key
        self._publish(
            ToolStarted(tool_call_id=self._call.id, name=tool.name, idempotency_key=key)
        )
        self._cancel_timer()
        # In the background, because a timer alone must not make the session count as at work.
        self._cancel_timer = self._spawn(self._time_out(tool, seconds), background=True)

    async def _time_out(self, tool: Tool, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._cancel_work()
        if not self._ended:
            self._circuits.timed_out(tool, self._asked.timeout_s, self._clock.now())
        self._fail(
            "timeout", f"{tool.name} took longer than {seconds:.3g} s and was stopped."
        )

    def _succeeded(self, tool: Tool, output: ToolOutput) -> ToolSucceeded:
        return ToolSucceeded(
            tool_call_id=self._call.id,
            name=tool.name,
            output=StoredText(output.text),
            passages=output.passages,
            duration_ms=self._duration_ms(),
        )

    def _failed(self, failure: ToolFailureKind, detail: str) -> ToolFailed:
        return ToolFailed(
            tool_call_id=self._call.id,
            name=self._call.name,
            failure=failure,
            detail=detail,
            duration_ms=self._duration_ms(),
        )

    def _duration_ms(self) -> float:
        return round((self._clock.now() - self._started_at) * 1000, 3)

    def _fail(self, failure: ToolFailureKind, detail: str) -> None:
        self._end(self._failed(failure, detail))

    def _end(self, outcome: Outcome) -> None:
        if not self._ended:
            self._ended = True
            # Nothing is left to cancel; the two functions would keep this run in memory until garbage collection.
            self._cancel_work = self._cancel_timer = _do_nothing
            self._report(outcome)
