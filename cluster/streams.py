"""The subjects and streams of an installation, declared once; all other modules get their names from here."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import (
    DiscardPolicy,
    RePublish,
    RetentionPolicy,
    StorageType,
    StoreCompression,
    StreamConfig,
)
from nats.js.errors import APIError, BadRequestError

from antiphon.vocabulary.errors import ConfigurationError

LANES = 8
"""The queues among which tenants are spread, so that one with many questions leaves room for others (stochastic fair
queueing, https://datatracker.ietf.org/doc/html/rfc2309#section-2.2)."""
DEDUPLICATION_S = 120.0
"""Seconds in which the server recognises a repeated message by its `Nats-Msg-Id`."""
MOST_WAITING = 100_000
"""The most queries that may wait: the stream itself refuses more."""

MOST_ID_BYTES = 512
"""The longest id that a subject takes; a server takes 4,096 bytes for subject, reply and sizes together."""

_PLAIN_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}")


@dataclass(frozen=True)
class Naming:
    """The names of one installation's subjects and streams, all under one prefix."""

    prefix: str = "antiphon"

    def trace(self, query_id: str) -> str:
        """Returns the subject that holds a query's trace."""
        return f"{self.prefix}.traces.{token(query_id)}"

    def live(self, query_id: str) -> str:
        """Returns the subject on which the server passes on the stored messages of a trace, with their sequence."""
        return f"{self.prefix}.live.{token(query_id)}"

    def conversation(self, session_id: str) -> str:
        """Returns the subject of the messages that open and clear a conversation."""
        return f"{self.prefix}.conversations.{token(session_id)}"

    def feedback(self, query_id: str) -> str:
        """Returns the subject that holds the feedback on an answer."""
        return f"{self.prefix}.feedback.{token(query_id)}"

    def title(self, session_id: str) -> str:
        """Returns the subject that holds the title of a conversation."""
        return f"{self.prefix}.titles.{token(session_id)}"

    def question_set(self, tenant: str, set_id: str) -> str:
        """Returns the subject that holds a saved set of questions."""
        return f"{self.prefix}.question_sets.{token(f'{tenant}/{set_id}')}"

    def blobs_of(self, query_id: str) -> str:
        """Returns the beginning of the subjects that hold the longest texts of a trace."""
        return f"{self.prefix}.blobs.{token(query_id)}"

    def deltas(self, query_id: str) -> str:
        """Returns the subject of live items that are not stored, such as text as it is written."""
        return f"{self.prefix}.deltas.{token(query_id)}"

    def end(self, query_id: str) -> str:
        """Returns the subject on which all processes learn that a query is over."""
        return f"{self.prefix}.ends.{token(query_id)}"

    @property
    def ends(self) -> str:
        """The subjects of the ends of all queries."""
        return f"{self.prefix}.ends.*"

    def control(self, query_id: str) -> str:
        """Returns the subject of requests to the worker of a query, such as to end it."""
        return f"{self.prefix}.control.{token(query_id)}"

    def query(self, tenant: str, query_id: str) -> str:
        """Returns the subject under which a query waits for a worker."""
        return f"{self.lane(lane_of(tenant))}.{token(query_id)}"

    def lane(self, number: int) -> str:
        """Returns the beginning of the subjects of one lane's queries."""
        return f"{self.prefix}.queries.{number}"

    def acting(self, room: str) -> str:
        """Returns the beginning of the subjects of acting components that run elsewhere, such as `dispatcher`."""
        return f"{self.prefix}.acting.{room}"

    @property
    def traces_stream(self) -> str:
        return self._stream("TRACES")

    @property
    def queries_stream(self) -> str:
        return self._stream("QUERIES")

    @property
    def blobs(self) -> str:
        """The stream of long texts."""
        return self._stream("BLOBS")

    @property
    def shared_state(self) -> str:
        """The bucket of the values that all processes share: rates, circuits, keys and their use."""
        return self._stream("STATE")

    def _stream(self, name: str) -> str:
        return f"{self.prefix.upper()}_{name}"


def token(text: str) -> str:
    """Returns a text as one token of a subject: unchanged if possible, otherwise encoded."""
    if _PLAIN_TOKEN.fullmatch(text):
        return text
    encoded = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass"))
    return f"={encoded.decode().rstrip('=')}"


def is_nameable(text: str) -> bool:
    """Returns False for an id that cannot be encoded or is too long for a subject: the server would hang up on it."""
    try:
        return len(text.encode()) <= MOST_ID_BYTES
    except UnicodeEncodeError:
        return False


def text_of(token: str) -> str:
    """Returns the text that a token of a subject encodes.

    Raises:
        ValueError: The token is not one of ours.
    """
    if not token.startswith("="):
        return token
    encoded = token[1:]
    padding = "=" * (-len(encoded) % 4)
    return base64.urlsafe_b64decode(encoded + padding).decode("utf-8", "surrogatepass")


def lane_of(tenant: str) -> int:
    """Returns the lane of a tenant's queries."""
    return zlib.crc32(tenant.encode("utf-8", "surrogatepass")) % LANES


async def make_streams(
    jetstream: JetStreamContext, naming: Naming, replicas: int
) -> None:
    """Makes the streams that are missing, and brings the others up to date.

    Raises:
        ConfigurationError: The servers cannot hold them.
    """
    for config in (
        trace_stream(naming, replicas),
        blob_stream(naming, replicas),
        query_stream(naming, replicas),
    ):
        try:
            await _make(jetstream, config)
        except (NatsError, TimeoutError) as error:
            raise ConfigurationError(
                f"The NATS servers cannot hold the stream {config.name} {replicas} times, as ANTIPHON_NATS_REPLICAS "
                f"says ({_reason(error)}): start as many servers, of one cluster and with room on their disks."
            ) from error


async def _make(jetstream: JetStreamContext, config: StreamConfig) -> None:
    try:
        await jetstream.add_stream(config)
    # It exists with other settings: those of a newer or an older program.
    except BadRequestError:
        there = (await jetstream.stream_info(config.name or "")).config
        config.subjects = _subjects_of(config, there)
        await jetstream.update_stream(config)


async def add_subjects(jetstream: JetStreamContext, naming: Naming) -> None:
    """Has the stream of traces accept every kind of message again: an older program that starts removes some kinds."""
    there = (await jetstream.stream_info(naming.traces_stream)).config
    there.subjects = _subjects_of(trace_stream(naming, 1), there)
    await jetstream.update_stream(there)


def _subjects_of(wanted: StreamConfig, there: StreamConfig) -> list[str]:
    """Returns the subjects of both, because a newer program may have made the stream."""
    return list(dict.fromkeys([*(wanted.subjects or ()), *(there.subjects or ())]))


def _reason(error: Exception) -> str:
    if isinstance(error, APIError) and error.description:
        return error.description
    return str(error) or type(error).__name__


def trace_stream(naming: Naming, replicas: int) -> StreamConfig:
    """Returns the stream of traces: one subject for each query; the server passes on each stored message live.

    Conversations are in the same stream, because their order among the queries decides which of these were cleared;
    feedback, titles and sets of questions, because the list of traces holds them too.
    """
    return StreamConfig(
        name=naming.traces_stream,
        subjects=[
            f"{naming.prefix}.{kind}.*"
            for kind in (
                "traces",
                "conversations",
                "feedback",
                "titles",
                "question_sets",
            )
        ],
        storage=StorageType.FILE,
        num_replicas=replicas,
        # A full stream refuses new messages rather than dropping old ones: no trace may lose its beginning.
        discard=DiscardPolicy.NEW,
        compression=StoreCompression.S2,
        duplicate_window=DEDUPLICATION_S,
        # Lets any server answer reads, not only the leader.
        allow_direct=True,
        republish=RePublish(
            src=f"{naming.prefix}.traces.*",
            dest=f"{naming.prefix}.live.{{{{wildcard(1)}}}}",
        ),
    )


def blob_stream(naming: Naming, replicas: int) -> StreamConfig:
    """Returns the stream of texts that are too long for messages: a subject for each part of one."""
    return StreamConfig(
        name=naming.blobs,
        subjects=[f"{naming.prefix}.blobs.*.*.*"],
        storage=StorageType.FILE,
        num_replicas=replicas,
        discard=DiscardPolicy.NEW,
        compression=StoreCompression.S2,
        max_msgs_per_subject=1,
        allow_direct=True,
    )


def query_stream(naming: Naming, replicas: int) -> StreamConfig:
    """Returns the stream of queries that wait for a worker; a query leaves it when it is over."""
    return StreamConfig(
        name=naming.queries_stream,
        subjects=[f"{naming.prefix}.queries.*.*"],
        retention=RetentionPolicy.WORK_QUEUE,
        storage=StorageType.FILE,
        num_replicas=replicas,
        discard=DiscardPolicy.NEW,
        # With the next line: one message for each query, so that none can wait twice.
        discard_new_per_subject=True,
        max_msgs_per_subject=1,
        max_msgs=MOST_WAITING,
        duplicate_window=DEDUPLICATION_S,
        allow_direct=True,
    )
