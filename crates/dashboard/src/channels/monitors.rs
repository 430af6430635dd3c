//! The monitors that a channel alerts for: one page of a searchable list at a time.

use std::collections::HashSet;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::notification::wire::UpdateNotificationRequest;
use contract::rpc::MethodRequest as _;
use http::HeaderMap;
use serde_json::json;
use store::MonitorName;

use super::summary::{self, ChannelSummary};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::monitor_picker::{MonitorChoices, MonitorSearch};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "channel_monitors.html")]
struct ChannelMonitorsPage {
    frame: Frame,
    channel: ChannelSummary,
    list: MonitorChoices,
    here: String,
}

/// Shows the list.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(search): Asked<MonitorSearch>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?.summary;
    let all = state.store.monitors().all_names(member.workspace()).await?;
    let chosen: HashSet<String> = channel.monitor_ids.iter().cloned().collect();
    let page = ChannelMonitorsPage {
        frame: Frame::of_member(&member, Section::Channels, "Monitors to alert for", &request),
        list: search.choices(&all, &chosen),
        here: member.path(&format!("/channels/{id}/monitors")),
        channel,
    };
    Ok(html::page(&page, &request))
}

/// Stores the choice of one page, or adds or removes all monitors that match the search.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(search): Asked<MonitorSearch>,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?.summary;
    let all = state.store.monitors().all_names(member.workspace()).await?;
    let chosen = MonitorsChoice::read(&posted).apply(&channel.monitor_ids, &all, &search);
    let update = json!({
        "notification": { "id": id, "monitorIds": chosen },
        "updateMask": "monitorIds",
        "revision": channel.revision,
    });
    state.send_json(member.caller(), UpdateNotificationRequest::PATH, &update).await?;
    let list = search.choices(&all, &chosen.iter().cloned().collect());
    let path = member.path(&format!("/channels/{id}/monitors?{}", list.current()));
    let text = match chosen.len() {
        0 => "The channel alerts for no monitor.".to_owned(),
        1 => "The channel alerts for 1 monitor.".to_owned(),
        count => format!("The channel alerts for {count} monitors."),
    };
    Ok(redirect_with_notice(&path, &text))
}

/// Posted choice.
enum MonitorsChoice<'p> {
    /// Chosen ones among those that were shown.
    Page {
        shown: HashSet<&'p str>,
        marked: HashSet<&'p str>,
    },
    AddMatching,
    RemoveMatching,
}

impl<'p> MonitorsChoice<'p> {
    fn read(posted: &'p [(String, String)]) -> Self {
        let all = |name: &str| -> HashSet<&'p str> {
            posted.iter().filter(|(field, _)| field == name).map(|(_, id)| id.as_str()).collect()
        };
        let action = posted.iter().find(|(field, _)| field == "action");
        match action.map(|(_, value)| value.as_str()) {
            Some("add_matching") => Self::AddMatching,
            Some("remove_matching") => Self::RemoveMatching,
            _ => Self::Page { shown: all("shown"), marked: all("monitor") },
        }
    }

    /// Returns the IDs that are chosen afterwards.
    fn apply(&self, before: &[String], all: &[MonitorName], search: &MonitorSearch) -> Vec<String> {
        let chosen: HashSet<String> = before.iter().cloned().collect();
        let mut after: Vec<String> = match self {
            Self::Page { shown, marked } => {
                let kept = before.iter().filter(|id| !shown.contains(id.as_str())).cloned();
                kept.chain(marked.iter().map(|id| (*id).to_owned())).collect()
            }
            Self::AddMatching => {
                before.iter().cloned().chain(search.matching(all, &chosen)).collect()
            }
            Self::RemoveMatching => {
                let removed: HashSet<String> = search.matching(all, &chosen).into_iter().collect();
                before.iter().filter(|id| !removed.contains(*id)).cloned().collect()
            }
        };
        after.sort_unstable();
        after.dedup();
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_of_a_page_keeps_the_other_monitors() {
        let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let posted: Vec<(String, String)> = [("shown", "b"), ("shown", "c"), ("monitor", "c")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let after = MonitorsChoice::read(&posted).apply(
            &texts(&["a", "b"]),
            &[],
            &MonitorSearch::default(),
        );
        assert_eq!(after, texts(&["a", "c"]));
    }

    #[test]
    fn all_matching_monitors_are_added_and_removed() {
        let monitor = |number, name: &str| MonitorName {
            id: rules::MonitorId::from_bits(number),
            name: name.to_owned(),
            active: true,
        };
        let all = [monitor(1, "shop"), monitor(2, "api"), monitor(3, "shop 2")];
        let ids: Vec<String> = all.iter().map(|it| it.id.to_string()).collect();
        let search = MonitorSearch { q: "shop".to_owned(), ..MonitorSearch::default() };
        let added = MonitorsChoice::AddMatching.apply(&ids[1..2], &all, &search);
        assert_eq!(added.len(), 3);
        assert_eq!(MonitorsChoice::RemoveMatching.apply(&added, &all, &search), ids[1..2]);
    }
}
