//! The page of the account, with messages beside the fields of its forms.

use askama::Template;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::PasskeyId;
use store::{Passkey, SecondFactor, UserSession};

use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::passwords;
use crate::session::SignedIn;
use crate::state::Dashboard;

/// Messages beside fields. With any, the page is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Problems {
    pub(super) name: Option<String>,
    /// Name that the person entered, if it is not the stored one.
    pub(super) entered_name: Option<String>,
    pub(super) email: Option<String>,
    /// Address that the person entered, if it is not the stored one.
    pub(super) entered_email: Option<String>,
    /// About the password that confirms a new address.
    pub(super) email_password: Option<String>,
    /// About the current password.
    pub(super) current: Option<String>,
    /// About the new password.
    pub(super) password: Option<String>,
    /// About the password that confirms a change of the second factor.
    pub(super) second_factor: Option<String>,
    /// About one of the passkeys.
    pub(super) passkey: Option<PasskeyProblem>,
}

/// Message about a passkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PasskeyProblem {
    pub(super) id: PasskeyId,
    pub(super) why: String,
    /// Name that the person entered, if it is about the name.
    pub(super) entered_name: Option<String>,
}

impl Problems {
    /// Returns the message about this passkey.
    fn of_passkey(&self, passkey: &Passkey) -> Option<&PasskeyProblem> {
        self.passkey.as_ref().filter(|it| it.id == passkey.id)
    }

    /// Returns the name that the form of a passkey shows.
    fn name_of_passkey<'p>(&'p self, passkey: &'p Passkey) -> &'p str {
        let problem = self.of_passkey(passkey);
        problem.and_then(|it| it.entered_name.as_deref()).unwrap_or(&passkey.name)
    }
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    has_password: bool,
    can_send_emails: bool,
    password_chars_min: usize,
    second_factor: Option<SecondFactor>,
    passkeys: Vec<Passkey>,
    has_passkeys: bool,
    sessions: Vec<SessionRow>,
    problems: Problems,
}

/// A session as the page lists it.
struct SessionRow {
    session: UserSession,
    is_current: bool,
}

/// Renders the page.
pub(super) async fn render(
    state: &Dashboard,
    signed_in: &SignedIn,
    request: &HeaderMap,
    problems: Problems,
) -> Result<Response, ScreenError> {
    let (user, current) = (signed_in.user.id, signed_in.session.id);
    let sessions = state.store.sessions().list(user, state.ctx.now()).await?;
    let sessions = sessions
        .into_iter()
        .map(|session| SessionRow { is_current: session.id == current, session })
        .collect();
    let (_, password_hash) = state.store.users().get(user).await?;
    let is_invalid = problems != Problems::default();
    let page = AccountPage {
        frame: Frame::of_user(signed_in, Section::Other, "Your account", request),
        has_password: !password_hash.expose().is_empty(),
        can_send_emails: state.backend.can_send_emails(),
        password_chars_min: passwords::CHARS_MIN,
        second_factor: state.store.second_factors().find(user).await?,
        passkeys: state.store.passkeys().list(user).await?,
        has_passkeys: state.passkeys.is_available(),
        sessions,
        problems,
    };
    let status = if is_invalid { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(html::page_with_status(status, &page, request))
}
