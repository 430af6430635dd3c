//! Result of a test alert: the receiver's answer, and what to do if it was rejected.

use contract::notification::wire::{TestNotificationRequest, TestNotificationResponse};
use contract::rpc::{self, Error, MethodRequest as _};
use serde_json::{Map, Value as Json, json};

use crate::error::sentence;
use crate::form::Messages;
use crate::session::Member;
use crate::state::Dashboard;

/// Result of a test alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestOutcome {
    pub(crate) accepted: bool,
    /// Status of the response, if there was one.
    pub(crate) status: Option<i32>,
    /// Text of the response, or the reason that there was none.
    pub(crate) response: String,
    pub(crate) millis: i32,
    /// How to fix the failure. Empty on success.
    pub(crate) help: String,
}

impl TestOutcome {
    /// Returns a test that sent nothing.
    pub(super) fn unsent(error: &Error) -> Self {
        let reason = error.message.as_deref().unwrap_or("unknown reason");
        Self {
            accepted: false,
            status: None,
            response: sentence(reason),
            millis: 0,
            help: String::new(),
        }
    }

    /// Returns the outcome in one sentence, for a notice.
    pub(crate) fn in_short(&self) -> String {
        match (self.accepted, self.status) {
            (true, Some(status)) => {
                format!("The receiver accepted the test alert: {status} in {} ms.", self.millis)
            }
            (true, None) => "The receiver accepted the test alert.".to_owned(),
            (false, _) if self.help.is_empty() => "The test alert failed.".to_owned(),
            (false, _) => format!("The test alert failed. {}", sentence(&self.help)),
        }
    }
}

impl From<TestNotificationResponse> for TestOutcome {
    fn from(response: TestNotificationResponse) -> Self {
        Self {
            accepted: response.accepted,
            status: response.status,
            response: response.response,
            millis: response.duration_ms,
            help: if response.help.is_empty() { response.help } else { sentence(&response.help) },
        }
    }
}

/// Sends a test alert through a channel that is not saved. Fails with messages if its form is not
/// valid.
pub(super) async fn test_unsaved(
    state: &Dashboard,
    member: &Member,
    notification: &Map<String, Json>,
) -> Result<TestOutcome, Messages> {
    let request = json!({ "notification": notification });
    match state.send_json(member.caller(), TestNotificationRequest::PATH, &request).await {
        Ok(json) => Ok(read(&json)),
        Err(error) if rpc::field_violations(&error).is_empty() => Ok(TestOutcome::unsent(&error)),
        Err(error) => Err(Messages::from_error(&error, "notification")),
    }
}

fn read(json: &Json) -> TestOutcome {
    let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
    let number = |field: &str| json[field].as_i64().and_then(|it| i32::try_from(it).ok());
    TestNotificationResponse {
        accepted: json["accepted"].as_bool().unwrap_or_default(),
        status: number("status"),
        response: text("response"),
        duration_ms: number("durationMs").unwrap_or_default(),
        help: text("help"),
    }
    .into()
}
