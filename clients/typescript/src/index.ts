// The public exports of Aloft's client library.

export { DEFAULT_BASE_URL } from "./address.js";
export { createServiceClient, type ServiceClient } from "./client.js";
export {
  ERROR_CODES,
  type ErrorCode,
  type ErrorOf,
  type ErrorParts,
  type ErrorReason,
  isAborted,
  isAlreadyExists,
  isCanceled,
  isDataLoss,
  isDeadlineExceeded,
  isFailedPrecondition,
  isInternal,
  isInvalidArgument,
  isNotFound,
  isOutOfRange,
  isPermissionDenied,
  isResourceExhausted,
  isServiceError,
  isUnauthenticated,
  isUnavailable,
  isUnimplemented,
  isUnknown,
  ServiceError,
  type Violation,
  type WebhookReason,
} from "./errors.js";
export { LIMITS } from "./gen/limits.js";
export type * from "./gen/services.js";
export * from "./gen/words.js";
export type { Identity } from "./identity.js";
export type { CallOptions, ClientOptions, Fetch, HeaderValues, RetryOptions } from "./options.js";
export type { Pages } from "./pages.js";
export { verifyWebhook, type WebhookRequest } from "./webhook.js";
export {
  CHANNEL_EVENT_TYPES,
  type ChannelEvent,
  type EventMonitor,
  type EventRegion,
  type IncidentEvent,
  type MaintenanceEvent,
  type MonitorEvent,
  PAGE_EVENT_TYPES,
  type PageWebhook,
  type PageEvent,
  type ReportEvent,
  type WebhookEvent,
} from "./webhook-events.js";
