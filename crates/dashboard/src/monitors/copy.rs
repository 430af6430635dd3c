//! Copies of a monitor for other tools: Terraform, and commands for a shell.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;

use super::stored::{self, StoredMonitor};
use super::{curl, terraform};
use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// A text to copy.
struct CopyText {
    id: &'static str,
    title: &'static str,
    help: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "monitor_copy.html")]
struct CopyPage {
    frame: Frame,
    name: String,
    path: String,
    is_terraform: bool,
    texts: Vec<CopyText>,
}

/// Shows the monitor as a resource of Terraform.
pub(crate) async fn show_terraform(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let texts = vec![
        CopyText {
            id: "configuration",
            title: "Configuration",
            help: "Terraform 1.5 or newer imports the monitor at the next apply. Credentials are \
                   variables; set them as TF_VAR_… in the environment.",
            text: terraform::configuration(&monitor),
        },
        CopyText {
            id: "import",
            title: "Import",
            help: "With this command instead of the import block, any version imports it.",
            text: terraform::import_command(&monitor),
        },
    ];
    Ok(page(&member, (&id, &monitor), (true, texts), &request))
}

/// Shows commands of curl.
pub(crate) async fn show_curl(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let check = curl::check_command(&monitor).map(|text| CopyText {
        id: "check",
        title: "The check",
        help: "What a check sends, from your machine. It contains the credentials of the monitor, but not \
               its private key: give your own files of a client certificate. With headers of your own, a \
               client certificate or a method besides GET, HEAD and POST, curl does not follow redirects as \
               a check does, and shows them instead.",
        text,
    });
    let create = CopyText {
        id: "create",
        title: "The call that creates this monitor",
        help: "Set SERVICE_API_KEY to a key of this workspace with write access.",
        text: curl::create_command(&monitor, &state.origin),
    };
    let texts = check.into_iter().chain([create]).collect();
    Ok(page(&member, (&id, &monitor), (false, texts), &request))
}

fn page(
    member: &Member,
    (id, monitor): (&str, &StoredMonitor),
    (is_terraform, texts): (bool, Vec<CopyText>),
    request: &HeaderMap,
) -> Response {
    let title = format!("Copy {}", monitor.name());
    let page = CopyPage {
        frame: Frame::of_member(member, Section::Monitors, title, request),
        name: monitor.name().to_owned(),
        path: member.path(&format!("/monitors/{id}")),
        is_terraform,
        texts,
    };
    html::page(&page, request)
}
