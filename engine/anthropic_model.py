"""The Messages API through the `anthropic` SDK; the only file that sends anything to a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import cast

import aiohttp
import httpx2
from anthropic import (
    AnthropicError,
    APIConnectionError,
    APIStatusError,
    AsyncAnthropic,
    AsyncStream,
    DefaultAioHttpClient,
)
from anthropic.types import RawMessageStreamEvent

from antiphon.engine.failures import from_connection, from_error_event, from_status
from antiphon.engine.reply import events_of
from antiphon.engine.request import request_bytes
from antiphon.engine.sse import SseDecoder, excerpt, read_object
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request

CONNECTION_ERRORS = (httpx2.HTTPError, httpx2.StreamError, aiohttp.ClientError, OSError)
"""Errors of a connection that breaks while a reply is read; the SDK wraps none of them."""


class AnthropicModel:
    """A server that speaks the Messages API. Satisfies `vocabulary.ports.Model`.

    Attributes:
        name: What answers are labelled with, or None: the model that the request names.
    """

    def __init__(
        self,
        client: AsyncAnthropic,
        *,
        name: str | None = None,
        silence_s: float = 30.0,
    ) -> None:
        self._client = client
        self._name = name
        self._silence_s = silence_s

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
                async for event in _events(response):
                    yield event
            finally:
                # A reply that is left in the middle must give its connection back.
                await response.aclose()
        except ModelError as error:
            raise self._without_key(error) from error.__cause__

    async def aclose(self) -> None:
        """Gives the connections back."""
        await self._client.close()

    async def _send(self, request: Request) -> httpx2.Response:
        # `post` is the SDK's documented way to send a body of one's own: what goes out is byte for byte what is
        # recorded, and neither the body is walked once more nor a pydantic model built for each event of the reply.
        try:
            sent = await self._client.post(
                "/v1/messages",
                content=request_bytes(request),
                cast_to=httpx2.Response,
                options={"timeout": httpx2.Timeout(self._silence_s)},
                stream=True,
                stream_cls=AsyncStream[RawMessageStreamEvent],
            )
        except APIStatusError as error:
            raise from_status(error) from error
        except (APIConnectionError, *CONNECTION_ERRORS) as error:
            raise from_connection(error, streaming=False) from error
        except AnthropicError as error:
            raise ModelError(
                "authentication", f"the request could not be signed: {error}"
            ) from error
        return cast(
            httpx2.Response, sent
        )  # the SDK's overloads leave out a plain response that is streamed

    def _without_key(self, error: ModelError) -> ModelError:
        """Takes the keys out of what an error says: some servers repeat them, and errors are recorded."""
        for key in (self._client.api_key, self._client.auth_token):
            if key and key in str(error):
                error.args = (str(error).replace(key, "[key]"),)
        return error


def connect(
    api_key: str | None,
    base_url: str,
    *,
    auth_token: str | None = None,
    name: str | None = None,
    silence_s: float = 30.0,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> AnthropicModel:
    """Makes a model behind `base_url`; connections are opened when first needed.

    Args:
        api_key: Sent as `x-api-key`; None where only `auth_token` is wanted.
        auth_token: Sent as `Authorization: Bearer`.
        name: What its answers are labelled with; None means the model that each request names.
        silence_s: Longest wait for the next bytes of a reply, in seconds.
        transport: How requests travel; None means the network.
    """
    http = (
        DefaultAioHttpClient()
        if transport is None
        else httpx2.AsyncClient(transport=transport)
    )
    # The engine makes further attempts itself: they are events, and the budget has a say in them.
    client = AsyncAnthropic(
        api_key=api_key,
        auth_token=auth_token,
        base_url=base_url,
        max_retries=0,
        http_client=http,
    )
    return AnthropicModel(client, name=name, silence_s=silence_s)


async def _events(response: httpx2.Response) -> AsyncIterator[Json]:
    request_id = response.headers.get("request-id")
    try:
        # Some servers ignore `stream`, and proxies answer with pages of their own.
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            for event in _events_of_body(await response.aread()):
                yield _checked(event, request_id)
            return
        decoder = SseDecoder()
        async for chunk in response.aiter_bytes():
            for event in decoder.feed(chunk):
                yield _checked(event, request_id)
        for event in decoder.end():
            yield _checked(event, request_id)
    except CONNECTION_ERRORS as error:
        raise from_connection(error, streaming=True, request_id=request_id) from error


def _checked(event: Json, request_id: str | None) -> Json:
    if event["type"] == "error":
        raise from_error_event(event, request_id)
    # The event is the only thing that leaves this file; the trace wants the id for questions to the provider.
    if request_id is not None and event["type"] == "message_start":
        event["request_id"] = request_id
    return event


def _events_of_body(body: bytes) -> Iterator[Json]:
    """Reads a body that is no stream: a whole message, or an error under HTTP 200."""
    message = read_object(body)
    if message.get("type") == "error" or "error" in message:
        raise from_error_event(message)
    if message.get("type") != "message":
        raise ModelError(
            "malformed",
            f"the server answered with something else than a message: {excerpt(body)}",
        )
    return events_of(message)
