//! A stored channel in a few words: its name, its kind, and what it sends to whom.

use contract::notification::wire::GetNotificationRequest;
use contract::rpc::MethodRequest as _;
use rules::ProviderType;
use rules::field::{Redaction, Shape, json_name};
use rules::tables::NOTIFICATION;
use serde_json::{Value as Json, json};

use super::guides::guide;
use crate::error::ScreenError;
use crate::form::label;
use crate::session::Member;
use crate::state::Dashboard;

/// A channel as screens show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChannelSummary {
    pub(crate) id: String,
    /// Its name, or that of its kind.
    pub(crate) name: String,
    pub(crate) kind: ProviderType,
    pub(crate) kind_label: &'static str,
    pub(crate) monitor_ids: Vec<String>,
    /// Its preferences in one line.
    pub(crate) preferences: String,
    /// Labels and values of the settings that are not secret.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) revision: String,
}

/// A stored channel in the JSON of the contract, with what may prevent its messages.
pub(super) struct StoredChannel {
    pub(super) json: Json,
    pub(super) summary: ChannelSummary,
    pub(super) warnings: Vec<String>,
}

/// Returns a stored channel.
pub(super) async fn find(
    state: &Dashboard,
    member: &Member,
    id: &str,
) -> Result<StoredChannel, ScreenError> {
    let found = state
        .send_json(member.caller(), GetNotificationRequest::PATH, &json!({ "id": id }))
        .await?;
    let json = found["notification"].clone();
    let summary = ChannelSummary::new(&json).ok_or(ScreenError::NotFound)?;
    let warnings = found["warnings"].as_array().into_iter().flatten();
    let warnings = warnings.filter_map(|it| it["message"].as_str()).map(crate::error::sentence);
    Ok(StoredChannel { warnings: warnings.collect(), summary, json })
}

/// Returns the name of a channel, or `None` if it does not exist any more.
pub(crate) async fn name(state: &Dashboard, member: &Member, id: &str) -> Option<String> {
    find(state, member, id).await.ok().map(|found| found.summary.name)
}

impl ChannelSummary {
    /// Reads a channel in the JSON of the contract. Returns `None` if its kind is unknown.
    pub(super) fn new(json: &Json) -> Option<Self> {
        let kind = ProviderType::parse(text(json, "providerType")).ok()?;
        let kind_label = guide(kind).label;
        let name = text(json, "name");
        let monitors = json["monitorIds"].as_array().into_iter().flatten();
        Some(Self {
            id: text(json, "id").to_owned(),
            name: if name.is_empty() { kind_label.to_owned() } else { name.to_owned() },
            kind,
            kind_label,
            monitor_ids: monitors.filter_map(Json::as_str).map(str::to_owned).collect(),
            preferences: preferences(json),
            settings: settings(kind, json),
            revision: text(json, "revision").to_owned(),
        })
    }

    /// Returns the number of monitors in words.
    pub(crate) fn monitors(&self) -> String {
        match self.monitor_ids.len() {
            0 => "No monitor".to_owned(),
            1 => "1 monitor".to_owned(),
            count => format!("{count} monitors"),
        }
    }
}

/// Returns the word for an event in a sentence.
pub(super) fn event_word(event: &str) -> &str {
    match event {
        "error" => "outages",
        "degraded" => "degradations",
        "recovered" => "recoveries",
        other => other,
    }
}

fn preferences(json: &Json) -> String {
    let events = json["events"].as_array().into_iter().flatten();
    let events: Vec<&str> = events.filter_map(Json::as_str).map(event_word).collect();
    let mut parts = vec![match events.as_slice() {
        [] => "All alerts".to_owned(),
        events => {
            let list = events.join(" and ");
            format!("Only {list}")
        }
    }];
    if let Some(every) = json["remindEvery"].as_str() {
        parts.push(format!("reminder every {every}"));
    }
    let quiet = &json["quietHours"];
    if quiet.is_object() {
        let (from, until) = (text(quiet, "from"), text(quiet, "until"));
        let passes =
            if text(quiet, "appliesTo") == "all_but_errors" { ", outages pass" } else { "" };
        parts.push(format!("quiet {from}–{until} {}{passes}", text(quiet, "timeZone")));
    }
    parts.join(" · ")
}

/// Returns the settings of the kind that every member may see.
fn settings(kind: ProviderType, json: &Json) -> Vec<(String, String)> {
    let block = NOTIFICATION.block(kind.as_str());
    let json = &json[json_name(block.name)];
    let shown = block.fields.iter().filter(|field| {
        let is_url = matches!(field.shape, Shape::HttpUrl { .. });
        !field.sensitive && !is_url && field.redaction == Redaction::None
    });
    shown
        .filter_map(|field| {
            Some((label(field.name), json[json_name(field.name)].as_str()?.to_owned()))
        })
        .collect()
}

fn text<'j>(json: &'j Json, field: &str) -> &'j str {
    json[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_fits_in_a_line_without_secrets() {
        let json = json!({
            "id": "chn_1", "providerType": "ntfy", "monitorIds": ["mon_1", "mon_2"],
            "ntfy": { "topic": "shop", "serverUrl": "https://ada:pw@ntfy.example", "token": "tk_1" },
            "events": ["error", "recovered"], "remindEvery": "2h",
            "quietHours": {
                "from": "22:00", "until": "07:00", "timeZone": "Europe/Berlin", "appliesTo": "all_but_errors",
            },
        });
        let channel = ChannelSummary::new(&json).unwrap();
        assert_eq!((channel.name.as_str(), channel.monitors().as_str()), ("ntfy", "2 monitors"));
        assert_eq!(
            channel.preferences,
            "Only outages and recoveries · reminder every 2h · quiet 22:00–07:00 Europe/Berlin, outages pass"
        );
        assert_eq!(channel.settings, [("Topic".to_owned(), "shop".to_owned())]);
    }
}
