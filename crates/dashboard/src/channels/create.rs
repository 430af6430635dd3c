//! Creates a channel: first its kind, then its settings. A test alert can be sent before and after.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::notification::wire::CreateNotificationRequest;
use contract::rpc::MethodRequest as _;
use http::{HeaderMap, StatusCode};
use rules::ProviderType;
use rules::tables::NOTIFICATION;
use serde::Deserialize;
use serde_json::json;

use super::guides::{Guide, guide, guides};
use super::outcome::{TestOutcome, test_unsaved};
use super::{detail, fields};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{Form, Messages, Values};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Which form is shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ChannelKind {
    kind: Option<String>,
}

#[derive(Template)]
#[template(path = "channel_kinds.html")]
struct KindsPage {
    frame: Frame,
    guides: Vec<Guide>,
}

#[derive(Template)]
#[template(path = "channel_new.html")]
struct NewChannelPage {
    frame: Frame,
    guide: Guide,
    form: Form,
    outcome: Option<TestOutcome>,
    is_new: bool,
    /// Number of monitors of the workspace.
    monitors: usize,
    alerts_for_all: bool,
    action: String,
    back: String,
}

/// Shows the kinds, or the form of one.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<ChannelKind>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let Some(kind) = asked.parse()? else {
        let frame = Frame::of_member(&member, Section::Channels, "New channel", &request);
        return Ok(html::page(&KindsPage { frame, guides: guides() }, &request));
    };
    let given =
        GivenChannel { values: Values::default(), messages: Messages::default(), outcome: None };
    let page = page(&state, &member, kind, &given, &request).await?;
    Ok(html::page(&page, &request))
}

/// Creates the channel, or sends a test alert through what the form has.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<ChannelKind>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let kind = asked.parse()?.ok_or(ScreenError::NotFound)?;
    let mut values = Values::posted(posted, &NOTIFICATION);
    let mut given =
        GivenChannel { messages: Messages::default(), outcome: None, values: Values::default() };
    if let Some(path) = values.first("add_row").map(str::to_owned) {
        if !fields::add_row(kind, &mut values, &path) {
            return Err(ScreenError::NotFound);
        }
        given.values = values;
        let page = page(&state, &member, kind, &given, &request).await?;
        return Ok(html::page(&page, &request));
    }
    let mut notification = fields::notification(kind, &values);
    let action = values.first("action").unwrap_or_default().to_owned();
    if action == "test" {
        match test_unsaved(&state, &member, &notification).await {
            Ok(outcome) => given.outcome = Some(outcome),
            Err(messages) => given.messages = messages,
        }
    } else {
        let alerts_for_all = alerts_for_all(&values);
        if alerts_for_all {
            let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
            let all = fleet.definitions.monitors.iter();
            let ids: Vec<String> = all.map(|it| it.definition.id.to_string()).collect();
            notification.insert("monitorIds".to_owned(), json!(ids));
        }
        let channel = json!({ "notification": notification });
        match state.send_json(member.caller(), CreateNotificationRequest::PATH, &channel).await {
            Ok(created) => {
                let id = created["notification"]["id"].as_str().unwrap_or_default();
                let is_tested = action == "create_and_test";
                return Ok(after_creation(&state, &member, id, (is_tested, alerts_for_all)).await);
            }
            Err(error) => given.messages = Messages::from_error(&error, "notification"),
        }
    }
    given.values = values;
    let status = match given.outcome {
        Some(_) => StatusCode::OK,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = page(&state, &member, kind, &given, &request).await?;
    Ok(html::page_with_status(status, &page, &request))
}

/// Content of the form.
struct GivenChannel {
    values: Values,
    messages: Messages,
    outcome: Option<TestOutcome>,
}

impl ChannelKind {
    fn parse(&self) -> Result<Option<ProviderType>, ScreenError> {
        let parse = |word: &String| ProviderType::parse(word).map_err(|_| ScreenError::NotFound);
        self.kind.as_ref().map(parse).transpose()
    }
}

/// Leads to the channel, to its monitors, or to the result of a test.
async fn after_creation(
    state: &Dashboard,
    member: &Member,
    id: &str,
    (is_tested, alerts_for_all): (bool, bool),
) -> Response {
    const CREATED: &str = "The channel was created.";
    if is_tested {
        return detail::tested(state, member, id, &format!("{CREATED} ")).await;
    }
    let path = if alerts_for_all { "" } else { "/monitors" };
    redirect_with_notice(&member.path(&format!("/channels/{id}{path}")), CREATED)
}

async fn page(
    state: &Dashboard,
    member: &Member,
    kind: ProviderType,
    given: &GivenChannel,
    request: &HeaderMap,
) -> Result<NewChannelPage, ScreenError> {
    let GivenChannel { values, messages, outcome } = given;
    let guide = guide(kind);
    let title = format!("New {} channel", guide.label);
    let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
    Ok(NewChannelPage {
        frame: Frame::of_member(member, Section::Channels, title, request),
        guide,
        form: fields::form(kind, values, messages),
        outcome: outcome.clone(),
        is_new: true,
        monitors: fleet.counts.total,
        alerts_for_all: alerts_for_all(values),
        action: member.path(&format!("/channels/new?kind={kind}")),
        back: member.path("/channels"),
    })
}

/// Returns whether the channel gets the alerts of all current monitors. This is the default.
fn alerts_for_all(values: &Values) -> bool {
    values.first("alert_for") != Some("chosen")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_kinds_have_a_form() {
        let parse = |kind: Option<&str>| ChannelKind { kind: kind.map(str::to_owned) }.parse();
        assert_eq!(parse(None).unwrap(), None);
        assert_eq!(parse(Some("slack")).unwrap(), Some(ProviderType::Slack));
        assert!(matches!(parse(Some("fax")), Err(ScreenError::NotFound)));
    }
}
