"""The Messages API through the `anthropic` SDK; the only file that sends anything to a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import cast

import httpx2
from anthropic import (
    AnthropicError,
    APIConnectionError,
    AsyncAnthropic,
    AsyncStream,
    DefaultAioHttpClient,
    Omit,
    RequestOptions,
    not_given,
)
from anthropic.types import RawMessageStreamEvent

from antiphon.engine.body import (
    CONNECTION_ERRORS,
    read_events,
    read_refusal,
    read_whole,
)
from antiphon.engine.connection_failures import from_connection
from antiphon.engine.failures import from_status
from antiphon.engine.request import request_bytes
from antiphon.engine.wire_json import as_object
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.settings import SILENCE_S
from antiphon.vocabulary.values import Request

CONNECT_S = 10.0
"""Seconds for making a connection, which takes no longer with a slow model."""
MAX_DETAIL = 400
"""Characters of an error that go into an event."""
KEY_CHARS = 8
"""Least characters of a key; a shorter one, such as `none`, is only a placeholder."""
_UNSENT = (
    *("X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-OS"),
    *("X-Stainless-Arch", "X-Stainless-Runtime", "X-Stainless-Runtime-Version"),
    "X-Stainless-Async",
    *("x-stainless-retry-count", "x-stainless-timeout", "x-stainless-read-timeout"),
)
"""Headers in which the SDK describes the machine and itself: half of a request's headers, and no reply needs them.

Spelled as in the SDK, which for another spelling would set them and remove them again in each request.
"""
_STREAM = AsyncStream[RawMessageStreamEvent]
"""Made once, because subscripting the generic type for each request takes as long as encoding the request."""


class AnthropicModel:
    """A server that speaks the Messages API. Satisfies `vocabulary.ports.Model`.

    Attributes:
        name: The label of its answers; None: the model that the request names.
    """

    def __init__(
        self,
        client: AsyncAnthropic,
        *,
        name: str | None = None,
        silence_s: float = SILENCE_S,
        ended: Callable[[ModelError | None], None] | None = None,
    ) -> None:
        self._client = client
        self._ended = ended or _not_heard
        self._name = name
        # Sets all options, and a parsed absolute address: for every request the SDK would deep-copy each missing
        # option's default, and parse an address given as text, a relative one twice.
        options = {
            "timeout": httpx2.Timeout(silence_s, connect=min(silence_s, CONNECT_S)),
            "headers": {},
            "params": {},
            "max_retries": 0,
            # Never sent, but without it the SDK draws a random key for each request.
            "idempotency_key": "",
            "post_parser": not_given,
        }
        # A cast, because the SDK's type lacks the parser, which its options have.
        self._options = cast(RequestOptions, options)
        self._address = httpx2.URL(f"{str(client.base_url).rstrip('/')}/v1/messages")

    @property
    def name(self) -> str | None:
        return self._name

    async def stream(
        self,
        request: Request,
        timeout_s: float,  # noqa: ARG002 - the caller keeps the call's limit, on the session's own clock
    ) -> AsyncIterator[Json]:
        """Sends the request and yields the stream's events as JSON objects.

        The `message_start` event carries the server's `request_id` beside its message.

        Raises:
            ModelError: The call failed, at any point.
        """
        try:
            response = await self._send(request)
            try:
                async with aclosing(read_events(response)) as events:
                    async for event in events:
                        yield event
            finally:
                # A reply that the caller abandons must still return its connection.
                await response.aclose()
        except ModelError as error:
            failure = self._without_secrets(error)
            self._ended(failure)
            raise failure from error.__cause__
        # Reported here, because in a wrapper each event would pass through one more generator.
        self._ended(None)

    async def check_key(self, timeout_s: float) -> bool:
        """Asks for the list of models, which costs no tokens.

        Returns:
            True if the server accepts the key; False if its answer says nothing about the key.

        Raises:
            ModelError: The server refuses the key (`authentication`), or cannot be reached in time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                answer = await self._list_models()
        except TimeoutError as error:
            raise ModelError(
                "timeout", f"no answer within {timeout_s:g} s", retryable=True
            ) from error
        except (APIConnectionError, *CONNECTION_ERRORS) as error:
            failure = from_connection(error, streaming=False)
            raise self._without_secrets(failure) from error
        except _RefusedError as refused:
            if refused.why.kind in ("authentication", "connection"):
                raise self._without_secrets(refused.why) from None
            # Compatible servers need not have such a list.
            return False
        except AnthropicError as error:
            raise self._without_secrets(_unsigned(error)) from error
        return _is_list(answer)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _send(self, request: Request) -> httpx2.Response:
        # `post` is the SDK's documented way to send a body of one's own: the bytes sent are those recorded, and the SDK
        # neither walks the body again nor builds a pydantic model for each event of the reply.
        try:
            sent = await self._client.post(
                cast(str, self._address),  # the SDK makes a `URL` of it anyway
                content=request_bytes(request),
                cast_to=httpx2.Response,
                options=self._options,
                stream=True,
                stream_cls=_STREAM,
            )
        except (APIConnectionError, *CONNECTION_ERRORS) as error:
            raise from_connection(error, streaming=False) from error
        except _RefusedError as refused:
            raise refused.why from None
        except AnthropicError as error:
            raise _unsigned(error) from error
        return cast(
            httpx2.Response, sent
        )  # the SDK's overloads lack a plain response that is streamed

    async def _list_models(self) -> bytes:
        response = await self._client.get(
            "/v1/models",
            cast_to=httpx2.Response,
            options={"params": {"limit": 1}},
            stream=True,
            stream_cls=_STREAM,
        )
        listed = cast(httpx2.Response, response)  # as in `_send`
        try:
            return await read_whole(listed)
        finally:
            await listed.aclose()

    def _without_secrets(self, error: ModelError) -> ModelError:
        """Removes the keys from an error's message, since some servers repeat them, and then shortens it."""
        detail = " ".join(str(error).split())
        for key in (self._client.api_key, self._client.auth_token):
            if key:
                detail = without_key(detail, key)
        error.args = (detail[:MAX_DETAIL],)
        return error


class _RefusedError(AnthropicError):
    """Carries a refusal through the SDK, which passes errors of its own class on unchanged."""

    def __init__(self, status_code: int, why: ModelError) -> None:
        # Without the server's message, because the key that it may repeat is removed only later.
        super().__init__(f"the server answered {status_code}")
        self.status_code = status_code
        self.why = why


async def _refuse(response: httpx2.Response) -> None:
    """Raises an error with the beginning of the body if a response is not a success.

    The HTTP client calls this before the SDK sees the response, because the SDK would read the whole body of any size.
    """
    if response.is_success or response.has_redirect_location:
        return
    body = await read_refusal(response)
    why = from_status(response.status_code, response.headers, body, response.url.path)
    raise _RefusedError(response.status_code, why)


def _unsigned(error: AnthropicError) -> ModelError:
    return ModelError(
        "authentication", f"the request could not be signed: {error}", unbilled=True
    )


def _is_list(body: bytes) -> bool:
    """Returns True for a list of models: some servers answer every path with a page of their own."""
    answer = as_object(body.decode("utf-8", "replace"))
    return answer is not None and isinstance(answer.get("data"), list)


def _not_heard(_: ModelError | None) -> None:
    """Takes the end of a call if no one wants it."""


def without_key(text: str, key: str) -> str:
    """Masks a key in `text`, and any beginning of it that was cut off; a short key is only a placeholder."""
    if len(key) < KEY_CHARS:
        return text
    text = text.replace(key, "[key]")
    start = text.find(key[:KEY_CHARS])
    while start >= 0:
        end = start + KEY_CHARS
        while text[end : end + 1] == key[end - start : end - start + 1] != "":
            end += 1
        text = f"{text[:start]}[key]{text[end:]}"
        start = text.find(key[:KEY_CHARS], start)
    return text


def connect(
    api_key: str | None,
    base_url: str,
    *,
    auth_token: str | None = None,
    name: str | None = None,
    silence_s: float = SILENCE_S,
    transport: httpx2.AsyncBaseTransport | None = None,
    ended: Callable[[ModelError | None], None] | None = None,
) -> AnthropicModel:
    """Makes a model behind `base_url`; opens connections when they are first needed.

    Args:
        api_key: Sent as `x-api-key`; None to send only `auth_token`.
        auth_token: Sent as `Authorization: Bearer`.
        name: The label of its answers; None: the model that each request names.
        silence_s: Longest wait for the next bytes of a reply, in seconds.
        transport: Carries the requests; None: over the network.
        ended: Called at the end of each call: with its error, or with None if it brought a whole reply.
    """
    http = (
        DefaultAioHttpClient()
        if transport is None
        else httpx2.AsyncClient(transport=transport)
    )
    http.event_hooks = {"response": [_refuse]}
    # The engine makes further attempts itself: they are events, and the budget limits them.
    client = AsyncAnthropic(
        api_key=api_key,
        auth_token=auth_token,
        base_url=base_url,
        max_retries=0,
        http_client=http,
        # The SDK leaves out headers that are `Omit()`; the types of its constructor do not say so.
        default_headers=cast(dict[str, str], dict.fromkeys(_UNSENT, Omit())),
    )
    return AnthropicModel(client, name=name, silence_s=silence_s, ended=ended)
