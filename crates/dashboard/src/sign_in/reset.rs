//! New passwords by email: a link that is valid for half an hour and works once. No response reveals
//! whether an account exists.

use std::net::IpAddr;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, StatusCode};
use rules::{PasskeyId, Secret, UserId};
use serde::Deserialize;
use store::{
    Actor, AuditContext, Passkey, Passkeys, ResetChoice, ResetLink, ResetLinkState, SessionHash,
    StoreError,
};

use crate::emails::{AccountEmail, EmailLink};
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::{self, BareFrame, Message, redirect_with_notice};
use crate::origin::Client;
use crate::passwords;
use crate::route::{Access, Route};
use crate::state::Dashboard;

/// Time in which a link is valid.
const LIFETIME: Duration = Duration::from_mins(30);
/// Maximum length of an address in the form, in characters: the longest that can exist.
const EMAIL_CHARS_MAX: usize = 254;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/forgot", Access::Anyone, || get(ask)),
    Route::post("/forgot", Access::Anyone, || post(send)),
    Route::get("/reset/{token}", Access::Anyone, || get(show)),
    Route::post("/reset/{token}", Access::Anyone, || post(submit)),
];

/// Form that asks for a link.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Address {
    email: String,
}

/// Form that sets the password.
struct NewPassword {
    password: Secret<String>,
    /// Passkeys that the person ticked.
    removed: Vec<PasskeyId>,
}

#[derive(Template)]
#[template(path = "forgot.html")]
struct ForgotPage {
    frame: BareFrame,
    can_send: bool,
    wrong: Option<String>,
}

#[derive(Template)]
#[template(path = "reset.html")]
struct ResetPage<'a> {
    frame: BareFrame,
    token: &'a str,
    password_chars_min: usize,
    /// Passkeys of the account, each with whether it is ticked.
    passkeys: Vec<(Passkey, bool)>,
    wrong: Option<String>,
}

/// Shows the form that asks for a link.
pub(crate) async fn ask(State(state): State<Dashboard>, request: HeaderMap) -> Response {
    html::page(&ForgotPage::new(&state, None), &request)
}

/// Sends a link, if the account exists. The response comes first and is the same for every address.
pub(crate) async fn send(
    State(state): State<Dashboard>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Address>,
) -> Response {
    let email: String = given.email.trim().chars().take(EMAIL_CHARS_MAX).collect();
    if let Err(retry_after) = state.limits.acquire_reset(&email, client.address) {
        let why = sentence(&ScreenError::TooManyAttempts { retry_after }.to_string());
        let page = ForgotPage::new(&state, Some(why));
        let refused = html::page_with_status(StatusCode::TOO_MANY_REQUESTS, &page, &request);
        return html::with_retry_after(refused, retry_after);
    }
    if state.backend.can_send_emails() {
        let sender = state.clone();
        state.emails.run(async move {
            if let Err(why) = send_link(&sender, &email, client.address).await {
                tracing::error!("failed to send a link for a new password: {why}");
            }
        });
    }
    let text = "If an account has this address, an email with a link is on its way. The link is valid \
                for 30 minutes and works once.";
    html::message(StatusCode::OK, Message { title: "Check your inbox", text: text.to_owned() })
}

/// Shows the form for the new password.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let attempt = state.try_link(&client)?;
    let hash = hash_of(&token);
    let found = state.store.reset_links().find(hash, state.ctx.now()).await?;
    let user = state.require_valid(found, &client).await?;
    state.limits.give_back(&attempt);
    let passkeys = state.store.passkeys().list(user).await?;
    Ok(html::page(&ResetPage::new(&token, (passkeys, &[]), None), &request))
}

/// Sets the password, removes the ticked passkeys, ends all sessions and leads to the login.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let given = NewPassword::new(posted);
    let attempt = state.try_link(&client)?;
    let hash = hash_of(&token);
    let found = state.store.reset_links().find(hash, state.ctx.now()).await?;
    let user = state.require_valid(found, &client).await?;
    let passkeys = state.store.passkeys().list(user).await?;
    let removed = given.removed;
    let refuse = |why: String| {
        let page = ResetPage::new(&token, (passkeys, &removed), Some(why));
        html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request)
    };
    let (account, _) = state.store.users().get(user).await?;
    if let Err(weak) = passwords::check_new(&given.password, &account.email) {
        return Ok(refuse(format!("It {weak}.")));
    }
    let hashed = state.passwords.hash(given.password, state.ctx.secret_bytes()).await;
    let password_hash = match hashed {
        Ok(hash) => hash,
        Err(busy) => return Ok(refuse(sentence(&busy.to_string()))),
    };
    let now = state.ctx.now();
    let (author, address) = (state.clone(), client.address);
    let change = move |user| author.change_by(user, address);
    let text = changed_text(removed.len());
    let new = ResetChoice { password_hash, removed_passkeys: removed };
    let found = state.store.reset_links().redeem(hash, new, change, now).await?;
    state.require_valid(found, &client).await?;
    state.limits.give_back(&attempt);
    state.email_later(
        user,
        AccountEmail { to: account.email, subject: "Your password was changed", text, link: None },
    );
    Ok(redirect_with_notice("/login", "Your password was changed. Sign in with it."))
}

/// Returns the text of the email after a change with a link.
fn changed_text(removed: usize) -> String {
    let passkeys = match removed {
        0 => String::new(),
        1 => " and removed a passkey".to_owned(),
        count => format!(" and removed {count} passkeys"),
    };
    format!(
        "Somebody set a new password for your account with a link from an email{passkeys}. If it was not \
         you, ask an owner of your workspace for help."
    )
}

/// Creates a link and sends it, if the account exists and may get one.
async fn send_link(state: &Dashboard, email: &str, address: IpAddr) -> Result<(), String> {
    let failed = |error: StoreError| error.to_string();
    let found = state.store.users().find_for_sign_in(email).await.map_err(failed)?;
    let Some((user, _)) = found else { return Ok(()) };
    if !state.limits.try_reset_email(user.id) {
        tracing::info!("sent no link for a new password, because three were sent in an hour");
        return Ok(());
    }
    let secret = state.ctx.secret_bytes();
    let link = ResetLink {
        hash: SessionHash::new(&secret),
        user: user.id,
        expires_at: state.ctx.now() + LIFETIME,
    };
    let change = AuditContext::new(Actor::Server, state.ctx.now()).from_address(Some(address));
    state.store.reset_links().create(link, change).await.map_err(failed)?;
    let email = AccountEmail {
        to: user.email,
        subject: "Set a new password",
        text: "Somebody asked for a new password of your account. The link is valid for 30 minutes and \
               works once. If it was not you, ignore this email: nothing was changed."
            .to_owned(),
        link: Some(EmailLink {
            label: "Set a new password",
            url: state.url(&format!("/reset/{}", URL_SAFE_NO_PAD.encode(secret))),
        }),
    };
    state.email(user.id, &email).await
}

/// Returns the hash of a link's token.
fn hash_of(token: &str) -> SessionHash {
    SessionHash::new(&URL_SAFE_NO_PAD.decode(token).unwrap_or_default())
}

impl Dashboard {
    /// Refuses and records a link that cannot be used.
    async fn require_valid(
        &self,
        found: ResetLinkState,
        client: &Client,
    ) -> Result<UserId, ScreenError> {
        let (user, why, refused) = match found {
            ResetLinkState::Valid(user) => return Ok(user),
            ResetLinkState::Used(user) => (user, "used", ScreenError::LinkUsed),
            ResetLinkState::Expired(user) => (user, "expired", ScreenError::LinkExpired),
            ResetLinkState::Unknown => {
                self.audit_stranger("reset_link.refuse", "forged", client.address).await;
                return Err(ScreenError::InvalidLink);
            }
        };
        let who = (user, client.address);
        self.audit(who, "user.reset_link_refuse", why.to_owned()).await;
        Err(refused)
    }
}

impl ForgotPage {
    fn new(state: &Dashboard, wrong: Option<String>) -> Self {
        let can_send = state.backend.can_send_emails();
        Self { frame: BareFrame { title: "Forgot your password?" }, can_send, wrong }
    }
}

impl NewPassword {
    /// Reads the form. A missing password is empty, and so too short.
    fn new(posted: Vec<(String, String)>) -> Self {
        let (mut password, mut removed) = (Secret::new(String::new()), Vec::new());
        for (name, value) in posted {
            match name.as_str() {
                "password" => password = Secret::new(value),
                "remove" => removed.extend(PasskeyId::parse(&value)),
                _ => {}
            }
        }
        removed.truncate(Passkeys::MAX as usize);
        Self { password, removed }
    }
}

impl<'a> ResetPage<'a> {
    fn new(
        token: &'a str,
        (passkeys, removed): (Vec<Passkey>, &[PasskeyId]),
        wrong: Option<String>,
    ) -> Self {
        let frame = BareFrame { title: "Set a new password" };
        let ticked = |passkey: Passkey| {
            let is_removed = removed.contains(&passkey.id);
            (passkey, is_removed)
        };
        let passkeys = passkeys.into_iter().map(ticked).collect();
        Self { frame, token, password_chars_min: passwords::CHARS_MIN, passkeys, wrong }
    }
}
