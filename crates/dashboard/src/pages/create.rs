//! Creates a status page. A title is enough.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::CreateStatusPageRequest;
use http::{HeaderMap, StatusCode};
use rules::tables::STATUS_PAGE;
use serde_json::json;

use super::fields;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Form, Messages, Values};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::setup::slug;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "page_new.html")]
struct NewPagePage {
    frame: Frame,
    form: Form,
}

/// Shows the form.
pub(crate) async fn show(
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = page(&member, &Values::default(), &Messages::default(), &request);
    Ok(html::page(&page, &request))
}

/// Creates the page, which is public at once.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let mut values = Values::posted(posted, &STATUS_PAGE);
    let title = values.first("title").unwrap_or_default().trim().to_owned();
    let has_slug = values.first("slug").is_some_and(|it| !it.trim().is_empty());
    if !has_slug && !title.is_empty() {
        values.set("slug", slug(&title));
    }
    let asked = json!({ "statusPage": fields::page(&values) });
    match state.send_json(member.caller(), CreateStatusPageRequest::PATH, &asked).await {
        Ok(created) => {
            let id = created["statusPage"]["id"].as_str().unwrap_or_default();
            let path = member.path(&format!("/pages/{id}"));
            Ok(redirect_with_notice(&path, "The page was created. Now add what it shows."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "status_page");
            let page = page(&member, &values, &messages, &request);
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

fn page(member: &Member, values: &Values, messages: &Messages, request: &HeaderMap) -> NewPagePage {
    NewPagePage {
        frame: Frame::of_member(member, Section::Pages, "New status page", request),
        form: fields::new_form(values, messages),
    }
}
