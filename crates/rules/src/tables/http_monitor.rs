//! `service_http_monitor` (§2.1).

use super::monitor;
use crate::field::{Block, Field, Redaction, Resource, Rule, Shape, Value};
use crate::{Method, NumberComparator, TextComparator};

/// Maximum length of a header name, in characters (ours).
pub(super) const HEADER_NAME_CHARS_MAX: u32 = 256;
/// Maximum length of a header value, in characters (ours): fits the longest tokens that servers
/// accept.
pub(super) const HEADER_VALUE_CHARS_MAX: u32 = 8_192;
/// Maximum length of a request body, in characters (ours): a check is not an upload.
const BODY_CHARS_MAX: u32 = 65_536;
/// Maximum length of a JSONPath, in characters (ours).
const JSON_PATH_CHARS_MAX: u32 = 512;
/// Maximum of days before the expiry of a certificate (ours): a little less than the longest validity.
pub const CERTIFICATE_WARN_DAYS_MAX: i32 = 397;

/// Maximum length of a client certificate with its chain, and of its key, in bytes (ours): fits a chain of
/// eight certificates.
const PEM_BYTES_MAX: u32 = 16_384;

/// An HTTP monitor (§2.1).
pub static HTTP_MONITOR: Resource = Resource {
    name: "service_http_monitor",
    description: "Sends an HTTP request from each of its regions and checks the response.",
    fields: &[
        monitor::NAME,
        Field::required(
            "url",
            Shape::HttpUrl { max: monitor::TARGET_CHARS_MAX },
            "Absolute http or https URL to request; at most 2048 characters.",
        ),
        monitor::PERIODICITY,
        Field::default(
            "method",
            Shape::OneOf(Method::WORDS),
            Value::Text("GET"),
            "Method of the request.",
        ),
        Field::default(
            "body",
            Shape::Text { min: 0, max: BODY_CHARS_MAX },
            Value::Text(""),
            "Body of the request, sent for POST, PUT and PATCH; at most 65536 characters.",
        )
        .redacted(Redaction::Text),
        monitor::TIMEOUT,
        monitor::DEGRADED_AT,
        monitor::RETRY,
        Field::default(
            "follow_redirects",
            Shape::Bool,
            Value::Bool(true),
            "Whether redirects are followed, up to 10 of them.",
        ),
        monitor::IP_VERSION,
        Field::default(
            "certificate_warn_days",
            Shape::Integer { min: 0, max: CERTIFICATE_WARN_DAYS_MAX },
            Value::Integer(0),
            "Days before the expiry of a certificate from which the monitor is degraded, 0 to 397; 0 means never. \
             An expired certificate is a failure in any case.",
        ),
        Field::optional(
            "client_certificate",
            Shape::Certificates { max: PEM_BYTES_MAX },
            "Certificate for servers that require one from their clients, in PEM, followed by the rest of its \
             chain; at most 16384 bytes. The check presents it only to the origin of `url`, over https.",
        ),
        Field::optional(
            "client_key",
            Shape::PrivateKey { max: PEM_BYTES_MAX },
            "Private key of `client_certificate`, in PEM (PKCS#8, PKCS#1 or SEC1), not encrypted; at most 16384 \
             bytes.",
        )
        .sensitive(),
        monitor::ACTIVE,
        monitor::PUBLIC,
        monitor::DESCRIPTION,
        monitor::TAGS,
        monitor::REGIONS,
        monitor::ID,
        monitor::STATUS,
    ],
    beyond: monitor::BEYOND,
    blocks: &[HEADERS, STATUS_CODE_ASSERTIONS, BODY_ASSERTIONS, JSON_ASSERTIONS, HEADER_ASSERTIONS],
    rules: &[Rule::Together { first: "client_certificate", second: "client_key" }],
    import: Some("<monitor_id>"),
};

const HEADERS: Block = Block {
    name: "headers",
    max: Some(20),
    fields: &[
        Field::required(
            "key",
            Shape::HeaderName { max: HEADER_NAME_CHARS_MAX },
            "Name of the header; hop-by-hop headers and Content-Length cannot be set.",
        ),
        Field::required(
            "value",
            Shape::HeaderValue { max: HEADER_VALUE_CHARS_MAX },
            "Value of the header; may be empty.",
        )
        .redacted(Redaction::Absent),
    ],
    blocks: &[],
    description: "A header of the request; sent in the order given.",
};

const STATUS_CODE_ASSERTIONS: Block = Block {
    name: "status_code_assertions",
    max: Some(monitor::ASSERTIONS_MAX),
    fields: &[
        Field::required(
            "target",
            Shape::Integer { min: 100, max: 599 },
            "Status code to compare with, 100 to 599.",
        ),
        Field::required(
            "comparator",
            Shape::OneOf(NumberComparator::WORDS),
            "How the status code is compared with the target.",
        ),
    ],
    blocks: &[],
    description: "An assertion on the status code; without any it must be 2xx.",
};

const BODY_ASSERTIONS: Block = Block {
    name: "body_assertions",
    max: Some(monitor::ASSERTIONS_MAX),
    fields: &[
        monitor::assertion_target("Text to compare the body with; may be empty."),
        TEXT_COMPARATOR,
    ],
    blocks: &[],
    description: "An assertion on the response body, of which 1 MiB is read.",
};

const JSON_ASSERTIONS: Block = Block {
    name: "json_assertions",
    max: Some(monitor::ASSERTIONS_MAX),
    fields: &[
        Field::required(
            "path",
            Shape::JsonPath { max: JSON_PATH_CHARS_MAX },
            "JSONPath (RFC 9535) of the values to compare, such as `$.status`; at most 512 characters.",
        ),
        monitor::assertion_target("Text or number to compare the values with; may be empty."),
        TEXT_COMPARATOR,
    ],
    blocks: &[],
    description: "An assertion on values in a response body of JSON, of which 1 MiB is read.",
};

const HEADER_ASSERTIONS: Block = Block {
    name: "header_assertions",
    max: Some(monitor::ASSERTIONS_MAX),
    fields: &[
        Field::required(
            "key",
            Shape::AnswerHeaderName { max: HEADER_NAME_CHARS_MAX },
            "Name of the response header, in any case.",
        ),
        monitor::assertion_target("Text to compare the header's value with; may be empty."),
        TEXT_COMPARATOR,
    ],
    blocks: &[],
    description: "An assertion on a response header.",
};

const TEXT_COMPARATOR: Field = Field::required(
    "comparator",
    Shape::OneOf(TextComparator::WORDS),
    "How the text is compared with the target. For `matches` and `not_matches`, the target is a regular \
     expression.",
);
