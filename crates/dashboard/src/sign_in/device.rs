//! Logins of programs by RFC 8628: two endpoints for the program, and the screen on which a person
//! approves it. The key is created when the program fetches it, as the person who approved.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use contract::rpc::Code;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, StatusCode};
use rules::{Role, Scope};
use serde::Deserialize;
use serde_json::json;
use store::Membership;

use crate::backend::{CallingMember, NewKey};
use crate::device_logins::{
    Approval, Decision, IssuedKey, KeyOutcome, LIFETIME, NewLogin, POLL_INTERVAL, Program, Progress,
};
use crate::error::{ScreenError, is_about_input, sentence};
use crate::extract::{Asked, Posted};
use crate::html::{self, BareFrame, Message, encoded};
use crate::origin::Client;
use crate::route::{Access, Route};
use crate::session::SignedIn;
use crate::state::Dashboard;
use crate::user_code::UserCode;

/// Grant of a program's question (RFC 8628 §3.4).
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const SCREEN: &str = "/login/device";
/// Lifetimes to choose, in days.
const LIFETIMES: [(u32, &str); 4] =
    [(1, "In a day"), (30, "In 30 days"), (90, "In 90 days"), (365, "In a year")];
const DEFAULT_LIFETIME: &str = "90";
const TITLE: &str = "Log in a program";

pub(crate) const ROUTES: &[Route] = &[
    Route::post("/login/device/code", Access::Program, || post(begin)),
    Route::post("/login/device/token", Access::Program, || post(take_key)),
    Route::get(SCREEN, Access::SignedIn, || get(show)),
    Route::post(SCREEN, Access::SignedIn, || post(decide)),
];

/// A program that begins.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CodeRequest {
    /// Name of its machine.
    device_name: String,
}

/// A program that asks for its key.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeyRequest {
    grant_type: String,
    device_code: String,
}

/// Query of the screen.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CodeQuery {
    code: String,
}

/// Form of the screen.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct DecisionForm {
    code: String,
    /// Slug of the workspace.
    workspace: String,
    scope: String,
    days: String,
    decision: String,
}

#[derive(Template)]
#[template(path = "device.html")]
struct DevicePage {
    frame: BareFrame,
    given: DecisionForm,
    /// Program that shows the code. `None` asks for the code.
    program: Option<Program>,
    user_email: String,
    workspaces: Vec<Membership>,
    scopes: &'static [Scope],
    lifetimes: &'static [(u32, &'static str)],
    wrong: Option<String>,
}

/// Opens a login, and returns its codes (RFC 8628 §3.2).
pub(crate) async fn begin(
    State(state): State<Dashboard>,
    client: Client,
    given: Result<Form<CodeRequest>, FormRejection>,
) -> Response {
    let Ok(Form(given)) = given else { return refusal("invalid_request", "send a form") };
    let busy = |retry_after| {
        let why = "too many logins began; try again later";
        let refused = with_status(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", why);
        html::with_retry_after(refused, retry_after)
    };
    if let Err(retry_after) = state.limits.acquire_device_login(client.address) {
        return busy(retry_after);
    }
    let program = Program::new(&given.device_name, client.address, state.ctx.now());
    let Some(login) = state.device_logins.begin(&state.ctx, program) else {
        return busy(LIFETIME);
    };
    let NewLogin { device_code, user_code } = login;
    let uri = state.url(SCREEN);
    answer(
        StatusCode::OK,
        json!({
            "device_code": device_code.expose(),
            "user_code": user_code.to_string(),
            "verification_uri": uri,
            "verification_uri_complete": format!("{uri}?code={}", encoded(&user_code.to_string())),
            "expires_in": LIFETIME.as_secs(),
            "interval": POLL_INTERVAL.as_secs(),
        }),
    )
}

/// Returns the key of an approved login, or why there is none (RFC 8628 §3.5).
pub(crate) async fn take_key(
    State(state): State<Dashboard>,
    given: Result<Form<KeyRequest>, FormRejection>,
) -> Response {
    let Ok(Form(given)) = given else { return refusal("invalid_request", "send a form") };
    if given.grant_type != GRANT {
        return refusal("unsupported_grant_type", &format!("`grant_type` must be `{GRANT}`"));
    }
    let approval = match state.device_logins.poll(&state.ctx, &given.device_code) {
        Progress::Pending => return refusal("authorization_pending", "nobody has decided yet"),
        Progress::TooOften => return refusal("slow_down", "wait before the next question"),
        Progress::Refused => return refusal("access_denied", "the login was refused"),
        Progress::Unknown => return refusal("expired_token", "the login is over; begin again"),
        Progress::Issued(key) => return answer_key(&key),
        Progress::Approved(approval) => *approval,
    };
    // The key is created even if this answer ends early, and the next question gets it.
    match tokio::spawn(create_key(state, given.device_code, approval)).await {
        Ok(KeyOutcome::Issued(key)) => answer_key(&key),
        Ok(KeyOutcome::Refused) => {
            refusal("access_denied", "the person who approved may not create this key")
        }
        Ok(KeyOutcome::Failed(_)) | Err(_) => {
            let why = "the server could not create the key; ask again";
            with_status(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", why)
        }
    }
}

/// Creates the key of an approved login, and records the outcome.
async fn create_key(state: Dashboard, device_code: String, approval: Approval) -> KeyOutcome {
    let Approval { member, key } = approval.clone();
    let scope = key.scope;
    let outcome = match state.backend.issue_key(member, key).await {
        Ok(key) => KeyOutcome::Issued(IssuedKey { key, scope }),
        // The person lost the role meanwhile, or the workspace has no room.
        Err(error) if error.code == Code::PermissionDenied || is_about_input(error.code) => {
            KeyOutcome::Refused
        }
        Err(_) => KeyOutcome::Failed(approval),
    };
    state.device_logins.finish(&state.ctx, &device_code, outcome.clone());
    outcome
}

/// Returns a key as a token (RFC 6749 §5.1).
fn answer_key(issued: &IssuedKey) -> Response {
    let IssuedKey { key, scope } = issued;
    answer(
        StatusCode::OK,
        json!({
            "access_token": key.expose(),
            "token_type": contract::rpc::KEY_HEADER,
            "scope": scope.as_str(),
        }),
    )
}

/// Shows the program with a code, or asks for the code.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Asked(CodeQuery { code }): Asked<CodeQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let mut page = DevicePage::new(&signed_in, code);
    if page.given.code.trim().is_empty() {
        return Ok(html::page(&page, &request));
    }
    match find(&state, &signed_in, &page.given.code)? {
        Some((code, program)) => {
            page.given.code = code.to_string();
            page.program = Some(program);
            Ok(html::page(&page, &request))
        }
        None => Ok(page.with_unknown_code(&request)),
    }
}

/// Approves or refuses a program.
pub(crate) async fn decide(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
    Posted(given): Posted<DecisionForm>,
) -> Result<Response, ScreenError> {
    let found = find(&state, &signed_in, &given.code)?;
    let mut page = DevicePage::new(&signed_in, String::new());
    page.given = given;
    let Some((code, program)) = found else { return Ok(page.with_unknown_code(&request)) };
    let decision = match page.decision(&signed_in, &program) {
        Ok(decision) => decision,
        Err(wrong) => {
            page.given.code = code.to_string();
            page.program = Some(program);
            page.wrong = Some(wrong.to_owned());
            return Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request));
        }
    };
    let is_approved = matches!(decision, Decision::Approved(_));
    if state.device_logins.decide(&state.ctx, &code, decision).is_none() {
        return Ok(page.with_unknown_code(&request));
    }
    let (title, text) = if is_approved {
        ("Approved", "The program gets its key within a few seconds. You can close this page.")
    } else {
        ("Refused", "The program gets no key. You can close this page.")
    };
    Ok(html::message(StatusCode::OK, Message { title, text: text.to_owned() }))
}

/// Returns the program that shows a code. Guesses are limited, because the codes are short.
fn find(
    state: &Dashboard,
    signed_in: &SignedIn,
    code: &str,
) -> Result<Option<(UserCode, Program)>, ScreenError> {
    let Some(code) = UserCode::parse(code) else { return Ok(None) };
    let user = signed_in.user.id;
    let counted = state.limits.acquire_device_code(user);
    counted.map_err(|retry_after| ScreenError::TooManyAttempts { retry_after })?;
    let found = state.device_logins.find(&state.ctx, &code);
    Ok(found.map(|program| {
        state.limits.give_back_device_code(user);
        (code, program)
    }))
}

impl DevicePage {
    fn new(signed_in: &SignedIn, code: String) -> Self {
        let may_issue = |it: &&Membership| it.role.includes(Role::Admin);
        let given = DecisionForm {
            code,
            scope: Scope::Write.to_string(),
            days: DEFAULT_LIFETIME.to_owned(),
            ..DecisionForm::default()
        };
        Self {
            frame: BareFrame { title: TITLE },
            given,
            program: None,
            user_email: signed_in.user.email.clone(),
            workspaces: signed_in.memberships.iter().filter(may_issue).cloned().collect(),
            scopes: Scope::ALL,
            lifetimes: &LIFETIMES,
            wrong: None,
        }
    }

    fn with_unknown_code(mut self, request: &HeaderMap) -> Response {
        let why = "No program waits with this code. Compare it with the terminal. Codes are valid for ten \
                   minutes and work once.";
        self.wrong = Some(sentence(why));
        html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &self, request)
    }

    /// Returns the decision of the form, or what is wrong in it.
    fn decision(&self, signed_in: &SignedIn, program: &Program) -> Result<Decision, &'static str> {
        match self.given.decision.as_str() {
            "refuse" => return Ok(Decision::Refused),
            "approve" => {}
            _ => return Err("Approve or refuse the program."),
        }
        let mut workspaces = self.workspaces.iter();
        let chosen = workspaces.find(|it| it.workspace.slug == self.given.workspace);
        let membership = chosen.ok_or("Choose a workspace in which you may create keys.")?;
        let scope = Scope::ALL.iter().find(|it| it.as_str() == self.given.scope);
        let scope = *scope.ok_or("Choose what the program may do.")?;
        let days = LIFETIMES.iter().find(|(days, _)| days.to_string() == self.given.days);
        let (days, _) = *days.ok_or("Choose when the key expires.")?;
        let name = match program.machine.as_str() {
            "" => "aloft login".to_owned(),
            machine => format!("aloft login on {machine}"),
        };
        let member = CallingMember {
            workspace: membership.workspace.id,
            user: signed_in.user.id,
            role: membership.role,
            address: signed_in.address,
        };
        Ok(Decision::Approved(Approval { member, key: NewKey { name, scope, days: Some(days) } }))
    }
}

/// Returns an error of OAuth (RFC 6749 §5.2).
fn refusal(error: &str, description: &str) -> Response {
    with_status(StatusCode::BAD_REQUEST, error, description)
}

fn with_status(status: StatusCode, error: &str, description: &str) -> Response {
    answer(status, json!({ "error": error, "error_description": description }))
}

fn answer(status: StatusCode, body: serde_json::Value) -> Response {
    let mut response = (status, Json(body)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
