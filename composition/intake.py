"""Makes the first event of a query, from the question and everything that its decisions depend on."""

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
"""Exchanges of the conversation that a query is shown, all but the last one in a line each."""
REMEMBERING_S = 0.5
"""Seconds that looking up the conversation may take of the deadline."""
LOADING_S = 2.0
"""Seconds that a question waits for what is being loaded; then its caller must come again."""
LOADING_SHARE = 0.25
"""Share of a short deadline that it waits at most."""
TOLD_CHARS = 20_000
"""Characters of a question or an answer that a caller tells of; no model answers with as many."""
BYTES_A_TOKEN = 4
"""A rough estimate for English text, on which only the share of a budget that is kept back rests."""


class Conversation(Value, frozen=True, kw_only=True):
    """The conversation that a question belongs to.

    Attributes:
        exchanges: Its last ones, oldest first.
        missing: They could not be read.
    """

    exchanges: Sequence[Exchange] = ()
    missing: bool = False


class Intake:
    """Makes the first event of each query of a service.

    Everything from outside that later decisions use is gathered here into that event, so that a trace replays
    without the outside.
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
            wait: Waits for what is still being loaded, and returns how long it took; raises LoadingError once it takes
                more seconds than that.
            opens: Make new conversations known. False: whoever stores the event does, at the same time.
        """
        self._wait = wait
        self._opens = opens
        self._settings = settings
        self._service = service
        self._resources = service.shared

    def versions(self) -> tuple[tuple[str, str], ...]:
        """Returns the names and versions of what shapes a query now."""
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
            conversations: Where the question's own is found.

        Raises:
            BadInputError: The question or a wish cannot be used.
            NotFoundError: No such conversation, or no such query in it.
            LoadingError: What it needs is not loaded yet.
        """
        # Every check comes before the conversation is stored: nothing is left of a question that is refused.
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
            # Asked once, after everything that may fail: a query that an open circuit admits is its probe.
            provider_open=resources.provider_circuit.keeps_out(resources.clock.now())
            or interceptor.provider_open,
            reviewers=tuple(reviewers),
            faults=interceptor.faults,
            catalogue=StoredText(catalogue),
        )
        # The session publishes it unchanged, so that nothing later would redact it.
        return resources.redaction.event(first)

    async def _conversation(
        self, question: Question, session_id: str, conversations: Conversations
    ) -> Conversation:
        """Returns the conversation that a question belongs to; one that begins with it is made known."""
        if question.told is not None:
            return _as_told(question.told)
        if question.session_id is None and not self._opens:
            return Conversation()
        return await _recorded(conversations, session_id, question)

    async def _when_loaded(self, first: QueryReceived) -> QueryReceived:
        """Waits a moment until what the query needs is loaded, and takes that off its deadline.

        Nothing begins without it: the query's tools would wait for it until their own time is up, and find nothing.
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
    """Returns the end of a conversation that the caller keeps, and of each text no more than a model writes."""
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

    A store that fails costs nobody the answer: the query goes without the conversation, and the answer says so.
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
    """Returns the rates of the models that a query may ask, as far as they are known."""
    asked = _models_of(settings)
    if settings.compression == "model":
        asked.append(settings.compression_model)
    # A server with a name of its own, such as the offline reasoner, answers whichever model was requested.
    names = {model: resources.models["primary"].name or model for model in asked}
    # The rules know the last reasoner by its role, whatever its name is.
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
    """Returns why a budget in dollars cannot be kept, and what to do; None if it can, or if there is none."""
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
