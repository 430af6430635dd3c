//! Lists channels, each with its last delivery.

use std::collections::HashMap;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::notification::wire::ListNotificationsRequest;
use contract::rpc::MethodRequest as _;
use http::HeaderMap;
use rules::{ChannelId, Role};
use serde::Deserialize;
use serde_json::json;
use store::LastDelivery;

use super::deliveries;
use super::guides::{Guide, guides};
use super::summary::ChannelSummary;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// Channels on a page of the list.
const CHANNELS: u32 = 50;

/// Page of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChannelsPart {
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "channels.html")]
struct ChannelsPage {
    frame: Frame,
    rows: Vec<ChannelRow>,
    total: i64,
    next: Option<String>,
    guides: Vec<Guide>,
    can_edit: bool,
    is_admin: bool,
}

/// A channel of the list.
struct ChannelRow {
    channel: ChannelSummary,
    last: Option<LastDelivery>,
}

impl ChannelRow {
    /// Returns the class of the last delivery's badge, the name of its symbol, and its state in a word.
    fn outcome(last: &LastDelivery) -> [&'static str; 3] {
        let state = last.state.as_str();
        [deliveries::badge(state), deliveries::icon(state), deliveries::word(state)]
    }
}

/// Shows the list.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(part): Asked<ChannelsPart>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let mut asked = json!({ "limit": CHANNELS });
    if let Some(after) = part.after {
        asked["pageToken"] = json!(after);
    }
    let found = state.send_json(member.caller(), ListNotificationsRequest::PATH, &asked).await?;
    let channels = found["notifications"].as_array().into_iter().flatten();
    let channels: Vec<ChannelSummary> = channels.filter_map(ChannelSummary::new).collect();
    let ids: Vec<ChannelId> =
        channels.iter().filter_map(|it| ChannelId::parse(&it.id).ok()).collect();
    let last = state.store.outbox().last_of_channels(member.workspace(), &ids).await?;
    let mut last: HashMap<String, LastDelivery> =
        last.into_iter().map(|it| (it.channel.to_string(), it)).collect();
    let rows = channels.into_iter().map(|channel| {
        let last = last.remove(&channel.id);
        ChannelRow { channel, last }
    });
    let page = ChannelsPage {
        frame: Frame::of_member(&member, Section::Channels, "Channels", &request),
        rows: rows.collect(),
        total: found["totalSize"].as_i64().unwrap_or_default(),
        next: found["nextPageToken"].as_str().filter(|it| !it.is_empty()).map(str::to_owned),
        guides: guides(),
        can_edit: member.membership.role.includes(Role::Editor),
        is_admin: member.membership.role.includes(Role::Admin),
    };
    Ok(html::page(&page, &request))
}
