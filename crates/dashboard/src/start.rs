//! The first steps of a workspace on one screen: a URL to check, and where to send alerts. The set-up
//! link leads here, and so does home while there is no monitor. `address` recognizes the kind of a
//! channel by its address.

mod address;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use contract::notification::wire::{
    CreateNotificationRequest, DeleteNotificationRequest, UpdateNotificationRequest,
};
use contract::rpc::{Error, MethodRequest as _};
use http::{HeaderMap, StatusCode};
use rules::MonitorKind;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use self::address::ChannelAddress;
use crate::backend::DraftCall;
use crate::channels;
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::form::Messages;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::monitors;
use crate::route::{EDITOR, Route};
use crate::session::Member;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/start", EDITOR, || get(show)),
    Route::post("/w/{workspace}/start", EDITOR, || post(submit)).within(channels::TEST_SECONDS),
];

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Steps {
    url: String,
    /// Address for alerts. Without one, nobody is alerted.
    alerts: String,
    /// Target that the person confirmed in spite of the warnings.
    confirmed: String,
    /// Identifies this form and its repetitions.
    form: String,
}

/// Messages beside the fields.
#[derive(Debug, Default)]
struct StartErrors {
    url: Option<String>,
    alerts: Option<String>,
    /// Reasons why the checks cannot succeed, to be confirmed.
    warnings: Vec<String>,
}

#[derive(Template)]
#[template(path = "start.html")]
struct StartPage {
    frame: Frame,
    given: Steps,
    errors: StartErrors,
    can_send_emails: bool,
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Response {
    page((&state, &member, &request), Steps::default(), StartErrors::default())
}

/// Creates the channel and the monitor, and sends a test alert.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(given): Posted<Steps>,
) -> Result<Response, ScreenError> {
    let url = with_scheme(&given.url);
    let monitor = monitors::request_for_url(&url);
    let address = ChannelAddress::parse(&given.alerts);
    let mut errors = check_monitor(&state, &member, &monitor, given.confirmed == url).await;
    if address.is_none() && !given.alerts.trim().is_empty() {
        errors.alerts = Some(address::EXPECTED.to_owned());
    }
    if !errors.is_empty() {
        return Ok(page((&state, &member, &request), Steps { url, ..given }, errors));
    }
    let Some(address) = address else {
        let created = match create_monitor(&state, &member, (&monitor, &given.form)).await {
            Ok(created) => created,
            Err(error) => {
                errors = StartErrors::of_monitor(&error);
                return Ok(page((&state, &member, &request), Steps { url, ..given }, errors));
            }
        };
        let text = format!("“{}” is checked from now on. Nobody is alerted yet.", created.name);
        return Ok(redirect_with_notice(&member.path(&created.path()), &text));
    };
    // The channel comes first: an invalid address then leaves nothing behind.
    let channel = json!({ "notification": address.notification() });
    let path = CreateNotificationRequest::PATH;
    let channel = match state.create_once(member.caller(), path, &channel, &given.form).await {
        Ok(created) => created["notification"].clone(),
        Err(error) => {
            let messages = Messages::from_error(&error, "notification");
            let text = messages.below(address.kind.as_str());
            errors.alerts = text.or_else(|| messages.whole().map(str::to_owned));
            return Ok(page((&state, &member, &request), Steps { url, ..given }, errors));
        }
    };
    let monitor = match create_monitor(&state, &member, (&monitor, &given.form)).await {
        Ok(created) => created,
        Err(error) => {
            // Otherwise the next try would make a second channel.
            let id = channel["id"].as_str().unwrap_or_default().to_owned();
            state.send(member.caller(), DeleteNotificationRequest { id }).await?;
            errors = StartErrors::of_monitor(&error);
            // The next try is another form: a repetition would find the deleted channel.
            let given = Steps { url, form: String::new(), ..given };
            return Ok(page((&state, &member, &request), given, errors));
        }
    };
    let update = json!({
        "notification": { "id": channel["id"], "monitorIds": [monitor.id] },
        "updateMask": "monitorIds",
        "revision": channel["revision"],
    });
    state.send_json(member.caller(), UpdateNotificationRequest::PATH, &update).await?;
    let channel = channel["id"].as_str().unwrap_or_default();
    Ok(after_test(&state, &member, channel, &monitor).await)
}

/// Sends a test alert. Leads to the monitor, or to the channel if its receiver did not accept it.
async fn after_test(
    state: &Dashboard,
    member: &Member,
    channel: &str,
    monitor: &CreatedMonitor,
) -> Response {
    let outcome = channels::send_test(state, member, channel).await;
    let path =
        if outcome.accepted { monitor.path() } else { format!("/channels/{channel}?tested=1") };
    let text = format!("“{}” is checked from now on. {}", monitor.name, outcome.in_short());
    redirect_with_notice(&member.path(&path), &text)
}

/// Validates the monitor without storing it.
async fn check_monitor(
    state: &Dashboard,
    member: &Member,
    monitor: &Json,
    is_confirmed: bool,
) -> StartErrors {
    let request = monitor.to_string().into();
    let (member, kind, regions) = (member.caller(), MonitorKind::Http, Vec::new());
    match state.backend.check_draft(DraftCall { member, kind, request, regions }).await {
        Ok(_) if is_confirmed => StartErrors::default(),
        Ok(checked) => {
            let warnings = checked.warnings.iter().map(|it| sentence(&it.message)).collect();
            StartErrors { warnings, ..StartErrors::default() }
        }
        Err(error) => StartErrors::of_monitor(&error),
    }
}

/// A stored monitor.
struct CreatedMonitor {
    id: String,
    name: String,
}

impl CreatedMonitor {
    fn path(&self) -> String {
        format!("/monitors/{}", self.id)
    }
}

async fn create_monitor(
    state: &Dashboard,
    member: &Member,
    (monitor, form): (&Json, &str),
) -> Result<CreatedMonitor, Error> {
    let method = monitors::methods(MonitorKind::Http).create;
    let created = state.create_once(member.caller(), method, monitor, form).await?;
    let text = |field: &str| created["monitor"][field].as_str().unwrap_or_default().to_owned();
    Ok(CreatedMonitor { id: text("id"), name: text("name") })
}

fn page(
    (state, member, request): (&Dashboard, &Member, &HeaderMap),
    mut given: Steps,
    errors: StartErrors,
) -> Response {
    if given.form.is_empty() {
        given.form = format!("{:016x}", state.ctx.random());
    }
    let status = if errors.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = StartPage {
        frame: Frame::of_member(member, Section::Home, "Watch your first site", request),
        given,
        errors,
        can_send_emails: state.backend.can_send_emails(),
    };
    html::page_with_status(status, &page, request)
}

impl StartErrors {
    /// Returns the message of a refused monitor.
    fn of_monitor(error: &Error) -> Self {
        let messages = Messages::from_error(error, "monitor");
        let url = messages.below("url").or_else(|| messages.whole().map(str::to_owned));
        let unknown = || Some("The monitor could not be created. Try again.".to_owned());
        Self { url: url.or_else(unknown), ..Self::default() }
    }

    const fn is_empty(&self) -> bool {
        self.url.is_none() && self.alerts.is_none() && self.warnings.is_empty()
    }
}

/// Returns the URL that a person means who typed an address without scheme.
fn with_scheme(given: &str) -> String {
    let given = given.trim();
    let is_whole = given.is_empty() || given.contains("://");
    if is_whole { given.to_owned() } else { format!("https://{given}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_without_scheme_becomes_a_url() {
        for (given, expected) in [
            ("example.com/health", "https://example.com/health"),
            (" http://example.com ", "http://example.com"),
            ("ftp://example.com", "ftp://example.com"),
            ("", ""),
        ] {
            assert_eq!(with_scheme(given), expected);
        }
    }
}
