//! Invitations as the invited person sees them: the email, and the page behind its link.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use domain::notify::{ListLinks, Mail};
use http::{HeaderMap, StatusCode};
use rules::{Role, Secret, Validator, tables};
use serde::Deserialize;
use store::{Invitation, InvitationHash, NewUser, StoreError, Workspace};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::form::message;
use crate::html::{self, BareFrame, encoded, redirect, redirect_with_notice};
use crate::origin::Client;
use crate::passwords;
use crate::route::{Access, Route};
use crate::session::{self, Member};
use crate::sign_in::{SignInWay, finish};
use crate::sign_in_limits::Attempt;
use crate::state::Dashboard;

/// Time for which the page with the link waits for the outcome of its email.
const OUTCOME_WITHIN: Duration = Duration::from_secs(1);

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/invite/{token}", Access::Anyone, || get(show)),
    Route::post("/invite/{token}", Access::Anyone, || post(accept)),
    Route::post("/invite/{token}/account", Access::Anyone, || post(create_account)),
];

/// The form of a new account.
#[derive(Debug, Deserialize)]
pub(crate) struct AccountForm {
    #[serde(default)]
    name: String,
    #[serde(default)]
    email: String,
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
}

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage<'a> {
    frame: BareFrame,
    token: &'a str,
    workspace: String,
    role: Role,
    invited_by: Option<String>,
    /// Address of the person who is signed in.
    signed_in: Option<String>,
    name: &'a str,
    email: &'a str,
    /// Whether the invitation is for this address only.
    is_for_address: bool,
    errors: AccountErrors,
    password_chars_min: usize,
}

/// Messages beside the fields.
#[derive(Debug, Default)]
struct AccountErrors {
    name: Option<String>,
    email: Option<String>,
    password: Option<String>,
}

#[derive(Template)]
#[template(path = "invitation_email.html")]
struct InvitationEmail<'a> {
    workspace: &'a str,
    invited_by: &'a str,
    link: &'a str,
}

/// Sends an invitation in the background, and waits a moment for the outcome, because a slow mail server
/// must not delay the only page with the link. Fails with the reason if it was not sent.
pub(crate) async fn send(
    state: &Dashboard,
    member: &Member,
    email: &str,
    link: &str,
) -> Result<(), String> {
    if !state.backend.can_send_emails() {
        return Err("The server has no mail server. Send the link yourself.".to_owned());
    }
    if !state.limits.try_invitation_email(member.signed_in.address) {
        let why = "Your network sent many emails to new addresses in the last hour.";
        return Err(format!("{why} Send the link yourself."));
    }
    let workspace = &member.membership.workspace;
    let (name, by) = (&workspace.name, &member.signed_in.user.name);
    let id = format!("invitation-{:016x}", state.ctx.random());
    let mail = Mail {
        to: email.to_owned(),
        subject: format!("{by} invites you to {name} on Aloft"),
        text: format!(
            "{by} invites you to the workspace {name} on Aloft.\n\nAccept within seven days:\n\n\
             {link}\n\nIf you do not know {by}, ignore this email.\n"
        ),
        html: html::render(&InvitationEmail { workspace: name, invited_by: by, link }),
        thread: id.clone(),
        id,
        list: ListLinks::None,
    };
    let sending = state.backend.send_email(workspace.id, mail);
    let (teller, outcome) = oneshot::channel();
    let is_sent_later = state.emails.run(async move {
        let sent = sending.await;
        if let Err(Err(why)) = teller.send(sent) {
            tracing::error!("failed to send an invitation: {why}");
        }
    });
    if !is_sent_later {
        return Err("Too many emails are being sent. Send the link yourself.".to_owned());
    }
    match timeout(OUTCOME_WITHIN, outcome).await {
        Ok(Ok(Err(why))) => Err(format!("The email was not sent: {}", sentence(&why))),
        Ok(Ok(Ok(())) | Err(_)) | Err(_) => Ok(()),
    }
}

/// Shows the invitation.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let (attempt, open) = find_open(&state, &token, &client).await?;
    state.limits.give_back(&attempt);
    page(&state, (&token, open), (&client, &request), (None, AccountErrors::default())).await
}

/// Accepts an invitation as the person who is signed in.
pub(crate) async fn accept(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let Some(signed_in) = session::find(&state, &request, client.address).await? else {
        return Ok(redirect(&format!("/login?next=/invite/{}", encoded(&token))));
    };
    let (attempt, _) = find_open(&state, &token, &client).await?;
    let user = signed_in.user.id;
    let change = state.change_by(user, client.address);
    let accepted =
        state.store.invitations().accept(InvitationHash::new(&token), user, change).await;
    let workspace = accepted.map_err(refused)?;
    state.limits.give_back(&attempt);
    let slug = state.store.workspaces().get(workspace).await?.slug;
    Ok(redirect_with_notice(&format!("/w/{slug}"), "You joined the workspace."))
}

/// Creates an account that accepts an invitation, and signs in.
pub(crate) async fn create_account(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<AccountForm>,
) -> Result<Response, ScreenError> {
    // A hash is expensive, so only people with an open invitation get one.
    let (attempt, open) = find_open(&state, &token, &client).await?;
    let refuse = async |errors| {
        page(&state, (&token, open.clone()), (&client, &request), (Some(&given), errors)).await
    };
    let (name, email) = match validate(&given) {
        Ok(valid) => valid,
        Err(errors) => return refuse(errors).await,
    };
    let salt = state.ctx.secret_bytes();
    let hash = match state.passwords.hash(given.password.clone(), salt).await {
        Ok(hash) => hash,
        Err(busy) => {
            let errors = AccountErrors {
                password: Some(sentence(&busy.to_string())),
                ..AccountErrors::default()
            };
            return refuse(errors).await;
        }
    };
    let user = NewUser { id: state.ctx.new_id(), email, name, password_hash: hash };
    let id = user.id;
    let change = state.change_by(id, client.address);
    let hash = InvitationHash::new(&token);
    let workspace = match state.store.invitations().accept_with_new_user(hash, user, change).await {
        Ok(workspace) => workspace,
        Err(StoreError::AlreadyExists { .. }) => {
            let email = Some("An account has this address. Sign in to accept.".to_owned());
            return refuse(AccountErrors { email, ..AccountErrors::default() }).await;
        }
        Err(error) => return Err(refused(error)),
    };
    state.limits.give_back(&attempt);
    let slug = state.store.workspaces().get(workspace).await?.slug;
    finish(&state, id, &client, (SignInWay::Invitation, &format!("/w/{slug}"))).await
}

fn validate(given: &AccountForm) -> Result<(String, String), AccountErrors> {
    let mut fields = Validator::new(&tables::USER);
    let name = fields.text("name", Some(given.name.trim().to_owned()));
    let email = fields.text("email", Some(given.email.trim().to_owned()));
    let valid = fields.finish(name.zip(email));
    let weak = passwords::check_new(&given.password, given.email.trim()).err();
    let password = weak.map(|weak| format!("It {weak}."));
    match (valid, password) {
        (Ok(valid), None) => Ok(valid),
        (valid, password) => {
            let violations = valid.err().unwrap_or_default();
            let (name, email) = (message(&violations, "name"), message(&violations, "email"));
            Err(AccountErrors { name, email, password })
        }
    }
}

/// Counts an attempt, and returns it with the open invitation of this token.
async fn find_open(
    state: &Dashboard,
    token: &str,
    client: &Client,
) -> Result<(Attempt, (Invitation, Workspace)), ScreenError> {
    let attempt = state.try_link(client)?;
    let found = state.store.invitations().find(InvitationHash::new(token), state.ctx.now()).await?;
    if found.is_none() {
        state.audit_stranger("invitation.refuse", "unknown or expired", client.address).await;
    }
    Ok((attempt, found.ok_or(ScreenError::InvalidLink)?))
}

/// Returns the page of an open invitation.
async fn page(
    state: &Dashboard,
    (token, (invitation, workspace)): (&str, (Invitation, Workspace)),
    (client, request): (&Client, &HeaderMap),
    (given, errors): (Option<&AccountForm>, AccountErrors),
) -> Result<Response, ScreenError> {
    let signed_in = session::find(state, request, client.address).await?.map(|it| it.user.email);
    let address = invitation.email.as_deref().unwrap_or_default();
    let status = if given.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = InvitationPage {
        frame: BareFrame { title: "You are invited" },
        token,
        workspace: workspace.name,
        role: invitation.role,
        invited_by: invitation.invited_by_name.clone(),
        signed_in,
        name: given.map_or("", |given| &given.name),
        email: given.map_or(address, |given| &given.email),
        is_for_address: invitation.email.is_some(),
        errors,
        password_chars_min: passwords::CHARS_MIN,
    };
    Ok(html::page_with_status(status, &page, request))
}

/// Converts a rejection of the store.
fn refused(error: StoreError) -> ScreenError {
    if matches!(error, StoreError::NotFound { .. }) {
        return ScreenError::InvalidLink;
    }
    if matches!(error, StoreError::AlreadyExists { .. } | StoreError::InvitationForOther) {
        return ScreenError::RefusedInvitation(error.to_string());
    }
    error.into()
}
