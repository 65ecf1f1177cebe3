"""Makes the first event of a query from the question and everything on which its decisions depend."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence

import structlog
from msgspec.structs import replace

from antiphon.composition.question import Question, check_question
from antiphon.composition.resources import Interceptor, Resources, ServiceResources
from antiphon.composition.settings import Settings
from antiphon.composition.subscribers import versions_of
from antiphon.engine import fixed_size, write_catalogue
from antiphon.traces import NO_CONVERSATION
from antiphon.vocabulary.errors import BadInputError, TraceError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.ports import Conversations
from antiphon.vocabulary.settings import QuerySettings
from antiphon.vocabulary.values import Exchange, Rate, StoredText, Value

log = structlog.get_logger(__name__)

EXCHANGES_REMEMBERED = 5
"""Exchanges of the conversation that the model sees, each but the last cut to a line."""
REMEMBERING_S = 0.5
"""Seconds that looking up the conversation may take of the deadline."""
LOADING_S = 2.0
"""Seconds that a question waits for parts that are still loading; then its caller must come again."""
LOADING_SHARE = 0.25
"""The most of a short deadline that such a wait may take, as a share."""
TOLD_CHARS = 20_000
"""Characters kept of each question and answer in a conversation that a caller sends; no model writes as many."""
BYTES_A_TOKEN = 4
"""A rough estimate for English text; only the reserve that a budget keeps back depends on it."""


class Conversation(Value, frozen=True, kw_only=True):
    """The conversation that a question belongs to.

    Attributes:
        exchanges: The last exchanges, oldest first.
        missing: True if they could not be read.
    """

    exchanges: Sequence[Exchange] = ()
    missing: bool = False


class Intake:
    """Makes the first event of each query of a service.

    That event holds everything from outside on which later decisions depend, so that a trace replays without the
    outside.
    """

    def __init__(
        self,
        settings: Settings,
        service: ServiceResources,
        wait: Callable[[float], Awaitable[float]] | None = None,
        *,
        opens: bool = True,
    ) -> None:
        """Holds what queries begin with.

        Args:
            wait: Waits for parts that are still loading, and returns the seconds that this took; raises LoadingError
                if it takes more than its argument.
            opens: True to store new conversations; False if the process that stores the event does so as well.
        """
        self._wait = wait
        self._opens = opens
        self._settings = settings
        self._service = service
        self._resources = service.shared

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Returns the names and versions of everything that shapes a query now."""
        return (
            *self._service.versions,
            ("index", str(self._service.library.describe().generation)),
            *versions_of(self._resources.subscribers),
        )

    async def receive(
        self, question: Question, conversations: Conversations, interceptor: Interceptor
    ) -> QueryReceived:
        """Checks a question and returns its query's first event.

        Args:
            conversations: Reads and stores the caller's conversations.

        Raises:
            BadInputError: The question or a wish cannot be used.
            NotFoundError: No such conversation, or no such query in it.
            LoadingError: A part that the query needs is not loaded yet.
        """
        # Every check comes before the conversation is stored: a refused question leaves nothing behind.
        session_id = question.session_id or uuid.uuid4().hex
        if question.told is not None:
            session_id = NO_CONVERSATION
        checked = check_question(question, self._settings, session_id)
        rates = rates_of(checked.settings, self._resources)
        problem = unpriced(checked.settings, rates)
        if problem is not None:
            raise BadInputError(problem)
        checked = await self._when_loaded(checked)
        conversation = await self._conversation(question, session_id, conversations)
        resources = self._resources
        courses = self._service.library.courses()
        titles = [course.title for course in courses]
        catalogue = write_catalogue(
            [(course.title, len(course.lessons)) for course in courses]
        )
        reviewers = [
            subscriber.name
            for subscriber in resources.subscribers
            if subscriber.reviews
        ]
        request_bytes = fixed_size(
            checked.settings.max_rounds, resources.tool_definitions, catalogue
        )
        first = replace(
            checked,
            history=tuple(conversation.exchanges),
            history_missing=conversation.missing,
            courses=StoredText("\n".join(titles)),
            tools=resources.tools.names,
            versions=self.versions(),
            rates=rates,
            fixed_tokens=request_bytes // BYTES_A_TOKEN,
            # `keeps_out` is called once, after everything that may fail: a query that an open circuit admits probes it.
            provider_open=resources.provider_circuit.keeps_out(resources.clock.now())
            or interceptor.provider_open,
            reviewers=tuple(reviewers),
            faults=interceptor.faults,
            catalogue=StoredText(catalogue),
        )
        # Redacted here, because the session publishes the first event as it is.
        return resources.redaction.event(first)

    async def _conversation(
        self, question: Question, session_id: str, conversations: Conversations
    ) -> Conversation:
        """Returns the conversation that a question belongs to; stores it if the question begins it."""
        if question.told is not None:
            return _as_told(question.told)
        if question.session_id is None and not self._opens:
            return Conversation()
        return await _recorded(conversations, session_id, question)

    async def _when_loaded(self, first: QueryReceived) -> QueryReceived:
        """Waits a moment until the parts that the query needs are loaded, and takes that time off its deadline.

        Otherwise the query's tools would wait for them until their own time is up, and find nothing.
        """
        if self._wait is None:
            return first
        deadline_s = first.settings.deadline_s
        waited_s = await self._wait(min(LOADING_S, deadline_s * LOADING_SHARE))
        if not waited_s:
            return first
        return replace(
            first, settings=replace(first.settings, deadline_s=deadline_s - waited_s)
        )


def _as_told(told: Sequence[Exchange]) -> Conversation:
    """Returns the end of a conversation that the caller keeps, with each text cut to no more than a model writes."""
    last = told[-EXCHANGES_REMEMBERED:]
    return Conversation(
        exchanges=[
            Exchange(question=it.question[:TOLD_CHARS], answer=it.answer[:TOLD_CHARS])
            for it in last
        ]
    )


async def _recorded(
    conversations: Conversations, session_id: str, question: Question
) -> Conversation:
    """Reads the conversation, or stores a new one.

    If the store fails, the query goes on without the conversation, and its answer says so.
    """
    is_new = question.session_id is None
    try:
        async with asyncio.timeout(REMEMBERING_S):
            if is_new:
                await conversations.open_conversation(session_id)
                return Conversation()
            return Conversation(
                exchanges=await conversations.exchanges(
                    session_id, EXCHANGES_REMEMBERED, question.follows
                )
            )
    except (TraceError, TimeoutError) as error:
        log.warning("conversation_not_read", error=str(error))
        return Conversation(missing=not is_new)


def rates_of(settings: QuerySettings, resources: Resources) -> tuple[Rate, ...]:
    """Returns the known rates of the models that a query may call."""
    asked = _models_of(settings)
    if settings.compression == "model":
        asked.append(settings.compression_model)
    # A server with a name of its own, such as the offline reasoner, answers no matter which model was requested.
    names = {model: resources.models["primary"].name or model for model in asked}
    # The rules know the last reasoner by its role, not by its name.
    names["fallback"] = resources.models["fallback"].name or settings.model
    rates: list[Rate] = []
    for asked_as, name in names.items():
        rate = resources.model_table.rate(
            name, asked_as, settings.thinking, settings.effort
        )
        if rate is not None:
            rates.append(rate)
    return tuple(rates)


def unpriced(settings: QuerySettings, rates: Sequence[Rate]) -> str | None:
    """Returns why a budget in dollars cannot be kept, with a remedy; None if it can, or if there is no budget."""
    if settings.max_cost_usd is None:
        return None
    priced = {rate.model for rate in rates}
    for model in (*_models_of(settings), "fallback"):
        if model not in priced:
            return (
                f"A limit of cost cannot be kept: what the model {model!r} costs is not known. "
                "Limit its tokens instead (`max_total_tokens`), or give its price in ANTIPHON_PRICES."
            )
    return None


def _models_of(settings: QuerySettings) -> list[str]:
    named = (settings.model, settings.final_model, settings.other_model)
    return [model for model in named if model]
