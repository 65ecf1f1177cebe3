"""The settings, and the only place that reads the environment (and `.env`)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec.structs import asdict
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from antiphon.vocabulary.errors import BadInputError, ConfigurationError
from antiphon.vocabulary.values import QuerySettings

ANTHROPIC_URL = "https://api.anthropic.com"
SWITCHES = ("tool_choice_none", "caching", "thinking")
"""What a server may lack."""


class Settings(BaseSettings):
    """How this service runs; every field is `ANTIPHON_<NAME>` in the environment unless it says otherwise.

    Attributes:
        host: Address to serve on; loopback unless you put something in front of it.
        port: Port to serve on.
        allowed_hosts: Names by which callers may address the service, with commas between; `*` is any.
        data_dir: Folder of the index and the traces; made where it is missing.
        reasoner: `auto` is Claude where a key or a base URL is set, and the offline reasoner otherwise.
        final_model: The model of the final call; None: `model`.
        other_model: The model that is asked where a call of these fails; None: the offline reasoner at once.
        effort: How much the model is to do; None: its own default.
        thinking: `default` (the model's own), `off`, `adaptive`, or a budget in tokens for models that want one.
        compression: How older rounds are made short: `extractive`, or with a `model` that sums up what goes.
        compression_model: That model; None is a small one at Anthropic, and elsewhere the one of the reasoning calls.
        citations: How sources are shown: as `search_result` blocks (`native`), as numbered text (`inline`), or `auto`:
            native at Anthropic; elsewhere found out by one small call and remembered.
        server_lacks: What the server does not know, with commas between: `tool_choice_none`, `caching`, `thinking`.
        embedder: `auto` is the one that built the index, or the first that is installed of `minilm` and `onnx`.
        chroma_url: A Chroma server, such as `http://127.0.0.1:8001`; None is the index in this process.
        tools: Tools of your own: `package.module:name`, several with commas between.
        subscribers: Components of your own, in every query: `package.module:factory`, several with commas between.
        durability: What a stored event outlives: the death of the `process`, or the loss of the machine's `power`
            too, for which each append waits for the disk.
        keep_days: Traces that were begun longer ago, and are over, are deleted; None keeps them.
        keep_mb: The oldest traces that are over are deleted until the store uses no more; None keeps them.
        redact: Regular expressions, one a line: what they match is blotted out before anything is stored or sent.
        redact_file: A file of such lines; empty ones, and those that begin with #, are passed over.
        deadline_s: Seconds from question to answer.
        final_reserve_s: Seconds of the deadline kept for the final call (never more than two fifths of it).
        max_total_tokens: Most tokens of all calls of one query, input and output; None: no limit.
        max_cost_usd: The most that one query may cost, in US dollars; None: no limit.
        concurrent_queries: Queries that may run at once; more are refused with 503.
        query_chars: Longest question, in characters.
        anthropic_api_key: `ANTHROPIC_API_KEY`.
        anthropic_auth_token: `ANTHROPIC_AUTH_TOKEN`: sent as `Authorization: Bearer`, for servers that want that.
        anthropic_base_url: `ANTHROPIC_BASE_URL`: any server that speaks the Messages API.
    """

    model_config = SettingsConfigDict(
        env_prefix="ANTIPHON_", env_file=".env", extra="ignore", populate_by_name=True, env_ignore_empty=True
    )

    host: str = "127.0.0.1"
    port: int = Field(8000, ge=0, le=65535)
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    data_dir: Path = Path("data")
    reasoner: Literal["auto", "claude", "offline"] = "auto"
    model: str = "claude-sonnet-5-5"
    final_model: str | None = None
    other_model: str | None = None
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    thinking: str = Field("default", pattern=r"^(default|off|adaptive|\d{4,6})$")
    citations: Literal["native", "inline", "auto"] = "auto"
    server_lacks: str = ""
    max_tokens: int = Field(1500, ge=1)
    max_rounds: int = Field(2, ge=0, le=5)
    max_tool_calls: int = Field(8, ge=1, le=64)
    deadline_s: float = Field(60.0, ge=1.0, le=600.0)
    final_reserve_s: float = Field(15.0, ge=0.0)
    tool_timeout_s: float = Field(10.0, gt=0.0)
    max_total_tokens: int | None = Field(None, ge=0)
    max_cost_usd: float | None = Field(None, ge=0.0, allow_inf_nan=False)
    briefing_tokens: int = Field(6000, ge=200)
    early_dispatch: bool = True
    on_tool_failure: Literal["recover", "stop"] = "recover"
    context: Literal["briefing", "transcript"] = "briefing"
    compression: Literal["extractive", "model"] = "extractive"
    compression_model: str | None = None
    embedder: Literal["auto", "minilm", "onnx"] = "auto"
    chroma_url: str | None = None
    tools: str = ""
    subscribers: str = ""
    durability: Literal["process", "power"] = "process"
    keep_days: float | None = Field(None, gt=0.0, allow_inf_nan=False)
    keep_mb: float | None = Field(None, gt=0.0, allow_inf_nan=False)
    redact: str = ""
    redact_file: Path | None = None
    concurrent_queries: int = Field(500, ge=1)
    query_chars: int = Field(8_000, ge=1)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "console", "json"] = "auto"
    anthropic_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("anthropic_api_key", "ANTHROPIC_API_KEY")
    )
    anthropic_base_url: str | None = Field(
        None, validation_alias=AliasChoices("anthropic_base_url", "ANTHROPIC_BASE_URL")
    )

    anthropic_auth_token: SecretStr | None = Field(
        None, validation_alias=AliasChoices("anthropic_auth_token", "ANTHROPIC_AUTH_TOKEN")
    )

    @field_validator("server_lacks")
    @classmethod
    def _must_be_switches(cls, value: str) -> str:
        unknown = {name.strip() for name in value.split(",") if name.strip()} - set(SWITCHES)
        if unknown:
            raise ValueError(f"knows only {', '.join(SWITCHES)}, found {', '.join(sorted(unknown))}")
        return value

    @field_validator("chroma_url", "anthropic_base_url")
    @classmethod
    def _must_be_a_url(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError(f"must begin with http:// or https://, found {value!r}")
        return value

    @property
    def speaks_to_claude(self) -> bool:
        """Whether the primary reasoner is a server outside this process."""
        if self.reasoner == "auto":
            given = (self.anthropic_api_key, self.anthropic_auth_token, self.anthropic_base_url)
            return any(value is not None for value in given)
        return self.reasoner == "claude"

    @property
    def summarising_model(self) -> str:
        """The small model: the one that is set, else Anthropic's at Anthropic, and elsewhere the only one known."""
        if self.compression_model is not None:
            return self.compression_model
        at_anthropic = self.anthropic_base_url in (None, ANTHROPIC_URL)
        return QuerySettings().compression_model if at_anthropic else self.model

    @property
    def lacking(self) -> frozenset[str]:
        """The switches that are off."""
        return frozenset(name.strip() for name in self.server_lacks.split(",") if name.strip())

    def query_settings(self) -> QuerySettings:
        """What a query gets when its caller wishes nothing else."""
        return QuerySettings(
            max_rounds=self.max_rounds,
            deadline_s=self.deadline_s,
            final_reserve_s=self.final_reserve_s,
            tool_timeout_s=self.tool_timeout_s,
            max_tool_calls=self.max_tool_calls,
            model=self.model,
            max_tokens=self.max_tokens,
            briefing_tokens=self.briefing_tokens,
            early_dispatch=self.early_dispatch,
            on_tool_failure=self.on_tool_failure,
            context=self.context,
            compression=self.compression,
            compression_model=self.summarising_model,
            final_model=self.final_model,
            other_model=self.other_model,
            effort=self.effort,
            thinking=self.thinking,
            max_total_tokens=self.max_total_tokens,
            max_cost_usd=self.max_cost_usd,
        )


def load_settings(**overrides: object) -> Settings:
    """The settings of this process; `overrides` (None ones left out) win over the environment.

    Raises:
        ConfigurationError: A value cannot be used; every such value is named.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        wrong = "; ".join(f"{_shown_name(e['loc'])}: {e['msg']}" for e in error.errors(include_input=False))
        raise ConfigurationError(f"These settings cannot be used: {wrong}.") from error


def check_wishes(wishes: QuerySettings) -> None:
    """Refuses settings of one query that the service itself could not have.

    Raises:
        BadInputError: A value is out of its range; every such value is named.
    """
    given = {name: value for name, value in asdict(wishes).items() if name in Settings.model_fields}
    try:
        load_settings(**given)
    except ConfigurationError as error:
        raise BadInputError(str(error)) from error


def _shown_name(location: tuple[int | str, ...]) -> str:
    name = str(location[0]).upper() if location else "settings"
    return name if name.startswith("ANTHROPIC_") else f"ANTIPHON_{name}"
