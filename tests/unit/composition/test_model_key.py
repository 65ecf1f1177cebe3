"""What is known of the key for the model's server."""

from __future__ import annotations

import pytest
import structlog
from pydantic import SecretStr

from antiphon.composition.model_key import ModelKey, key_words
from antiphon.service import Settings
from antiphon.service.upkeep import KEY_AGAIN_S, check_model_key
from antiphon.vocabulary.errors import ModelError
from tests.fakes import FixedClock

REFUSAL = ModelError("authentication", "the server answered 401: invalid x-api-key")
AWAY = ModelError("connection", "nothing listens there")
SETTINGS = Settings.model_construct(anthropic_api_key=SecretStr("sk-secret"))


class Server:
    """Answers one check after another as it is told to; the last answer is every later one's."""

    def __init__(self, *answers: bool | ModelError) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def ask(self, _timeout_s: float) -> bool:
        self.asked += 1
        answer = self._answers[0]
        if len(self._answers) > 1:
            answer = self._answers.pop(0)
        if isinstance(answer, ModelError):
            raise answer
        return answer


class PassingClock:
    """A clock on which each wait is over at once; it keeps them."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []

    def now(self) -> float:
        return sum(self.waits_s)

    async def sleep(self, seconds: float) -> None:
        self.waits_s.append(seconds)


def key_of(*answers: bool | ModelError) -> ModelKey:
    return ModelKey(Server(*answers).ask, FixedClock(), key_words(SETTINGS))


@pytest.mark.parametrize(
    ("answer", "state"),
    [(True, "accepted"), (REFUSAL, "refused"), (False, "unknown"), (AWAY, "unknown")],
)
async def test_only_a_server_that_speaks_of_the_key_makes_it_known(
    answer: bool | ModelError, state: str
) -> None:
    key = key_of(answer)

    await key.check(1.0)

    assert key.finding.state == state
    assert (key.finding.at is None) == (state == "unknown")


async def test_the_end_of_a_call_goes_before_what_was_known() -> None:
    key = key_of(True)
    await key.check(1.0)

    key.note(REFUSAL)
    revoked = key.finding
    key.note(AWAY)
    still = key.finding
    key.note(None)

    assert (revoked.state, revoked.detail) == ("refused", str(REFUSAL))
    assert still == revoked
    assert key.finding.state == "accepted"


async def test_a_key_that_brought_a_reply_is_not_refused_by_a_list_of_models() -> None:
    key = key_of(REFUSAL)
    key.note(None)

    await key.check(1.0)

    assert key.finding.state == "accepted"


async def test_a_refused_key_is_checked_again_until_it_is_mended() -> None:
    server = Server(REFUSAL, AWAY, REFUSAL, True)
    clock = PassingClock()
    key = ModelKey(server.ask, clock, key_words(SETTINGS))

    await check_model_key(key, clock)

    assert (server.asked, key.finding.state) == (4, "accepted")
    assert clock.waits_s == [KEY_AGAIN_S] * 3


async def test_each_change_is_one_line_of_the_log() -> None:
    key = key_of(REFUSAL)

    with structlog.testing.capture_logs() as lines:
        await key.check(1.0)
        key.note(REFUSAL)
        key.note(None)
        key.note(None)

    assert [(line["log_level"], line["event"]) for line in lines] == [
        ("warning", "model_key_refused"),
        ("info", "model_key_accepted"),
    ]
    assert lines[0]["error"] == str(REFUSAL)
    assert lines[0]["remedy"] == "Check ANTHROPIC_API_KEY"


@pytest.mark.parametrize(
    ("settings", "sent", "remedy"),
    [
        ({"anthropic_api_key": "k"}, "the key", "Check ANTHROPIC_API_KEY"),
        (
            {"anthropic_api_key": "k", "anthropic_auth_token": "t"},
            "the key",
            "Check ANTHROPIC_AUTH_TOKEN",
        ),
        (
            {"anthropic_api_key": "k", "anthropic_base_url": "http://m.test"},
            "the key",
            "Check ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL",
        ),
        (
            {"anthropic_base_url": "http://m.test"},
            "a request without a key",
            "Set ANTHROPIC_API_KEY",
        ),
    ],
)
async def test_the_warning_names_the_settings_that_are_set(
    settings: dict[str, str], sent: str, remedy: str
) -> None:
    # Nothing of the environment of whoever runs the test.
    unset = dict.fromkeys(
        ("anthropic_api_key", "anthropic_auth_token", "anthropic_base_url")
    )
    words = key_words(Settings.model_construct(**(unset | settings)))  # type: ignore[arg-type]  # only whether they are set counts
    key = ModelKey(Server(REFUSAL).ask, FixedClock(), words)
    before = key.warnings(in_full=True)

    await key.check(1.0)
    [warning] = key.warnings(in_full=True)

    assert before == []
    assert warning.startswith(f"The model's server refuses {sent} (")
    assert f"{remedy}, and start the service again" in warning


async def test_the_servers_words_are_not_for_everybody() -> None:
    key = key_of(REFUSAL)
    await key.check(1.0)

    [for_all] = key.warnings(in_full=False)

    assert "x-api-key" not in for_all
    assert "ANTHROPIC_API_KEY" in for_all
