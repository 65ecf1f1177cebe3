"""The door for clients of OpenAI's API, with OpenAI's own SDK on the other side of a socket."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

from tests.e2e.conftest import (
    STARTING_S,
    Antiphon,
    Server,
    serving,
    without_traces,
)

QUESTION = "What is applemailbox7 in the Apple course?"
ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
QUERY_ID = "x-antiphon-query-id"
LINK = re.compile(r"\[\[(\d+)\]\]\((\S+?)\)")
GONE_S = 20.0
NOBODY = "none"
"""What callers send if a client cannot do without a key."""


def sdk(server: Server, key: str = NOBODY) -> OpenAI:
    """OpenAI's SDK, without retries."""
    return OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


@pytest.fixture(scope="module")
def client(door: Server) -> Iterator[OpenAI]:
    with sdk(door) as calling:
        yield calling


def events_of(rest: httpx2.Client, query_id: str) -> list[dict[str, Any]]:
    events = rest.get(f"/api/traces/{query_id}").json()["events"]
    return [each["event"] for each in events]


def test_there_is_a_model_for_all_courses_and_one_for_each(client: OpenAI) -> None:
    models = [model.id for model in client.models.list()]

    assert models[:2] == ["antiphon", "antiphon-strict"]
    assert len(models) == 4
    for model in models:
        assert client.models.retrieve(model).id == model


def test_each_cited_sentence_links_to_its_words_in_the_reader(
    client: OpenAI, rest: httpx2.Client
) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="antiphon", messages=ASKED
    )
    reply = raw.parse()

    [choice] = reply.choices
    text = choice.message.content or ""
    links = LINK.findall(text)
    assert choice.finish_reason == "stop"
    assert "applemailbox7" in text
    assert links
    for _, url in links:
        address = urlsplit(url)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        words = asked.pop("words")
        stretch = rest.get("/api/text", params=asked | {"start": 0, "length": 20_000})
        assert rest.get(f"{address.path}?{address.query}").status_code == 200
        assert words in stretch.json()["text"]
    # The number of a link is that of its annotation: Open WebUI shows the one for the other.
    annotations = choice.message.annotations or []
    numbers = range(1, len(annotations) + 1)
    assert [*dict.fromkeys(links)] == [
        (str(number), each.url_citation.url)
        for number, each in zip(numbers, annotations, strict=True)
    ]
    for number, each in zip(numbers, annotations, strict=True):
        at = each.url_citation
        assert text[at.start_index : at.end_index] == f"[[{number}]]({at.url})"
    citations: Any = (reply.model_extra or {})["citations"]
    # Beside its links the text holds what the recorded answer says.
    recorded = rest.get(f"/api/queries/{raw.headers[QUERY_ID]}").json()["answer"]
    assert LINK.sub("", text).replace("  ", " ").split() == recorded["answer"].split()
    assert [each["fact"] for each in citations] == [
        each["fact"] for each in recorded["citations"]
    ]
    usage = reply.usage
    assert usage is not None
    assert usage.completion_tokens == recorded["usage"]["output_tokens"]
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_a_stream_shows_what_is_done_then_the_answer_its_sources_and_its_tokens(
    client: OpenAI, rest: httpx2.Client
) -> None:
    whole = client.chat.completions.create(model="antiphon", messages=ASKED)

    with client.chat.completions.with_streaming_response.create(
        model="antiphon",
        messages=ASKED,
        stream=True,
        stream_options={"include_usage": True},
    ) as raw:
        query_id = raw.headers[QUERY_ID]
        chunks = list(raw.parse())

    assert {chunk.id for chunk in chunks} == {f"chatcmpl-{query_id}"}
    *answering, counted = chunks
    deltas = [chunk.choices[0].delta for chunk in answering]
    extras = [delta.model_extra or {} for delta in deltas]
    steps = [
        each["reasoning_content"] for each in extras if "reasoning_content" in each
    ]
    first = next(at for at, delta in enumerate(deltas) if delta.content)
    assert deltas[0].role == "assistant"
    assert any(step.startswith(f"Searching “{QUESTION}") for step in steps)
    assert not any("reasoning_content" in each for each in extras[first:])
    text = "".join(delta.content or "" for delta in deltas)
    assert text == whole.choices[0].message.content
    [annotations] = [each["annotations"] for each in extras if "annotations" in each]
    found = whole.choices[0].message.annotations or []
    assert annotations == [each.model_dump() for each in found]
    assert answering[-1].choices[0].finish_reason == "stop"
    assert (counted.choices, counted.usage) == ([], whole.usage)
    assert events_of(rest, query_id)[-1]["status"] == "answered"


def test_tokens_are_sent_at_the_end_of_a_stream_only_if_asked_for(
    client: OpenAI,
) -> None:
    stream = client.chat.completions.create(
        model="antiphon", messages=ASKED, stream=True
    )

    assert all(chunk.choices and chunk.usage is None for chunk in stream)


def test_a_response_is_the_same_whole_and_as_its_events(client: OpenAI) -> None:
    whole = client.responses.create(model="antiphon", input=QUESTION)

    with client.responses.stream(model="antiphon", input=QUESTION) as stream:
        events = list(stream)
        final = stream.get_final_response()

    numbers = [event.sequence_number for event in events]
    deltas = [
        event.delta for event in events if event.type == "response.output_text.delta"
    ]
    reasoning, answer = final.model_dump()["output"]
    assert numbers == list(range(len(events)))
    assert events[0].type == "response.created"
    assert events[-1].type == "response.completed"
    assert "".join(deltas) == final.output_text == whole.output_text
    assert LINK.search(whole.output_text)
    assert "Searching" in reasoning["summary"][0]["text"]
    [said] = answer["content"]
    [alone] = whole.model_dump()["output"]
    assert said["annotations"] == alone["content"][0]["annotations"]
    assert final.usage == whole.usage


def test_a_question_that_refers_back_is_understood_by_the_messages_before_it(
    client: OpenAI, rest: httpx2.Client
) -> None:
    listed = rest.get("/api/conversations").json()
    first = client.chat.completions.create(model="antiphon", messages=ASKED)
    said = first.choices[0].message.content

    raw = client.chat.completions.with_raw_response.create(
        model="antiphon",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            *ASKED,
            {"role": "assistant", "content": said},
            {"role": "user", "content": [{"type": "text", "text": "And why?"}]},
        ],
    )

    received = events_of(rest, raw.headers[QUERY_ID])[0]
    recorded = rest.get(f"/api/queries/{first.id.removeprefix('chatcmpl-')}").json()
    [exchange] = received["history"]
    assert "applemailbox7" in (raw.parse().choices[0].message.content or "")
    assert received["query"] == "And why?"
    assert exchange["question"] == QUESTION
    # As it was recorded: without the links that clients get.
    assert exchange["answer"].split() == recorded["answer"]["answer"].split()
    # The client keeps the conversation: none is begun here.
    assert received["session_id"] == ""
    assert rest.get("/api/conversations").json() == listed


def test_a_response_goes_on_from_the_one_that_it_names(
    client: OpenAI, rest: httpx2.Client
) -> None:
    first = client.responses.create(model="antiphon", input=QUESTION)
    second = client.responses.create(
        model="antiphon", input="And why?", previous_response_id=first.id
    )

    third = client.responses.create(
        model="antiphon", input="What did I ask first?", previous_response_id=second.id
    )

    history = events_of(rest, third.id.removeprefix("resp_"))[0]["history"]
    assert [each["question"] for each in history] == [QUESTION, "And why?"]
    assert QUESTION in third.output_text


def test_a_model_of_a_course_answers_from_that_course(client: OpenAI) -> None:
    pear = next(model.id for model in client.models.list() if "pear" in model.id)

    reply = client.chat.completions.create(
        model=pear, messages=[{"role": "user", "content": "What is a mailbox?"}]
    )

    citations: Any = (reply.model_extra or {})["citations"]
    assert {each["course"] for each in citations} == {"The Pear Course"}


def test_the_error_for_an_unknown_model_names_those_that_there_are(
    client: OpenAI,
) -> None:
    with pytest.raises(openai.NotFoundError, match="antiphon-strict") as refused:
        client.chat.completions.create(model="gpt-5", messages=ASKED)

    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")


def test_a_key_of_another_service_is_refused_as_the_sdk_expects(door: Server) -> None:
    with sdk(door, "sk-other") as client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="antiphon", messages=ASKED)


def test_a_client_that_leaves_its_stream_cancels_the_query(
    data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    own = without_traces(data_dir, tmp_path)
    named = {"ANTHROPIC_BASE_URL": silent_model, "ANTIPHON_DOORS": "openai"}
    with (
        serving(own, tmp_path, **named) as stuck,
        sdk(stuck) as client,
        httpx2.Client(base_url=stuck.url) as rest,
    ):
        stream = client.chat.completions.create(
            model="antiphon", messages=ASKED, stream=True
        )
        [under_way] = rest.get("/api/queries").json()["queries"]
        next(iter(stream))
        stream.close()
        ends_at = time.monotonic() + GONE_S
        while rest.get("/api/queries").json()["queries"]:
            assert time.monotonic() < ends_at, "the query goes on"
            time.sleep(0.05)

        end = events_of(rest, under_way["query_id"])

    assert end[-1]["status"] == "cancelled"
    assert [each["why"] for each in end if each["kind"] == "query_cancelled"] == [
        "the client went away"
    ]


def test_the_strict_model_fails_if_no_model_answers(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    # Nobody listens at port 9 (discard) of this machine.
    named = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTIPHON_DOORS": "openai"}
    with serving(own, tmp_path, **named) as running, sdk(running) as client:
        with pytest.raises(openai.InternalServerError) as refused:
            client.chat.completions.create(model="antiphon-strict", messages=ASKED)
        stream = client.responses.create(
            model="antiphon-strict", input=QUESTION, stream=True
        )
        with pytest.raises(openai.APIError, match="No model answered"):
            list(stream)

    assert refused.value.status_code == 502
    assert refused.value.response.headers["x-should-retry"] == "false"


LLM_MODEL = """
- model_id: antiphon
  model_name: antiphon
  api_base: {url}/v1
  api_key_name: antiphon
"""


def test_a_client_that_people_use_asks_and_goes_on(
    door: Server, tmp_path: Path
) -> None:
    (tmp_path / "extra-openai-models.yaml").write_text(LLM_MODEL.format(url=door.url))
    (tmp_path / "keys.json").write_text('{"antiphon": "none"}')

    def llm(*arguments: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "llm", *arguments],
            env=os.environ | {"LLM_USER_PATH": str(tmp_path)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=STARTING_S,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    first = llm("-m", "antiphon", QUESTION)
    second = llm("-c", "And why?")
    whole = llm("-m", "antiphon", "--no-stream", QUESTION)

    assert "applemailbox7" in second
    assert LINK.search(first)
    assert first == whole


TASK = (
    "### Task:\n{task}\n### Guidelines:\n- Respond with JSON.\n### Output:\nJSON format: {form}\n"
    "### Chat History:\n<chat_history>\nUSER: What is {{deep}} applemailbox7?\nASSISTANT: A box.\n</chat_history>"
)
TASKS = {
    "title": '{ "title": "your concise title here" }',
    "tags": '{ "tags": ["tag1", "tag2", "tag3"] }',
    "follow_ups": '{ "follow_ups": ["Question 1?", "Question 2?", "Question 3?"] }',
    "queries": '{\n  "queries": ["query1", "query2"]\n}',
}


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("stream", [False, True])
def test_what_open_webui_asks_beside_the_questions_is_answered_and_not_recorded(
    client: OpenAI, rest: httpx2.Client, kind: str, stream: bool
) -> None:
    prompt = TASK.format(task="Generate something.", form=TASKS[kind])
    before = rest.get("/api/traces").json()

    sent: list[ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
    if stream:
        chunks = client.chat.completions.create(
            model="antiphon", messages=sent, stream=True
        )
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    else:
        reply = client.chat.completions.create(model="antiphon", messages=sent)
        text = reply.choices[0].message.content or ""

    made = json.loads(text)
    assert made.keys() == {kind}
    assert made[kind] == "What is {deep} applemailbox7?" or isinstance(made[kind], list)
    assert made[kind] or kind in ("tags", "queries")
    assert rest.get("/api/traces").json() == before


def test_a_question_about_a_task_is_a_question(client: OpenAI) -> None:
    reply = client.chat.completions.with_raw_response.create(
        model="antiphon",
        messages=[{"role": "user", "content": '### Task:\nWhat is {"title": 1}?'}],
    )

    assert QUERY_ID in reply.headers


def test_only_doors_that_the_settings_name_are_open_and_an_unknown_one_is_refused(
    server: Server, antiphon: Antiphon
) -> None:
    refused = antiphon("serve", "--port", "0", ANTIPHON_DOORS="openai, telnet")

    assert httpx2.get(f"{server.url}/v1/models").status_code == 404
    assert refused.returncode == 1
    assert "'telnet'" in refused.stderr
    assert "there are openai, agui" in refused.stderr
