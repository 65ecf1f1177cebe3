"""A question with its caller's choices, and the checks that need nothing but the settings."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.composition.settings import Settings
from antiphon.coordinator import receive
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.settings import DECLARED, QuerySettings
from antiphon.vocabulary.values import Exchange


class Question:
    """A question and the settings that its caller chooses: `Question(query="What is BM25?", max_rounds=1)`.

    Attributes:
        session_id: The conversation; None begins one.
        follows: The query of the conversation after which the question comes, "" for none: it is then another version
            of the question that came there before. None: the last query.
        told: The earlier exchanges, oldest first, from a caller who keeps the conversation; the query's trace is then
            part of no conversation. None: this service keeps the conversation.
        settings: All settings of the query at once, in place of the service's.
        wishes: The settings of `vocabulary.settings.WISHES` that the caller chooses, by name; None: the service's.
    """

    def __init__(
        self,
        *,
        query: str,
        session_id: str | None = None,
        follows: str | None = None,
        told: Sequence[Exchange] | None = None,
        settings: QuerySettings | None = None,
        **wishes: object,
    ) -> None:
        self.query = query
        self.session_id = session_id
        self.follows = follows
        self.told = told
        self.settings = settings
        self.wishes = {
            name: value for name, value in wishes.items() if value is not None
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.query, self.session_id))

    def __repr__(self) -> str:
        return f"Question({self.query!r}, session_id={self.session_id!r}, wishes={self.wishes})"


def check_question(
    question: Question, service: Settings, session_id: str = ""
) -> QueryReceived:
    """Returns the first event of a question's query, as far as it follows from the question and the settings.

    Args:
        service: The settings of the service.
        session_id: The conversation; the one that the question names, or a new one.

    Raises:
        BadInputError: The question or a wish cannot be used, or it follows a query of no conversation.
    """
    _check_caps(question, service)
    if question.follows is not None and question.session_id is None:
        raise BadInputError(
            "`follows` names a query of a conversation: send that conversation in `session_id`."
        )
    settings = question.settings or service.query_settings()
    first = receive(
        question.query, session_id, settings, question.wishes, service.query_chars
    )
    return replace(first, follows=question.follows)


def _check_caps(question: Question, service: Settings) -> None:
    """Refuses wishes above the most that the owner allows callers.

    Raises:
        BadInputError: A wish is too high.
    """
    for name, most in caps_of(service).items():
        wish = question.wishes.get(name)
        # `receive` refuses a wish that is not a number, or more than any service allows, and words that better.
        if not isinstance(wish, int | float) or wish > (
            DECLARED[name].most_wished or 0
        ):
            continue
        if wish > most:
            raise BadInputError(
                f"`{name}` is {wish:g}, and the most that this service lets a caller choose is {most:g}."
            )


def caps_of(service: Settings) -> dict[str, float]:
    """Returns the most that a caller may choose for each setting that the owner can cap, by name.

    Settings that callers may only lower are not among them: for those the service's own value is the most.
    """
    return {
        "max_rounds": max(service.most_rounds, service.max_rounds),
        "deadline_s": max(service.most_deadline_s, service.deadline_s),
    }
