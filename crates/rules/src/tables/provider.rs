//! The Terraform provider's arguments (§5.9) and our additions. It is not a resource and not in the
//! lists of resources.

use super::monitor::TARGET_CHARS_MAX;
use crate::field::{Field, Resource, Shape, Value};

/// Maximum length of a key, in characters (ours).
const KEY_CHARS_MAX: u32 = 256;
/// Maximum timeout of one call, in seconds (ours).
const REQUEST_TIMEOUT_SECONDS_MAX: i32 = 3_600;
/// Maximum number of retries of one call (ours).
const RETRIES_MAX: i32 = 20;

/// The provider (§5.9).
pub static PROVIDER: Resource = Resource {
    name: "service",
    description: "Manages monitors, notification channels, status pages, components and component \
                  groups. Works with Terraform 1.8 and newer, and with OpenTofu.",
    fields: &[
        Field::required(
            "api_token",
            Shape::Line { min: 1, max: KEY_CHARS_MAX },
            "API key of the workspace. Defaults to the environment variable SERVICE_API_TOKEN.",
        )
        .sensitive(),
        Field::optional(
            "base_url",
            Shape::HttpUrl { max: TARGET_CHARS_MAX },
            "URL of the service, usually ending in /rpc. Defaults to the environment variable \
             SERVICE_API_URL, or to http://127.0.0.1:8080/rpc. With https, trusts certificates of public \
             authorities and of the machine's; SSL_CERT_FILE and SSL_CERT_DIR name others to use \
             instead of the machine's. Follows HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
        ),
        // Our additions.
        Field::default(
            "request_timeout",
            Shape::Integer { min: 1, max: REQUEST_TIMEOUT_SECONDS_MAX },
            Value::Integer(60),
            "Timeout of one call in seconds, 1 to 3600; each retry has the full time.",
        ),
        Field::default(
            "max_retries",
            Shape::Integer { min: 0, max: RETRIES_MAX },
            Value::Integer(4),
            "Maximum number of retries of a call that is safe to repeat, 0 to 20. Retried are \
             connection errors, timeouts, rate limits, and conflicts with a unique value, which the \
             same apply may be about to change.",
        ),
    ],
    beyond: &[],
    blocks: &[],
    rules: &[],
    import: None,
};
