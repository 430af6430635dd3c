//! Errors of screens, each as a page that says what happened and what to do.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use contract::rpc::{self, Code};
use http::StatusCode;
use rules::Role;
use store::StoreError;
use web::cache::ReadError;

use crate::html::{self, Message};

/// Time after which a refused report may be requested again.
const REPORT_PAUSE: Duration = Duration::from_secs(5);

/// Text about a form that did not arrive.
const UNFINISHED: &str = "The connection was too slow or the server is receiving too much. Nothing was \
                          changed. Try again.";
/// Title about a form.
const UNREADABLE: &str = "The form could not be read";

/// Reason that a screen cannot be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScreenError {
    #[error("the page does not exist")]
    NotFound,
    #[error("the session has ended")]
    SignedOut,
    #[error("the request came from another site")]
    CrossSite,
    /// The link is not from this server, was used or has expired.
    #[error("the link is not valid")]
    InvalidLink,
    #[error("the link was used already")]
    LinkUsed,
    #[error("the link has expired")]
    LinkExpired,
    /// Single sign-on did not work.
    #[error("single sign-on failed: {0}")]
    SingleSignOn(String),
    #[error("the role `{has}` is not sufficient; `{needs}` is")]
    MissingRole { has: Role, needs: Role },
    #[error("the database does not answer")]
    SlowDatabase,
    /// A handler that may take longer took longer still.
    #[error("the answer took too long")]
    TooSlow,
    /// The form could not be read.
    #[error("{0}")]
    Malformed(String),
    /// The query of the address could not be read.
    #[error("{0}")]
    MalformedQuery(String),
    /// The person may not accept the invitation.
    #[error("{0}")]
    RefusedInvitation(String),
    /// The form was too slow, or its connection broke.
    #[error("the form did not arrive")]
    UnfinishedForm,
    #[error("the form is too large")]
    LargeForm,
    #[error("the content is not a form")]
    OtherContent,
    #[error("too many attempts; try again in {} s", .retry_after.as_secs().max(1))]
    TooManyAttempts { retry_after: Duration },
    /// The workspace has too many uptime reports computed at once.
    #[error("too many reports of this workspace are computed; try again in a moment")]
    BusyReports,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Call(#[from] rpc::Error),
}

impl<V> From<ReadError<V>> for ScreenError {
    /// Reports a failed read of a cache.
    fn from(failed: ReadError<V>) -> Self {
        tracing::error!("failed to read what a screen shows: {}", failed.why);
        Self::SlowDatabase
    }
}

impl ScreenError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound | Self::Store(StoreError::NotFound { .. }) => StatusCode::NOT_FOUND,
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::CrossSite | Self::MissingRole { .. } | Self::SingleSignOn(_) => {
                StatusCode::FORBIDDEN
            }
            Self::InvalidLink | Self::LinkUsed | Self::LinkExpired => StatusCode::GONE,
            Self::SlowDatabase => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooSlow => StatusCode::GATEWAY_TIMEOUT,
            Self::Malformed(_)
            | Self::MalformedQuery(_)
            | Self::UnfinishedForm
            | Self::RefusedInvitation(_) => StatusCode::BAD_REQUEST,
            Self::LargeForm => StatusCode::PAYLOAD_TOO_LARGE,
            Self::OtherContent => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooManyAttempts { .. } | Self::BusyReports => StatusCode::TOO_MANY_REQUESTS,
            Self::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Call(error) => error.http_status(),
        }
    }

    fn message(&self) -> Message {
        let (title, text) = match self {
            Self::NotFound | Self::Store(StoreError::NotFound { .. }) => not_found(),
            Self::Call(error) if error.code == Code::NotFound => not_found(),
            Self::SignedOut => (
                "You are signed out",
                "Your session has ended, and nothing was changed. Sign in again.".to_owned(),
            ),
            Self::CrossSite => (
                "This request came from another site",
                "For your safety, nothing was changed. Open the page here and try again.".to_owned(),
            ),
            Self::InvalidLink => (
                "This link is not valid",
                "It was used already, has expired, or is not from this server. If you have an \
                 account, sign in."
                    .to_owned(),
            ),
            Self::LinkUsed => (
                "This link was used already",
                "Each link works once. If you still cannot sign in, request a new link from the \
                 login page."
                    .to_owned(),
            ),
            Self::LinkExpired => (
                "This link has expired",
                "Links are valid for a short time. Request a new one.".to_owned(),
            ),
            Self::SingleSignOn(why) => ("You are not signed in", sentence(why)),
            Self::MissingRole { has, needs } => (
                "Your role does not allow this",
                format!(
                    "You are {} of this workspace; this needs the role {needs}. An admin can change \
                     your role.",
                    with_article(*has)
                ),
            ),
            Self::SlowDatabase => (
                "The database does not answer",
                "Checks and alerts go on as far as they can. Try again in a moment. A change that you \
                 just made may have been stored."
                    .to_owned(),
            ),
            Self::TooSlow => (
                "It took too long",
                "Try again, or choose less at once, such as a shorter period. A change that you just \
                 made may have been stored."
                    .to_owned(),
            ),
            Self::TooManyAttempts { .. } => ("Too many attempts", sentence(&self.to_string())),
            Self::BusyReports => ("Too many reports at once", sentence(&self.to_string())),
            Self::Malformed(why) => (UNREADABLE, advise(why, "Open the page again and repeat.")),
            Self::MalformedQuery(why) => {
                let advice = "Remove what follows the question mark.";
                ("The address could not be read", advise(why, advice))
            }
            Self::UnfinishedForm => ("The form did not arrive", advise("", UNFINISHED)),
            Self::LargeForm => ("The form is too large", advise("", "Shorten the texts and repeat.")),
            Self::OtherContent => {
                (UNREADABLE, advise("", "Send it as application/x-www-form-urlencoded."))
            }
            Self::RefusedInvitation(why) => ("You cannot accept this invitation", sentence(why)),
            Self::Store(_) => (
                "Something went wrong",
                "The server's log has the reason. Nothing was changed.".to_owned(),
            ),
            Self::Call(error) => {
                ("This did not work", sentence(error.message.as_deref().unwrap_or("unknown reason")))
            }
        };
        Message { title, text }
    }
}

impl IntoResponse for ScreenError {
    fn into_response(self) -> Response {
        if let Self::Store(error) = &self
            && !matches!(error, StoreError::NotFound { .. })
        {
            tracing::error!(%error, "a screen failed: {error}");
        }
        let response = html::message(self.status(), self.message());
        let retry_after = if let Self::TooManyAttempts { retry_after } = &self {
            Some(*retry_after)
        } else {
            matches!(self, Self::BusyReports).then_some(REPORT_PAUSE)
        };
        match retry_after {
            Some(retry_after) => html::with_retry_after(response, retry_after),
            None => response,
        }
    }
}

fn not_found() -> (&'static str, String) {
    let text = "It does not exist, or it belongs to a workspace that you are not a member of.";
    ("This page does not exist", text.to_owned())
}

/// Returns a text that says what is wrong, if it is known, and the way out.
fn advise(why: &str, advice: &str) -> String {
    if why.is_empty() { advice.to_owned() } else { format!("{} {advice}", sentence(why)) }
}

/// Returns the name of a role with its article.
pub(crate) fn with_article(role: Role) -> String {
    let article = match role {
        Role::Viewer => "a",
        Role::Owner | Role::Admin | Role::Editor => "an",
    };
    format!("{article} {role}")
}

/// Returns whether an error is about the values that a person entered, or about a limit. The form stays.
pub(crate) const fn is_about_input(code: Code) -> bool {
    matches!(
        code,
        Code::InvalidArgument
            | Code::AlreadyExists
            | Code::FailedPrecondition
            | Code::ResourceExhausted
    )
}

/// Returns a message of a program as a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|it| it.to_uppercase().collect()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}
