"""Client of Aloft, the uptime monitoring service."""

from . import limits
from ._address import DEFAULT_BASE_URL
from ._client import AsyncClient, Client
from ._options import CallOptions, Retry
from ._version import __version__
from .errors import (
    AbortedError,
    AlreadyExistsError,
    CanceledError,
    DataLossError,
    DeadlineExceededError,
    ErrorCode,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    ServiceError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
    Violation,
    WebhookReason,
)
from .gen import messages, words
from .gen.messages import *  # noqa: F403
from .gen.words import *  # noqa: F403
from .identity import Actor, Identity
from .webhook import verify_webhook
from .webhook_events import (
    CHANNEL_EVENT_TYPES,
    PAGE_EVENT_TYPES,
    ChannelEvent,
    ChannelEventType,
    EventMonitor,
    EventRegion,
    IncidentEvent,
    MaintenanceEvent,
    MonitorEvent,
    PageEvent,
    PageEventType,
    PageWebhook,
    ReportEvent,
    WebhookEvent,
)

__all__ = [
    "CHANNEL_EVENT_TYPES",
    "DEFAULT_BASE_URL",
    "PAGE_EVENT_TYPES",
    "AbortedError",
    "Actor",
    "AlreadyExistsError",
    "AsyncClient",
    "CallOptions",
    "CanceledError",
    "ChannelEvent",
    "ChannelEventType",
    "Client",
    "DataLossError",
    "DeadlineExceededError",
    "ErrorCode",
    "EventMonitor",
    "EventRegion",
    "FailedPreconditionError",
    "Identity",
    "IncidentEvent",
    "InternalError",
    "InvalidArgumentError",
    "MaintenanceEvent",
    "MonitorEvent",
    "NotFoundError",
    "OutOfRangeError",
    "PageEvent",
    "PageEventType",
    "PageWebhook",
    "PermissionDeniedError",
    "ReportEvent",
    "ResourceExhaustedError",
    "Retry",
    "ServiceError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "Violation",
    "WebhookEvent",
    "WebhookReason",
    "__version__",
    "limits",
    "verify_webhook",
]
__all__ += messages.__all__
__all__ += words.__all__
