"""The settings, and the only place that reads the environment (and `.env`)."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AliasChoices,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
)

from antiphon.composition.env_file import (
    ENCODING,
    PREFIX,
    names_in,
    unknown_settings,
)
from antiphon.composition.personal_data import KINDS
from antiphon.composition.secret_sources import (
    COLLECTOR,
    MODEL_SERVER,
    Sources,
    mixed_sources,
)
from antiphon.engine import read_prices
from antiphon.vocabulary.access import scopes_of
from antiphon.vocabulary.errors import BadInputError, ConfigurationError
from antiphon.vocabulary.imports import split_names
from antiphon.vocabulary.settings import (
    DECLARED,
    QUERY_CHARS,
    SILENCE_S,
    Effort,
    QuerySettings,
)

ANTHROPIC_URL = "https://api.anthropic.com"
ENV_FILE = ".env"
MOST_ROUNDS = 5
MOST_DEADLINE_S = 600.0
SWITCHES = ("tool_choice_none", "caching", "thinking", "strict")
"""Features that a server may lack."""
_ORIGIN = re.compile(
    r"(?:http(?!.*:80$)|https(?!.*:443$))://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?"
)
"""An origin as browsers send it: in lower case, without the scheme's default port."""


def declared(name: str) -> Any:
    """Returns a field of `Settings` with the default, bounds and description that vocabulary/settings.py declares."""
    found = DECLARED[name]
    pattern = found.setting.pattern
    return Field(
        found.default,
        ge=found.setting.least,
        gt=found.setting.above,
        le=found.setting.most,
        # Pydantic searches for a pattern anywhere in the value.
        pattern=f"^{pattern}$" if pattern is not None else None,
        allow_inf_nan=False if found.is_float else None,
        description=found.description,
    )


class Settings(BaseSettings):
    """How this service runs; every field is `ANTIPHON_<NAME>` in the environment unless it says otherwise.

    vocabulary/settings.py declares the settings of a single query, with defaults and bounds; a test checks that each of
    them is here with the same type.

    Attributes:
        host: Address to serve on; loopback unless you put something in front of it.
        port: Port to serve on.
        allowed_hosts: Names by which callers may address the service, with commas between; `*` is any. On a network
            address the service refuses every other name.
        allowed_origins: Origins such as `https://app.example`, with commas between, whose pages may call the service
            and read its replies; empty: none but the service's own.
        anybody_may: What callers without a key may do if no key was ever made: scopes, with commas between. Empty:
            on loopback everything, and on a network address nothing, so that `serve` refuses to listen there.
        doors: Other protocols that the service speaks, with commas between: `openai` (docs/openai.md), `agui`
            (docs/agui.md), `mcp` (docs/mcp.md).
        root_path: The path under which a proxy serves the service, such as `/antiphon`.
        fork_messages: Callers over the network may change what a call sees, and run imported traces again.
        fork_effects: Live forks of callers over the network may run tools that change something outside.
        data_dir: Folder of the index and the traces; made if it is missing.
        reasoner: `auto` is Claude if a key or a base URL is set, and the offline reasoner otherwise.
        compression_model: None is a small model at Anthropic, and elsewhere the one of the reasoning calls.
        citations: The form in which the model gets sources: `search_result` blocks (`native`), numbered text
            (`inline`), or `auto`: native at Anthropic; elsewhere one small call finds out, and the result is kept.
        silence_s: Seconds without a byte from the model's server after which an attempt is given up, 1 to 600. A server
            of your own that reads long prompts slowly needs more than the default, and more of `deadline_s` too.
        server_lacks: Features that the server does not have, with commas between: `tool_choice_none`, `caching`,
            `thinking`, `strict` (strict tools and their examples).
        prices: Prices of models that the built-in table does not hold, or that cost something else:
            `NAME=INPUT/OUTPUT` in US dollars for a million tokens, or `NAME=INPUT/OUTPUT/CACHE_WRITE/CACHE_READ`, with
            commas between.
        embedder: `auto` is the one that built the index, or the first that is installed of `minilm` and `onnx`.
        embedding_model: A sentence-transformers model in place of all-MiniLM-L6-v2, such as one for many languages:
            its folder, or its name in the local cache. None is all-MiniLM-L6-v2; the embedder `onnx` runs no other.
        chroma_url: A Chroma server, such as `http://127.0.0.1:8001`; None is the index in this process.
        nats_url: The NATS servers that hold traces and queries, such as `nats://127.0.0.1:4222`, several with commas
            between (docs/cluster.md); None: both are in this process and its data folder.
        nats_prefix: The beginning of all names there: several installations may share the servers.
        nats_replicas: Servers that hold each stream's messages.
        claim_s: Seconds after which another worker takes a query whose worker has died; the same on all nodes.
        most_claims: Workers that may take one query, one after the other, before it is given up, because it may be what
            kills them. Workers that were stopped in an orderly way count too.
        worker_queries: Queries that one worker works on at once.
        drain_s: Seconds that queries get to end when their worker is stopped; other workers take over the rest.
        queue_wait_s: Seconds that a question may be expected to wait for a worker; if it would wait longer, the caller
            gets 429.
        model_rpm: Calls of the model a minute, of all processes together that share the NATS servers; None: no limit. A
            call waits for its turn within its own time.
        model_tpm: Tokens a minute in these calls: those of requests that are not cached, and those of replies.
        remote: Parts that act in processes of their own (`antiphon act NAME`), with commas between: `dispatcher`,
            `engine` (docs/cluster.md). Empty: everything acts in this process.
        remote_lease_s: Seconds without a sign of life after which such a process is given up, and another takes over.
        tools: Tools of your own: `package.module:name`, several with commas between.
        mcp: A file that names MCP servers, whose tools every query can call (docs/mcp-tools.md).
        readers: Readers of document formats of your own: `package.module:FORMAT`, several with commas between
            (docs/documents.md).
        subscribers: Components of your own, in every query: `package.module:factory`, several with commas between.
        durability: The failure that a stored event survives: the death of the `process`, or also a loss of the
            machine's `power`, for which each append waits for the disk.
        trace_key: The key that encrypts the store of traces: 64 hex digits (needs antiphon[encryption]).
        keep_days: Traces that are over and were begun longer ago are deleted; None keeps them.
        keep_mb: The oldest traces that are over are deleted until the store uses no more; None keeps them.
        keep_every_s: Seconds between two checks for traces to delete.
        metrics: The content of `/metrics`: `sums` of the process, all metrics for `prometheus` (needs
            antiphon[telemetry]), nothing (`off`), or `auto`: sums on loopback, and nothing on a network address.
        otlp_endpoint: The collector of spans, such as `http://127.0.0.1:4318` (needs the same); None: there are none.
        otlp_headers: Headers for it, as `name=value` with commas between.
        otlp_content: Spans hold questions, prompts, findings and answers, redacted; False: they hold no text.
        redact_kinds: Kinds of text to redact, with commas between: `keys` (and passwords), `email`, `phone`.
        redact: Regular expressions, one a line; their matches are redacted before anything is stored or sent.
        redact_file: A file of such lines; empty ones, and those that begin with #, are skipped.
        concurrent_queries: Queries that may run at once; fewer do while the event loop is late.
        most_wait_s: Seconds that a query may wait for its place among those that run; if the load suggests that it
            would wait longer, the caller gets 503. 0: none waits.
        connections: The most connections at once; one more closes an idle one, or gets 503.
        query_chars: Longest question, in characters.
        most_streams: Event streams that one tenant may follow at once.
        most_rounds: The most rounds that a caller may choose for one query.
        most_deadline_s: The longest deadline that a caller may choose, in seconds.
        anthropic_api_key: `ANTHROPIC_API_KEY`.
        anthropic_auth_token: `ANTHROPIC_AUTH_TOKEN`: sent as `Authorization: Bearer` in place of the key, for servers
            that want it.
        anthropic_base_url: `ANTHROPIC_BASE_URL`: any server that speaks the Messages API.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=ENV_FILE,
        env_file_encoding=ENCODING,
        extra="ignore",
        populate_by_name=True,
        # `ANTIPHON_X=` means "not set": compose files, for example, pass on undefined variables as empty ones.
        env_ignore_empty=True,
    )

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    allowed_origins: str = ""
    anybody_may: str = ""
    doors: str = ""
    root_path: str = Field("", pattern=r"^(/[A-Za-z0-9._~-]+)*$")
    fork_messages: bool = False
    fork_effects: bool = False
    data_dir: Path = Path("data")
    reasoner: Literal["auto", "claude", "offline"] = "auto"
    citations: Literal["native", "inline", "auto"] = "auto"
    silence_s: float = Field(SILENCE_S, ge=1.0, le=600.0, allow_inf_nan=False)
    server_lacks: str = ""
    prices: str = ""
    model: str = declared("model")
    final_model: str | None = declared("final_model")
    other_model: str | None = declared("other_model")
    effort: Effort | None = declared("effort")
    thinking: str = declared("thinking")
    max_tokens: int = declared("max_tokens")
    max_rounds: int = declared("max_rounds")
    max_tool_calls: int = declared("max_tool_calls")
    deadline_s: float = declared("deadline_s")
    final_reserve_s: float = declared("final_reserve_s")
    tool_timeout_s: float = declared("tool_timeout_s")
    max_total_tokens: int | None = declared("max_total_tokens")
    max_cost_usd: float | None = declared("max_cost_usd")
    briefing_tokens: int = declared("briefing_tokens")
    early_dispatch: bool = declared("early_dispatch")
    on_tool_failure: Literal["recover", "stop"] = declared("on_tool_failure")
    context: Literal["briefing", "transcript"] = declared("context")
    compression: Literal["extractive", "model"] = declared("compression")
    # Not a fixed default: the server decides which small models exist (`summarising_model`).
    compression_model: str | None = None
    embedder: Literal["auto", "minilm", "onnx"] = "auto"
    embedding_model: str | None = None
    chroma_url: str | None = None
    nats_url: str | None = None
    nats_prefix: str = Field("antiphon", pattern=r"^[a-z][a-z0-9_-]{0,31}$")
    nats_replicas: int = Field(1, ge=1, le=5)
    claim_s: float = Field(10.0, ge=1.0, le=300.0, allow_inf_nan=False)
    most_claims: int = Field(5, ge=1)
    worker_queries: int = Field(100, ge=1)
    drain_s: float = Field(30.0, ge=0.0, allow_inf_nan=False)
    queue_wait_s: float = Field(15.0, ge=0.0, allow_inf_nan=False)
    model_rpm: int | None = Field(None, ge=1)
    model_tpm: int | None = Field(None, ge=1)
    remote: str = ""
    remote_lease_s: float = Field(5.0, ge=0.5, le=60.0, allow_inf_nan=False)
    tools: str = ""
    mcp: Path | None = None
    readers: str = ""
    subscribers: str = ""
    durability: Literal["process", "power"] = "process"
    trace_key: SecretStr | None = None
    keep_days: float | None = Field(None, gt=0.0, allow_inf_nan=False)
    keep_mb: float | None = Field(None, gt=0.0, allow_inf_nan=False)
    keep_every_s: float = Field(3_600.0, ge=1.0, allow_inf_nan=False)
    metrics: Literal["auto", "off", "sums", "prometheus"] = "auto"
    otlp_endpoint: str | None = None
    otlp_headers: SecretStr | None = None
    otlp_content: bool = False
    redact_kinds: str = ""
    redact: str = ""
    redact_file: Path | None = None
    concurrent_queries: int = Field(500, ge=1)
    most_wait_s: float = Field(2.0, ge=0.0, le=60.0, allow_inf_nan=False)
    connections: int = Field(2_000, ge=1)
    query_chars: int = Field(QUERY_CHARS, ge=1)
    most_streams: int = Field(200, ge=1)
    most_rounds: int = Field(MOST_ROUNDS, ge=0, le=MOST_ROUNDS)
    most_deadline_s: float = Field(
        MOST_DEADLINE_S, ge=1.0, le=MOST_DEADLINE_S, allow_inf_nan=False
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "console", "json"] = "auto"
    anthropic_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("anthropic_api_key", "ANTHROPIC_API_KEY")
    )
    anthropic_base_url: str | None = Field(
        None, validation_alias=AliasChoices("anthropic_base_url", "ANTHROPIC_BASE_URL")
    )

    anthropic_auth_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("anthropic_auth_token", "ANTHROPIC_AUTH_TOKEN"),
    )

    @field_validator("server_lacks")
    @classmethod
    def _must_be_switches(cls, value: str) -> str:
        unknown = set(split_names(value)) - set(SWITCHES)
        if unknown:
            raise ValueError(
                f"knows only {', '.join(SWITCHES)}, found {', '.join(sorted(unknown))}"
            )
        return value

    @field_validator("prices")
    @classmethod
    def _must_be_prices(cls, value: str) -> str:
        try:
            read_prices(value)
        except BadInputError as error:
            raise ValueError(str(error)) from error
        return value

    @field_validator("anybody_may")
    @classmethod
    def _must_be_scopes(cls, value: str) -> str:
        try:
            scopes_of(split_names(value))
        except BadInputError as error:
            raise ValueError(str(error)) from error
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _must_be_origins(cls, value: str) -> str:
        for name in split_names(value):
            if _ORIGIN.fullmatch(name) is None:
                raise ValueError(
                    f"must name each origin as browsers send it, such as https://app.example, found {name[:80]}"
                )
        return value

    @field_validator("redact_kinds")
    @classmethod
    def _must_be_kinds(cls, value: str) -> str:
        unknown = set(split_names(value)) - set(KINDS)
        if unknown:
            raise ValueError(
                f"knows only {', '.join(KINDS)}, found {', '.join(sorted(unknown))}"
            )
        return value

    @field_validator("embedding_model")
    @classmethod
    def _must_be_run_by_its_embedder(
        cls, value: str | None, info: ValidationInfo
    ) -> str | None:
        if value is not None and info.data.get("embedder") == "onnx":
            raise ValueError("is run by the embedder minilm, not by onnx")
        return value

    @field_validator("chroma_url", "anthropic_base_url", "otlp_endpoint")
    @classmethod
    def _must_be_a_url(cls, value: str | None) -> str | None:
        # The messages omit the value: it may hold a password.
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        place = urlsplit(value)
        # Reading a port that is not a number raises a ValueError too.
        if not place.hostname or place.port == 0:
            raise ValueError("names no server")
        return value

    _mixed_sources: str = PrivateAttr("")
    _mixed_telemetry_sources: str = PrivateAttr("")

    @property
    def mixed_sources(self) -> str:
        """The problem that the server's address and a secret for it come from two places; empty if they do not."""
        return self._mixed_sources

    @property
    def mixed_telemetry_sources(self) -> str:
        """The same problem for the collector's address and headers."""
        return self._mixed_telemetry_sources

    @property
    def speaks_to_claude(self) -> bool:
        """True if the primary reasoner is a server outside this process."""
        if self.reasoner == "auto":
            given = (
                self.anthropic_api_key,
                self.anthropic_auth_token,
                self.anthropic_base_url,
            )
            return given != (None, None, None)
        return self.reasoner == "claude"

    @property
    def summarising_model(self) -> str:
        """The small model: the one that is set, else Anthropic's at Anthropic, and elsewhere the one that reasons."""
        if self.compression_model is not None:
            return self.compression_model
        if self.anthropic_base_url in (None, ANTHROPIC_URL):
            return QuerySettings().compression_model
        return self.model

    @property
    def store_key(self) -> str | None:
        """The plain key of the store of traces; None if the store is not encrypted."""
        if self.trace_key is None:
            return None
        return self.trace_key.get_secret_value()

    @property
    def lacking(self) -> frozenset[str]:
        """The features that the server lacks."""
        return frozenset(split_names(self.server_lacks))

    def query_settings(self) -> QuerySettings:
        """Returns the settings of a query whose caller chooses none."""
        chosen = {name: getattr(self, name) for name in DECLARED}
        chosen["compression_model"] = self.summarising_model
        return QuerySettings(**chosen)


def load_settings(**overrides: object) -> Settings:
    """Returns the settings of this process; `overrides` that are not None win over the environment.

    Raises:
        ConfigurationError: Some values cannot be used, all of which the error names; or `.env` cannot be read.
    """
    # For the error alone: pydantic silently skips a line of the file that it cannot read.
    names_in(Path(ENV_FILE))
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        settings = Settings(**given)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        # The message omits the values: one of them may be a key.
        wrong = [
            f"{_shown_name(each['loc'])}: {each['msg']}"
            for each in error.errors(include_input=False)
        ]
        raise ConfigurationError(
            f"These settings cannot be used: {'; '.join(wrong)}."
        ) from error
    if settings.nats_url is not None and find_spec("nats") is None:
        raise ConfigurationError(
            "ANTIPHON_NATS_URL is set, and the client of NATS is not installed: pip install 'antiphon[cluster]'."
        )
    sources: Sources = {
        "the environment": EnvSettingsSource(Settings).env_vars,
        ".env": DotEnvSettingsSource(Settings).env_vars,
    }
    settings._mixed_sources = mixed_sources(given, MODEL_SERVER, sources)
    settings._mixed_telemetry_sources = mixed_sources(given, COLLECTOR, sources)
    return settings


def settings_warnings() -> tuple[str, ...]:
    """Returns a warning for each name in the environment and in `.env` that looks like a setting and is none.

    Raises:
        ConfigurationError: `.env` cannot be read.
    """
    names = [*os.environ, *names_in(Path(ENV_FILE))]
    return unknown_settings(names, Settings.model_fields)


def _shown_name(location: tuple[int | str, ...]) -> str:
    name = str(location[0]).upper() if location else "settings"
    if name.startswith("ANTHROPIC_"):
        return name
    return f"ANTIPHON_{name}"
