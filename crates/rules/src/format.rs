//! The formats of texts, one function per format. `field` assigns formats to shapes, and `validate`
//! checks whole inputs.

pub(crate) mod clock;
pub(crate) mod contact;
pub(crate) mod header;
mod host;
mod json_path;
mod local_url;
mod pattern;
pub(crate) mod pem;
pub(crate) mod url;

use std::borrow::Cow;

pub use clock::{Interval, TimeOfDay, TimeZone};
pub use header::CONNECTION_HEADERS;
pub(crate) use host::authority;
pub use host::{DomainName, Host, HostPort};
pub use json_path::JsonPath;
pub use local_url::is_local_url;
pub use pattern::{CompiledPattern, PATTERN_WORK_MAX, Pattern};
pub(crate) use url::without_credentials;

/// Error for a text in the wrong format: what is allowed, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(pub Cow<'static, str>);

impl From<&'static str> for FormatError {
    fn from(allowed: &'static str) -> Self {
        Self(Cow::Borrowed(allowed))
    }
}

impl From<String> for FormatError {
    fn from(allowed: String) -> Self {
        Self(Cow::Owned(allowed))
    }
}
