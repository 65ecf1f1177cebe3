"""The answers that the check of support is measured on, and how they are changed."""

from __future__ import annotations

from benchmarks.doubts import CHANGES, Answer, rule_of

RIGHT = Answer(
    question="What keeps records?",
    text="The log of Jay Kreps was kept for 7 days.",
    cited="The log of Jay Kreps was kept for seven days.",
    passage="Logs grow. The log of Jay Kreps was kept for seven days.",
    title="Logs",
)


def test_a_right_answer_is_not_doubted_and_each_change_of_it_is() -> None:
    assert RIGHT.doubts() == []
    for change in CHANGES.values():
        wrong = RIGHT._replace(text=change(RIGHT.text))
        assert len(wrong.doubts()) == 1, wrong.text


def test_every_reason_leads_to_its_rule() -> None:
    changed = [RIGHT._replace(text=change(RIGHT.text)) for change in CHANGES.values()]

    assert [wrong.doubts()[0] for wrong in changed] == [
        "denial",
        "quantity or date",
        "name",
    ]
    assert rule_of("the number 9 does not stand there") == "number in digits"
