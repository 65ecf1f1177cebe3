"""We bound an MCP server's description of its tools and trust little of it; likewise the file that names the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_types import CallToolResult as Result
from mcp_types import TextContent, Tool, ToolAnnotations

from antiphon.dispatcher import Registry
from antiphon.dispatcher.mcp_file import McpServer, read_mcp_file
from antiphon.dispatcher.mcp_servers.definitions import effects_of, name_of, tool_of
from antiphon.dispatcher.mcp_servers.results import output_of
from antiphon.vocabulary.errors import (
    BadInputError,
    ConfigurationError,
    RemoteError,
    ToolDefinitionError,
)

DEEP: dict[str, Any] = {"type": "array"}
for _ in range(200):
    DEEP = {"type": "array", "items": DEEP}
LAUGHS = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 9} for n in range(12)}


async def _echo(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments)


def made(properties: object, required: object = None, defs: object = None) -> Any:
    schema = {"type": "object", "properties": properties, "required": required}
    listed = Tool(name="look", input_schema=schema | {"$defs": defs})
    return tool_of("s", McpServer(command="x"), listed, _echo)


@pytest.mark.parametrize(
    ("properties", "required", "why"),
    [
        ({"x": {"type": "strng"}}, [], "its schema is none"),
        ({"x": {"enum": 5}}, [], "its schema is none"),
        ({"x": {"type": "number", "minimum": float("nan")}}, [], "its schema"),
        ({"x": {"const": float("inf")}}, [], "number that JSON has not"),
        ({"a b": {}}, [], "no model may be shown its parameter 'a b'"),
        ({"": {}}, [], "no model may be shown its parameter"),
        ({"x\U000e0041": {}}, [], "no model may be shown its parameter"),
        ({}, ["y"], "it requires y"),
        ({"x": {"description": "z" * 30_000}}, [], "characters"),
        ({"x": {"enum": ["z" * 100] * 300}}, [], "characters"),
        ({f"p{n}": {} for n in range(2_000)}, [], "too large"),
        ({"x": {"$ref": "#/$defs/l0"}}, [], "too large"),
    ],
    ids=str,
)
def test_a_tool_whose_schema_no_model_could_use_is_left_out(
    properties: object, required: object, why: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=why):
        made(properties, required, LAUGHS)


@pytest.mark.parametrize(
    "properties",
    [
        None,
        [],
        "x",
        {"x": True},
        {"x": DEEP},
        {"x": {"$ref": "https://example.org/schema.json"}},
        {"x": {"$ref": "#/$defs/x", "description": "A tree."}},
        {"x": {"$ref": 7, "items": 7, "properties": 7, "anyOf": 7}},
        {"x": {"type": "string", "pattern": "(a+)+$"}},
        {"self": {"type": "string"}, "json": {}, "_x": {}, "why": {"type": "string"}},
    ],
    ids=str,
)
def test_any_other_schema_makes_a_tool_whose_definition_is_json(
    properties: object,
) -> None:
    recursive = {"x": {"type": "array", "items": {"$ref": "#/$defs/x"}}}

    tool = made(properties, 7, recursive)

    definition = json.loads(Registry([tool]).definitions().text)[0]
    assert definition["input_schema"]["type"] == "object"
    assert "$ref" not in json.dumps(definition)
    assert "pattern" not in json.dumps(definition)


async def test_arguments_are_checked_by_the_schema_and_sent_as_they_are() -> None:
    tool = made(
        {"n": {"type": "integer", "maximum": 9}, "of": {"$ref": "#/$defs/of"}},
        ["n"],
        {"of": {"type": "array", "items": {"type": "string"}}},
    )

    given = tool.parameters.read('{"n": 3, "of": null, "why": "to see"}')
    with pytest.raises(
        BadInputError, match=r"n: wanted what fits its schema .*maximum"
    ):
        tool.parameters.read('{"n": 10}')
    with pytest.raises(BadInputError, match="of: wanted"):
        tool.parameters.read('{"n": 1, "of": [7]}')
    # As for every tool, a list written as text is accepted.
    lenient = tool.parameters.read('{"n": 1, "of": "[\\"a\\"]"}')

    assert json.loads(await tool.run(**given)) == {"n": 3}
    assert json.loads(await tool.run(**lenient)) == {"n": 1, "of": ["a"]}


@pytest.mark.parametrize(
    ("hints", "has_effects", "retry_safe"),
    [
        (None, True, False),
        ({}, True, False),
        ({"read_only_hint": True}, False, True),
        ({"read_only_hint": True, "destructive_hint": True}, True, False),
        ({"read_only_hint": False}, True, False),
        ({"idempotent_hint": True}, True, False),
        ({"idempotent_hint": True, "destructive_hint": True}, True, False),
        ({"idempotent_hint": True, "destructive_hint": False}, True, True),
        ({"destructive_hint": False}, True, False),
    ],
)
def test_a_tool_may_do_what_its_hints_do_not_rule_out(
    hints: dict[str, bool] | None, has_effects: bool, retry_safe: bool
) -> None:
    annotations = None if hints is None else ToolAnnotations.model_validate(hints)

    assert effects_of(annotations) == (has_effects, retry_safe)


@example([("a_", "b"), ("a", "_b"), ("a__b", "c"), ("a", "b__c")])
@example([("a", "b.c"), ("a", "b_c"), ("a", "b" * 70), ("a", "b" * 71)])
@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=80)), unique=True))
@settings(max_examples=100, deadline=None)
def test_every_tool_has_a_legal_name_of_its_own(pairs: list[tuple[str, str]]) -> None:
    names = [name_of(server, tool) for server, tool in pairs]

    assert len(set(names)) == len(names)
    for name in names:
        assert 1 <= len(name) <= 64
        assert name.replace("-", "").replace("_", "").isalnum() or not name.strip("_-")
        assert name.isascii()


def test_a_result_of_many_blocks_is_bounded() -> None:
    blocks = [TextContent(text=f"Block {n}. {'z' * 9_000}") for n in range(1_000)]

    output = output_of("s__look", Result(content=list(blocks)))

    assert len(output.passages) <= 21
    assert len(output.text) < 500_000


def test_a_result_that_is_only_structured_is_its_json() -> None:
    output = output_of("s__look", Result(content=[], structured_content={"room": 12}))

    assert '"room": 12' in output.text
    assert output.passages[0].source == "s__look"


def test_the_failure_of_a_tool_has_the_words_of_the_tool() -> None:
    failed = Result(content=[TextContent(text="closed")], is_error=True)

    with pytest.raises(RemoteError, match="closed"):
        output_of("s__look", failed)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ("\xff", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"mcpServers": {"a": {"env": {"K": 1}, "command": "x"}}}', "cannot be read"),
        ('{"mcpServers": {"a": {}}}', "needs either"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}', "needs either"),
        ('{"mcpServers": {"a": {"url": "file:///etc/passwd"}}}', "http"),
        ('{"mcpServers": {"a": {"url": "http://[::1"}}}', "http"),
        ('{"mcpServers": {"a": {"command": "x", "timeout_s": 0}}}', "timeout_s"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_what_to_do(
    tmp_path: Path, text: str, why: str
) -> None:
    file = tmp_path / "server.json"
    file.write_bytes(text.encode("latin-1"))

    with pytest.raises(ConfigurationError, match=why):
        read_mcp_file(file)


def test_the_reader_ignores_other_clients_keys_and_disabled_servers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "server.json"
    server = {"command": "x", "type": "stdio", "autoApprove": ["look"]}
    servers = {"on": server, "off": server | {"disabled": True}}
    file.write_text(json.dumps({"mcpServers": servers, "theme": "dark"}))

    assert list(read_mcp_file(file)) == ["on"]


def test_values_of_the_file_are_masked_except_plain_words() -> None:
    server = McpServer(
        url="https://example.org/model-context-protocol/s3cr3t-of-the-path",
        env={
            "NODE_ENV": "production",
            "TZ": "Europe/Berlin",
            "PASSWORD": "correcthorse",
            "CONFIG": "a1b2c3d4e5f6",
        },
        headers={"Authorization": "Bearer plainword"},
    )
    text = "production Europe/Berlin model-context-protocol "
    secrets = "correcthorse a1b2c3d4e5f6 plainword s3cr3t-of-the-path"

    assert server.without_secrets(text + secrets) == text + "… … … …"
