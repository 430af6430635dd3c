//! The set-up link: it creates the owner and the first workspace of a new server. It is valid until
//! the first account exists, also over restarts, because it is a signature and not stored.

use crate::extract::Posted;
use crate::route::{Access, Route};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, StatusCode};
use rules::{Secret, UserId, Validator, tables};
use serde::Deserialize;
use sha2::Sha256;
use store::{FREE_PLAN, NewUser, StoreError, Workspace};

use crate::error::{ScreenError, sentence};
use crate::html::{self, BareFrame};
use crate::origin::Client;
use crate::passwords;
use crate::sign_in::{SignInWay, finish};
use crate::sign_in_limits::Attempt;
use crate::state::Dashboard;

/// Purpose of the signature.
const PURPOSE: &[u8] = b"aloft set-up link";

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/setup/{token}", Access::Anyone, || get(show)),
    Route::post("/setup/{token}", Access::Anyone, || post(submit)),
];

/// The form.
#[derive(Debug, Deserialize)]
pub(crate) struct Answers {
    #[serde(default)]
    name: String,
    #[serde(default)]
    email: String,
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
    #[serde(default)]
    workspace: String,
}

#[derive(Template)]
#[template(path = "setup.html")]
struct SetupPage<'a> {
    frame: BareFrame,
    token: &'a str,
    given: &'a Answers,
    errors: Errors,
    password_chars_min: usize,
}

/// Messages beside the fields.
#[derive(Debug, Default)]
struct Errors {
    name: Option<String>,
    email: Option<String>,
    password: Option<String>,
    workspace: Option<String>,
}

/// Values of the form that are valid.
struct Owner {
    name: String,
    email: String,
    workspace: String,
    slug: String,
}

impl Dashboard {
    /// Returns the link that sets this server up, or `None` if it has an account.
    pub async fn setup_link(&self) -> Result<Option<Secret<String>>, StoreError> {
        if self.store.users().exist().await? {
            return Ok(None);
        }
        let token = URL_SAFE_NO_PAD.encode(self.setup_signature().finalize().into_bytes());
        Ok(Some(Secret::new(self.url(&format!("/setup/{token}")))))
    }

    fn setup_signature(&self) -> Hmac<Sha256> {
        let key = self.store.session_key();
        let mut mac = Hmac::<Sha256>::new_from_slice(key.expose()).expect("any key will do");
        mac.update(PURPOSE);
        mac
    }

    /// Refuses a token that does not belong to this server, or was used.
    async fn require_setup_token(
        &self,
        token: &str,
        client: &Client,
    ) -> Result<Attempt, ScreenError> {
        let attempt = self.try_link(client)?;
        let given = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
        let is_valid = self.setup_signature().verify_slice(&given).is_ok();
        if is_valid && !self.store.users().exist().await? {
            return Ok(attempt);
        }
        let (address, what) = (client.address, if is_valid { "used" } else { "forged" });
        self.audit_stranger("setup_link.refuse", what, address).await;
        Err(ScreenError::InvalidLink)
    }
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let attempt = state.require_setup_token(&token, &client).await?;
    state.limits.give_back(&attempt);
    Ok(form(&token, &Answers::empty(), Errors::default(), &request))
}

/// Creates the owner and the first workspace, and signs in.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Path(token): Path<String>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Answers>,
) -> Result<Response, ScreenError> {
    let attempt = state.require_setup_token(&token, &client).await?;
    let owner = match validate(&given) {
        Ok(owner) => owner,
        Err(errors) => return Ok(form(&token, &given, errors, &request)),
    };
    let salt = state.ctx.secret_bytes();
    let hash = match state.passwords.hash(given.password.clone(), salt).await {
        Ok(hash) => hash,
        Err(busy) => {
            let errors =
                Errors { password: Some(sentence(&busy.to_string())), ..Errors::default() };
            return Ok(form(&token, &given, errors, &request));
        }
    };
    let Owner { name, email, workspace, slug } = owner;
    let user = NewUser { id: state.ctx.new_id(), email, name, password_hash: hash };
    let change = state.change_by(user.id, client.address);
    let first = Workspace {
        id: state.ctx.new_id(),
        slug,
        name: workspace,
        plan: FREE_PLAN.to_owned(),
        created_at: change.at,
        deletes_at: None,
    };
    let id = user.id;
    match state.store.users().create_first(user, first, change).await {
        Ok(()) => {}
        Err(StoreError::AlreadyExists { .. }) => return Err(ScreenError::InvalidLink),
        Err(error) => return Err(error.into()),
    }
    state.limits.give_back(&attempt);
    let next = first_screen(&state, id).await?;
    finish(&state, id, &client, (SignInWay::SetUpLink, &next)).await
}

/// Returns the path of the first steps, or of home if an earlier key created monitors.
async fn first_screen(state: &Dashboard, user: UserId) -> Result<String, StoreError> {
    let memberships = state.store.users().memberships(user).await?;
    let Some(first) = memberships.first() else { return Ok("/".to_owned()) };
    let monitors = state.store.monitors().all_names(first.workspace.id).await?;
    let is_new = monitors.is_empty();
    Ok(if is_new { format!("/w/{}/start", first.workspace.slug) } else { "/".to_owned() })
}

fn validate(given: &Answers) -> Result<Owner, Errors> {
    let mut errors = Errors::default();
    let mut fields = Validator::new(&tables::USER);
    let name = fields.text("name", Some(given.name.trim().to_owned()));
    let email = fields.text("email", Some(given.email.trim().to_owned()));
    let valid = fields.finish(name.zip(email));
    if let Err(violations) = &valid {
        errors.name = crate::form::message(violations, "name");
        errors.email = crate::form::message(violations, "email");
    }
    let mut fields = Validator::new(&tables::WORKSPACE);
    let workspace = fields.text("name", Some(given.workspace.trim().to_owned()));
    let slug = slug(&given.workspace);
    let workspace = fields.finish(workspace);
    if let Err(violations) = &workspace {
        errors.workspace = crate::form::message(violations, "name");
    }
    if let Err(weak) = passwords::check_new(&given.password, given.email.trim()) {
        errors.password = Some(format!("It {weak}."));
    }
    match (valid, workspace, &errors.password) {
        (Ok((name, email)), Ok(workspace), None) => Ok(Owner { name, email, workspace, slug }),
        _ => Err(errors),
    }
}

/// Returns the slug for a name: its letters and digits in ASCII, joined by hyphens.
pub(crate) fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> =
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
    let slug: String = words.join("-").chars().take(48).collect();
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "workspace".to_owned() } else { slug.to_owned() }
}

fn form(token: &str, given: &Answers, errors: Errors, request: &HeaderMap) -> Response {
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let frame = BareFrame { title: "Set up Aloft" };
    let page = SetupPage { frame, token, given, errors, password_chars_min: passwords::CHARS_MIN };
    html::page_with_status(status, &page, request)
}

impl Answers {
    /// Returns the values of a new form.
    fn empty() -> Self {
        Self {
            name: String::new(),
            email: String::new(),
            password: Secret::new(String::new()),
            workspace: String::new(),
        }
    }
}

impl Errors {
    fn is_empty(&self) -> bool {
        [&self.name, &self.email, &self.password, &self.workspace].iter().all(|it| it.is_none())
    }
}
