//! The end of every way to sign in: starts a session, and leads to where the person wanted to go.

use std::fmt;

use axum::response::Response;
use http::HeaderValue;
use http::header::SET_COOKIE;
use rules::UserId;

use crate::error::ScreenError;
use crate::html::redirect;
use crate::origin::Client;
use crate::session;
use crate::state::Dashboard;

/// Way in which a person proved who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInWay {
    SetUpLink,
    Invitation,
    Password,
    PasswordAndCode,
    Passkey,
    SingleSignOn,
}

impl fmt::Display for SignInWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SetUpLink => "with the set-up link",
            Self::Invitation => "with an invitation",
            Self::Password => "with a password",
            Self::PasswordAndCode => "with a password and a code",
            Self::Passkey => "with a passkey",
            Self::SingleSignOn => "with single sign-on",
        })
    }
}

/// Starts a session and leads to a path of this server.
pub(crate) async fn finish(
    state: &Dashboard,
    user: UserId,
    client: &Client,
    (way, next): (SignInWay, &str),
) -> Result<Response, ScreenError> {
    let cookie = start_session(state, user, client, way).await?;
    let mut response = redirect(next);
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

/// Starts a session, and returns its cookie. Sessions that a browser had before are not continued.
pub(crate) async fn start_session(
    state: &Dashboard,
    user: UserId,
    client: &Client,
    way: SignInWay,
) -> Result<HeaderValue, ScreenError> {
    let cookie = session::start(state, user, client).await?;
    state.audit((user, client.address), "user.sign_in", way.to_string()).await;
    Ok(cookie)
}

/// Returns the path to go to, or `/` if it leads to another site.
pub(crate) fn local_path(next: Option<String>) -> String {
    let is_local = |path: &String| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.bytes().all(|it| it.is_ascii_graphic() && it != b'\\')
    };
    next.filter(is_local).unwrap_or_else(|| "/".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sites_are_no_destination() {
        for (given, expected) in [
            (Some("/w/acme?q=1"), "/w/acme?q=1"),
            (Some("//evil.example"), "/"),
            (Some("/\\evil.example"), "/"),
            (Some("/\t/evil.example"), "/"),
            (Some("/\r\nset-cookie: a=b"), "/"),
            (Some("/ä"), "/"),
            (Some("https://evil.example"), "/"),
            (Some("javascript:alert(1)"), "/"),
            (Some(""), "/"),
            (None, "/"),
        ] {
            assert_eq!(local_path(given.map(str::to_owned)), expected, "{given:?}");
        }
    }
}
