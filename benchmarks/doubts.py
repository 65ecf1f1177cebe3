"""Counts how often the check of support doubts an answer that is right, and finds one that is not: `make eval-doubts`.

Right are the answers that people wrote from a passage (the development set of ClapNQ,
https://github.com/primeqa/clapnq, Apache-2.0), and the cited replies of recorded traffic whose cited text is whole.
Wrong are the same answers once something in them is changed. Of recorded traces the answer is decided anew, and those
are counted that the rules before `READS_QUANTITIES` did not doubt.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import re
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace
from rich.console import Console

from antiphon.assembler.answer_state import AnswerState
from antiphon.assembler.assembler import RULES as ASSEMBLING
from antiphon.assembler.support import READS_QUANTITIES, unsupported_citations
from antiphon.dispatcher import quotable
from antiphon.language.sentences import sentences
from antiphon.traces import SqliteTraceStore, from_json
from antiphon.vocabulary.events import RULES, Event, QueryReceived, Recorded
from antiphon.vocabulary.values import Citation, Fact

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"
CORPUS = ROOT / "tests" / "traces" / "corpus" / "traces-before-redesign.jsonl.xz"
WHOLE_CHARS = 150
"""Servers cut the cited text of a page to as many characters."""

Change = Callable[[str], str]


class Answer(NamedTuple):
    """An answer that is right, with what it cites, and the passage that holds it."""

    question: str
    text: str
    cited: str
    passage: str
    title: str

    def doubts(self, rules: int = RULES) -> list[str]:
        """Returns why its sentences are taken for unsupported."""
        passage = quotable(self.title, self.passage)
        fact = Fact(id="f1", passage=passage, tool_call_id="t1", round=1)
        found: list[str] = []
        for sentence in sentences(self.text):
            citation = Citation(
                start=0,
                end=len(sentence),
                cited_text=self.cited,
                source=self.title,
                fact="f1",
            )
            for doubt in unsupported_citations(
                sentence, [citation], {"f1": fact}, self.question, rules
            ):
                found.append(rule_of(doubt.why))
        return found


def rule_of(why: str) -> str:
    """Returns the rule that gave the reason."""
    for words, rule in (
        ("telling word", "no telling word shared"),
        ("the opposite", "denial"),
        ("but “", "quantity or date"),
        ("number", "number in digits"),
        ("name", "name"),
    ):
        if words in why:
            return rule
    raise ValueError(f"no rule is known that says {why!r}")


def clapnq(file: Path) -> Iterator[Answer]:
    """Yields the answers of a file of ClapNQ, each citing the sentences that its writer marked."""
    for line in file.read_text().splitlines():
        row = json.loads(line)
        passage, written = row["passages"][0], row["output"][0]
        if written["answer"].strip():
            yield Answer(
                _joined(row["input"]),
                _joined(written["answer"]),
                _joined(" ".join(written["selected_sentences"])),
                _joined(passage["text"]),
                passage["title"],
            )


def _joined(text: str) -> str:
    """Returns text that was taken apart into words as it was."""
    text = text.replace("``", '"').replace("''", '"').replace(" - ", "-")
    text = re.sub(r" ([,.;:!?)%]|'s\b|n't\b)", r"\1", text)
    return text.replace("( ", "(")


def recorded_replies(file: Path) -> Iterator[Answer]:
    """Yields the text blocks of recorded replies that cite, each with all of what it cites."""
    for line in file.read_text().splitlines():
        exchange = json.loads(line)
        for text, cited in _cited_blocks(exchange["kind"], exchange["body"] or ""):
            if cited and all(0 < len(each) < WHOLE_CHARS for each in cited):
                quoted = " ".join(cited)
                yield Answer("", text, quoted, quoted, "")


def _cited_blocks(kind: str, body: str) -> Iterable[tuple[str, list[str]]]:
    if kind == "json":
        for block in json.loads(body).get("content") or ():
            cited = block.get("citations") or ()
            yield block.get("text", ""), [each.get("cited_text", "") for each in cited]
        return
    texts: dict[int, str] = {}
    cited_by: dict[int, list[str]] = {}
    for line in re.findall(r"^data: ?(\{.*)$", body, re.MULTILINE):
        event = json.loads(line)
        if event.get("type") != "content_block_delta":
            continue
        at, delta = event["index"], event["delta"]
        texts[at] = texts.get(at, "") + delta.get("text", "")
        if delta["type"] == "citations_delta":
            cited_by.setdefault(at, []).append(delta["citation"].get("cited_text", ""))
    for at, text in texts.items():
        yield text, cited_by.get(at, [])


def _denied(text: str) -> str:
    """Puts a negator behind the first auxiliary."""
    return re.sub(
        r"\b(is|are|was|were|can|will|must|should|had)\b(?! not)",
        r"\1 not",
        text,
        count=1,
    )


def _counted_otherwise(text: str) -> str:
    """Adds seven to the first number, before what it counts."""
    return re.sub(
        r"\b\d{1,3}\b(?= [a-z])", lambda found: str(int(found[0]) + 7), text, count=1
    )


def _named_otherwise(text: str) -> str:
    """Gives the first name of two words another last word."""
    return re.sub(
        r"(?<=[a-z] )([A-Z][a-z]+) [A-Z][a-z]+\b", r"\1 Kleppmann", text, count=1
    )


CHANGES: Mapping[str, Change] = {
    "a negator put in": _denied,
    "another number": _counted_otherwise,
    "another last name": _named_otherwise,
}


async def stored_traces(folder: Path) -> AsyncIterator[Sequence[Recorded[Event]]]:
    """Yields every trace of a data folder."""
    store = SqliteTraceStore.open(folder)
    for query_id in await store.ids("", 1_000_000):
        yield await store.read(query_id)
    await store.close()


def corpus_traces() -> Iterator[Sequence[Recorded[Event]]]:
    """Yields the traces that were recorded for tests."""
    with lzma.open(CORPUS) as file:
        recorded = map(from_json, file)
        for _, trace in groupby(recorded, lambda each: each.query_id):
            yield list(trace)


def decided(trace: Sequence[Recorded[Event]], rules: int) -> Counter[str]:
    """Returns the kinds of doubt that the answer of a trace has by a version of the rules; none without an answer."""
    state = AnswerState()
    for recorded in trace:
        rule: Any = ASSEMBLING.get(type(recorded.event))
        if rule is None:
            continue
        if isinstance(recorded.event, QueryReceived):
            event = replace(recorded.event, rules=rules)
            recorded = replace(recorded, event=event)
        state, _ = rule(state, recorded)
    if state.answer is None:
        return Counter()
    return Counter([doubt.kind for doubt in state.answer.indicators])


class Tally:
    """Counts answers, and those of them that each rule doubts."""

    def __init__(self, of: str) -> None:
        self.of = of
        self.answers = 0
        self.by_rule: Counter[str] = Counter()

    def add(self, rules: Iterable[str]) -> None:
        self.answers += 1
        self.by_rule.update(set(rules))

    def show(self, out: Console) -> None:
        counted = [f"{rule} {count}" for rule, count in sorted(self.by_rule.items())]
        out.print(
            f"{self.of}: {self.answers} answers; {', '.join(counted) or 'none doubted'}"
        )


def right_answers(of: str, answers: Iterable[Answer], out: Console) -> None:
    """Shows how many right answers are doubted, by rule, and how many of the same once something in them is changed."""
    before, now = Tally(f"{of}, rules before"), Tally(f"{of}, now")
    changed = {
        name: (Tally(f"{of}, {name}, before"), Tally(f"{of}, {name}"))
        for name in CHANGES
    }
    for answer in answers:
        before.add(answer.doubts(READS_QUANTITIES - 1))
        now.add(answer.doubts())
        for name, change in CHANGES.items():
            wrong = answer._replace(text=change(answer.text))
            if wrong.text != answer.text:
                changed[name][0].add(
                    ["doubted"] * bool(wrong.doubts(READS_QUANTITIES - 1))
                )
                changed[name][1].add(["doubted"] * bool(wrong.doubts()))
    for tally in (before, now, *[each for pair in changed.values() for each in pair]):
        tally.show(out)


async def main() -> None:
    """Shows the counts of whatever there is to be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clapnq", type=Path, help="clapnq_dev_answerable.jsonl")
    parser.add_argument(
        "--recorded", type=Path, default=SHARED / "claude_wire" / "messages_open.jsonl"
    )
    parser.add_argument(
        "folders", nargs="*", type=Path, help="data folders with traces"
    )
    given = parser.parse_args()
    out = Console(soft_wrap=True)
    if given.clapnq:
        right_answers("ClapNQ", clapnq(given.clapnq), out)
    if given.recorded.exists():
        right_answers("recorded replies", recorded_replies(given.recorded), out)
    corpus = Tally("traces of the corpus, doubted anew")
    for trace in corpus_traces():
        corpus.add(_doubted_anew(trace))
    corpus.show(out)
    stored = Tally("stored traces, doubted anew")
    for folder in given.folders:
        async for trace in stored_traces(folder):
            stored.add(_doubted_anew(trace))
    stored.show(out)


def _doubted_anew(trace: Sequence[Recorded[Event]]) -> Iterable[str]:
    return decided(trace, RULES) - decided(trace, READS_QUANTITIES - 1)


if __name__ == "__main__":
    asyncio.run(main())
