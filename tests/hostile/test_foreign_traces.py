"""Files that claim to be another program's recording: refused in a sentence, or read as a trace that replays."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.history import replay
from antiphon.history.foreign import ImportedFile, read_foreign
from antiphon.traces import Redaction, event_of, plain
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import QueryCancelled, QueryReceived, ReasoningRetried

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
NAMES = sorted(
    path.name for path in FOREIGN.glob("*.json*") if "schema" not in path.name
)
NOW = 1_800_000_000.0
VALUES: tuple[Any, ...] = (
    None, True, -1, 10**30, 1e308, "", "\x00", "x" * 70_000, [], {}, [[]], [None], [{}], {"type": "tool_use"},
    {"": {"": []}}, "[{\"type\": 1}]", "nan", "9" * 400,
)  # fmt: skip
Form = Any


def read(form: Form) -> ImportedFile:
    data = form if isinstance(form, bytes) else json.dumps(form).encode()
    return read_foreign(data, NOW, Redaction({"a secret": "s3cr3t"}))


def form_of(name: str) -> Form:
    text = (FOREIGN / name).read_text()
    if name.endswith("jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return json.loads(text)


def places_in(holder: Form) -> Iterator[tuple[Form, Any]]:
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from places_in(holder[key])


def check(form: Form) -> None:
    try:
        found = read(form)
    except BadInputError:
        return
    for query in found.queries:
        assert replay(query).divergence is None
        # A stored event must be readable.
        assert event_of(plain(query[0].event)) == query[0].event


@pytest.mark.parametrize("name", NAMES)
def test_a_field_of_any_other_value_is_refused_or_read(name: str) -> None:
    chance = random.Random(name)
    places = len(list(places_in(form_of(name))))

    for number in chance.sample(range(places), min(places, 40)):
        form = form_of(name)
        holder, key = list(places_in(form))[number]
        holder[key] = copy.deepcopy(chance.choice(VALUES))
        check(form)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_cut_off_or_holds_other_bytes_is_refused_or_read_in_part(
    name: str,
) -> None:
    data = (FOREIGN / name).read_bytes()
    chance = random.Random(name)

    for _ in range(10):
        at = chance.randrange(len(data))
        check(data[:at])
        check(data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :])


def exchange(question: str, *content: Form, **more: Form) -> Form:
    """A line of a recorded exchange."""
    request = {"model": "m", "messages": [{"role": "user", "content": question}]}
    response = {"model": "m", "content": list(content), "stop_reason": "end_turn"}
    return {"request": request, "response": response, **more}


SAID = {"type": "text", "text": "Yes."}


def deep(levels: int) -> bytes:
    return b'{"request":' + b"[" * levels + b"]" * levels + b"}"


def long_loop(rounds: int, chars: int) -> Form:
    """A trajectory of `rounds` rounds, each of which repeats all those before it."""
    step = {
        "source": "agent",
        "message": "",
        "observation": {"results": [{"content": "x" * chars}]},
    }
    steps: list[Form] = [{"source": "user", "message": "Why?"}]
    for number in range(rounds):
        call = {"tool_call_id": f"c{number}", "function_name": "f", "arguments": {}}
        steps.append({**step, "tool_calls": [call]})
    return {"schema_version": "ATIF-v1.7", "agent": {}, "steps": steps}


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (b"", "it holds none of what is read"),
        (b"[]", "it holds none of what is read"),
        (b"\xff\xfe", "this is no JSON"),
        (deep(200), "nested too deep"),
        (deep(100_000), "no JSON|nested too deep"),
        (b" " * 64_000_001, "more than 64,000,000 bytes"),
        (b"[%s{}]" % (b"{}," * 2_500_000), "more than 5,000,000 values"),
        ([exchange(str(n), SAID) for n in range(1_100)], "1,000 queries"),
        (long_loop(20_000, 10), "more than 200,000 messages"),
        (long_loop(300, 10_000), "more than 200,000,000 characters"),
        (
            [
                exchange(
                    "Why?",
                    {"type": "tool_use", "id": "i" * 300, "name": "f", "input": {}},
                )
            ],
            "usable id",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_too_large_too_deep_or_no_recording_is_refused(
    form: Form, sentence: str
) -> None:
    refused: list[str] = []
    try:
        refused += read(form).refused
    except BadInputError as error:
        refused.append(str(error))

    assert re.search(sentence, "; ".join(refused))


@pytest.mark.parametrize(
    "place",
    [
        lambda line: line["request"]["messages"][0].update(content="Is s3cr3t it?"),
        lambda line: line["request"].update(system="Use s3cr3t."),
        lambda line: line["request"].update(
            tools=[{"name": "f", "description": "s3cr3t", "input_schema": {}}]
        ),
        lambda line: line["response"]["content"][0].update(text="It is s3cr3t."),
        lambda line: line.update(
            status=500, response={"error": {"message": "no s3cr3t"}}
        ),
    ],
    ids=["question", "system prompt", "tool", "reply", "error"],
)
def test_a_secret_is_redacted_in_every_part_of_an_exchange(
    place: Callable[[Form], None],
) -> None:
    line = exchange("Why?", dict(SAID))
    place(line)

    [query] = read([line]).queries

    stored = json.dumps([plain(recorded.event) for recorded in query])
    assert "s3cr3t" not in stored
    assert replay(query).divergence is None


def test_calls_without_ids_repeated_calls_and_repeated_ids_are_one_loop() -> None:
    call = {"name": "f", "arguments": "{}"}
    turns: list[Form] = [{"role": "user", "content": "Why?"}]
    lines: list[Form] = []
    for _ in range(4):
        reply = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": call}, {"id": "same", "function": call}],
        }
        choice = {"message": reply, "finish_reason": "tool_calls"}
        lines.append(
            {
                "request": {"model": "m", "messages": list(turns)},
                "response": {"choices": [choice]},
            }
        )
        turns += [
            reply,
            {"role": "tool", "content": "a"},
            {"role": "tool", "tool_call_id": "same", "content": "a"},
        ]
    last = {
        "choices": [
            {
                "message": {"role": "assistant", "content": "So."},
                "finish_reason": "stop",
            }
        ]
    }
    lines.append({"request": {"model": "m", "messages": turns}, "reply": last})

    [query] = read(lines).queries

    kinds = [recorded.event.kind_name() for recorded in query]
    assert kinds.count("tool_succeeded") == 8
    assert kinds.count("breaker_tripped") == 0
    assert kinds[-1] == "query_closed"
    assert replay(query).divergence is None
    # Our own state machine repeats no call: such a trace is legal only if it says that another program recorded it.
    first = query[0].event
    assert isinstance(first, QueryReceived)
    ours = replace(query[0], event=replace(first, imported=None))
    assert replay([ours, *query[1:]]).divergence is not None


def test_attempts_that_failed_are_retries_and_a_recording_that_ends_early_says_so() -> (
    None
):
    line = exchange("Why?", {"type": "tool_use", "id": "t", "name": "f", "input": {}})
    broken = {
        **line,
        "status": 529,
        "response": {"error": {"message": "busy"}},
        "started": NOW,
    }

    [query] = read([broken, {**line, "started": NOW + 2, "seconds": 1.5}]).queries

    [retry] = [r.event for r in query if isinstance(r.event, ReasoningRetried)]
    assert (retry.why, retry.detail) == ("overloaded", "busy (status 529)")
    [end] = [r.event for r in query if isinstance(r.event, QueryCancelled)]
    assert end.why == "the recording ends here: it has no result of f (t)"


def test_conversations_in_one_file_stay_apart_and_keep_their_earlier_exchanges() -> (
    None
):
    first = exchange("Why?", SAID)
    other = exchange("Who?", {"type": "text", "text": "He."})
    next_ = exchange("Why?", {"type": "text", "text": "No."})
    next_["request"]["messages"] += [
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Sure?"},
    ]

    firsts = [query[0].event for query in read([first, other, next_]).queries]

    assert all(isinstance(each, QueryReceived) for each in firsts)
    told = [
        (each.query, [said.answer for said in each.history])
        for each in firsts
        if isinstance(each, QueryReceived)
    ]
    assert told == [("Why?", []), ("Who?", []), ("Sure?", ["Yes."])]


def test_the_ids_of_the_queries_of_one_file_begin_differently() -> None:
    found = read([exchange(question, SAID) for question in ("Why?", "Who?")])

    assert len({query[0].query_id[:12] for query in found.queries}) == 2


def test_subagents_in_another_form_than_a_list_are_left_out() -> None:
    step = {"source": "user", "message": "Why?"}
    steps = [step, {"source": "agent", "message": "So."}]
    form = {"schema_version": "ATIF-v1.7", "steps": steps, "subagent_trajectories": 7}

    assert len(read(form).queries) == 1
