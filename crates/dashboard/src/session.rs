//! Sessions in browsers: the cookie, and the person to whom it belongs. The cookie holds 256 random
//! bits, and the store their hash.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use rules::{UserId, WorkspaceId};
use store::{Membership, SessionHash, StoreError, User, UserSession};

use crate::backend::CallingMember;
use crate::origin::Client;
use crate::state::Dashboard;

const COOKIE_NAME: &str = "aloft_session";
/// Lifetime of a session.
const LIFETIME: Duration = Duration::from_hours(30 * 24);
/// Precision of a session's last use, so that not every request writes.
const USE_PRECISION: Duration = Duration::from_mins(5);

/// Cookie that scripts cannot read and that other sites' posts do not carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookie<'v> {
    pub(crate) name: &'static str,
    /// Value without characters that cookies reserve.
    pub(crate) value: &'v str,
    pub(crate) lifetime: Duration,
}

/// A person who signed in.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    pub(crate) user: User,
    pub(crate) session: UserSession,
    /// Workspaces of the person, by name.
    pub(crate) memberships: Vec<Membership>,
    /// Address of the browser that sent this request.
    pub(crate) address: IpAddr,
}

/// A person in one of their workspaces.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) signed_in: Arc<SignedIn>,
    pub(crate) membership: Membership,
}

impl Member {
    /// Returns the author of this person's calls.
    pub(crate) fn caller(&self) -> CallingMember {
        CallingMember {
            workspace: self.membership.workspace.id,
            user: self.signed_in.user.id,
            role: self.membership.role,
            address: self.signed_in.address,
        }
    }

    pub(crate) const fn workspace(&self) -> WorkspaceId {
        self.membership.workspace.id
    }

    /// Returns a path in the workspace, such as `/w/acme/monitors`.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/w/{}{rest}", self.membership.workspace.slug)
    }
}

/// Creates a session of a user and returns its cookie.
pub(crate) async fn start(
    state: &Dashboard,
    user: UserId,
    client: &Client,
) -> Result<HeaderValue, StoreError> {
    let (secret, now) = (state.ctx.secret_bytes(), state.ctx.now());
    let session = UserSession {
        id: state.ctx.new_id(),
        user,
        created_at: now,
        last_used_at: now,
        expires_at: now + LIFETIME,
        address: client.address.to_string(),
        user_agent: client.user_agent.clone(),
    };
    let hash = SessionHash::new(&secret);
    state.store.sessions().create(session, hash).await?;
    state.session_lookups.remember(hash);
    let value = URL_SAFE_NO_PAD.encode(secret);
    Ok(Cookie { name: COOKIE_NAME, value: &value, lifetime: LIFETIME }.header(client))
}

/// Returns the cookie that removes the session from the browser.
pub(crate) fn removal(client: &Client) -> HeaderValue {
    Cookie::removal(COOKIE_NAME).header(client)
}

/// Returns the person whose session is in these headers.
pub(crate) async fn find(
    state: &Dashboard,
    headers: &HeaderMap,
    address: IpAddr,
) -> Result<Option<SignedIn>, StoreError> {
    let Some(hash) = hash(headers) else { return Ok(None) };
    let now = state.ctx.now();
    let lookup = state.session_lookups.begin(hash).await;
    let found = state.store.sessions().find(hash, now).await?;
    drop(lookup);
    let Some((session, user)) = found else {
        state.session_lookups.forget(hash);
        return Ok(None);
    };
    state.session_lookups.remember(hash);
    if now.since(session.last_used_at) > USE_PRECISION {
        state.store.sessions().record_use(session.id, now).await?;
    }
    let memberships = state.store.users().memberships(user.id).await?;
    Ok(Some(SignedIn { user, session, memberships, address }))
}

/// Returns the hash of the session in these headers, which may be an invented one.
pub(crate) fn hash(headers: &HeaderMap) -> Option<SessionHash> {
    let secret = URL_SAFE_NO_PAD.decode(read_cookie(headers, COOKIE_NAME)?).ok()?;
    Some(SessionHash::new(&secret))
}

/// Returns the value of a cookie in a request.
pub(crate) fn read_cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies =
        lines.flat_map(|line| line.split(';')).filter_map(|it| it.trim().split_once('='));
    cookies.find(|(given, _)| *given == name).map(|(_, value)| value)
}

impl Cookie<'_> {
    /// Returns the cookie that removes the one with this name.
    pub(crate) const fn removal(name: &'static str) -> Self {
        Self { name, value: "", lifetime: Duration::ZERO }
    }

    /// Returns the header that sets it. It is sent without TLS only if this client uses none.
    pub(crate) fn header(self, client: &Client) -> HeaderValue {
        let Self { name, value, lifetime } = self;
        let (seconds, secure) =
            (lifetime.as_secs(), if client.is_secure { "; Secure" } else { "" });
        let cookie =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).expect("names and base64 are headers")
    }
}
