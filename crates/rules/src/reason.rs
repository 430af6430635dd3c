//! Stable reasons for the failure of a call, used by RPC errors and by the problems of `/v1`.
//! `contract` creates the errors.

words! {
    /// Reason for the failure of a call: `google.rpc.ErrorInfo.reason`, and the reason of a `/v1`
    /// problem.
    Reason ("reason") {
        /// The call has no key.
        KeyMissing = "KEY_MISSING",
        /// The key was not issued by this service, or is damaged.
        KeyUnknown = "KEY_UNKNOWN",
        /// The key has expired.
        KeyExpired = "KEY_EXPIRED",
        /// The key was revoked.
        KeyRevoked = "KEY_REVOKED",
        /// The key is read-only.
        KeyReadOnly = "KEY_READ_ONLY",
        /// The call needs a person with a higher role; the message names the role.
        RoleRequired = "ROLE_REQUIRED",
        /// The call concerns all workspaces, and needs a workspace of the server's operator.
        OperatorRequired = "OPERATOR_REQUIRED",
        /// Too many calls in a short time.
        RateLimited = "RATE_LIMITED",
        /// A field breaks a rule; the violations have details.
        InvalidArgument = "INVALID_ARGUMENT",
        /// The body does not match its content type, or has an unknown field.
        MalformedMessage = "MALFORMED_MESSAGE",
        /// The object does not exist in the caller's workspace.
        NotFound = "NOT_FOUND",
        /// The object already exists.
        AlreadyExists = "ALREADY_EXISTS",
        /// The monitor is of another kind than the method; the message names the right one.
        MonitorTypeMismatch = "MONITOR_TYPE_MISMATCH",
        /// The object was modified concurrently.
        Conflict = "CONFLICT",
        /// The object has changed since the revision that the update names.
        RevisionMismatch = "REVISION_MISMATCH",
        /// The object is in the wrong state; the message describes it.
        FailedPrecondition = "FAILED_PRECONDITION",
        /// The request is too large.
        PayloadTooLarge = "PAYLOAD_TOO_LARGE",
        /// The request was not completed in time.
        RequestTimeout = "REQUEST_TIMEOUT",
        /// The content type is not supported.
        MediaType = "UNSUPPORTED_MEDIA_TYPE",
        /// The HTTP method does not call this RPC method.
        Verb = "METHOD_NOT_ALLOWED",
        /// The method does not exist.
        UnknownMethod = "UNKNOWN_METHOD",
        /// The deadline of the call has passed, or the caller disconnected.
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        /// A dependency is not available.
        Unavailable = "UNAVAILABLE",
        /// An internal error of the service.
        Internal = "INTERNAL",
    }
}

impl Reason {
    /// Returns the RPC code for the reason, as written by Connect.
    pub const fn code(self) -> &'static str {
        match self {
            Self::KeyMissing | Self::KeyUnknown | Self::KeyExpired | Self::KeyRevoked => {
                "unauthenticated"
            }
            Self::KeyReadOnly | Self::RoleRequired | Self::OperatorRequired => "permission_denied",
            Self::RateLimited | Self::PayloadTooLarge => "resource_exhausted",
            Self::InvalidArgument
            | Self::MalformedMessage
            | Self::MonitorTypeMismatch
            | Self::MediaType
            | Self::Verb => "invalid_argument",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::Conflict | Self::RevisionMismatch => "aborted",
            Self::FailedPrecondition => "failed_precondition",
            Self::RequestTimeout | Self::DeadlineExceeded => "deadline_exceeded",
            Self::UnknownMethod => "unimplemented",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }

    /// Returns the HTTP status for the reason, in Connect and in `/v1`.
    pub const fn status(self) -> u16 {
        match self {
            Self::KeyMissing | Self::KeyUnknown | Self::KeyExpired | Self::KeyRevoked => 401,
            Self::KeyReadOnly | Self::RoleRequired | Self::OperatorRequired => 403,
            Self::RateLimited => 429,
            Self::PayloadTooLarge => 413,
            Self::InvalidArgument
            | Self::MalformedMessage
            | Self::MonitorTypeMismatch
            | Self::FailedPrecondition => 400,
            Self::MediaType => 415,
            Self::Verb => 405,
            Self::NotFound | Self::UnknownMethod => 404,
            Self::AlreadyExists | Self::Conflict | Self::RevisionMismatch => 409,
            Self::RequestTimeout => 408,
            Self::DeadlineExceeded => 504,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }

    /// Returns what the caller can do, as a sentence.
    pub const fn help(self) -> &'static str {
        match self {
            Self::KeyMissing => {
                "Send an API key in the header `x-service-key` or as `Authorization: Bearer`."
            }
            Self::KeyUnknown => "Check that the key is complete and belongs to this server.",
            Self::KeyExpired | Self::KeyRevoked => "Create a new key.",
            Self::KeyReadOnly => "Use a key with the scope `write`.",
            Self::RoleRequired => "Ask a member with the role that the message names.",
            Self::OperatorRequired => {
                "Use a workspace of the server's operator, or the command line on the server."
            }
            Self::RateLimited => "Wait for the time in `Retry-After`, then retry.",
            Self::InvalidArgument => "Fix the fields listed in the violations.",
            Self::MalformedMessage => "Fix the body: the message names the field or the position.",
            Self::NotFound => "Check the id and the workspace of the key.",
            Self::AlreadyExists => "Choose another value or use the existing object.",
            Self::MonitorTypeMismatch => "Call the method for this kind of monitor.",
            Self::Conflict => "Fetch the object again and retry.",
            Self::RevisionMismatch => {
                "Fetch the object again and apply the change to it. The same request fails again."
            }
            Self::FailedPrecondition => {
                "Bring the object into the state that the message describes."
            }
            Self::PayloadTooLarge => "Send a smaller request; retrying does not help.",
            Self::RequestTimeout => "Retry over a faster connection or send less.",
            Self::MediaType => "Send `application/json` or `application/proto`.",
            Self::Verb => "Use a method listed in `Allow`.",
            Self::UnknownMethod => "Check the spelling of the service and the method.",
            Self::DeadlineExceeded => "Use a longer deadline.",
            Self::Unavailable => "Retry in a moment.",
            Self::Internal => "Report it to the operator with the `x-request-id` of the response.",
        }
    }
}
