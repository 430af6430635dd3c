//! Form of a channel: the settings of its kind, its name and its preferences.

use rules::ProviderType;
use rules::field::{Block, json_name};
use rules::tables::{NOTIFICATION, NOTIFICATION_PREFERENCES};
use serde_json::{Map, Value as Json, json};

use crate::form::{Choice, Form, FormSpec, Input, Messages, Values, resource, single_block};

/// Returns the form of a kind: the settings that it needs first.
pub(super) fn form(kind: ProviderType, values: &Values, messages: &Messages) -> Form {
    let none = |_: &str| None;
    let main = [kind.as_str(), "name"];
    let settings = FormSpec { resource: &NOTIFICATION, main: &main, more: &[], choices: &none };
    let more = ["events", "remind_every", "quiet_hours"];
    let preferences =
        FormSpec { resource: &NOTIFICATION_PREFERENCES, main: &[], more: &more, choices: &choices };
    let settings = Form::new(settings, values, messages);
    let preferences = Form::new(preferences, values, messages);
    Form { main: settings.main.into_iter().flat_map(ungrouped).collect(), ..preferences }
}

/// Returns the channel in the JSON of the contract.
pub(super) fn notification(kind: ProviderType, values: &Values) -> Map<String, Json> {
    let block = block(kind);
    let mut json = resource(&NOTIFICATION, values);
    json.insert("providerType".to_owned(), json!(kind.as_str()));
    // Even if it is empty, so that messages appear beside its fields.
    json.insert(json_name(block.name), Json::Object(single_block(block, values)));
    json.extend(resource(&NOTIFICATION_PREFERENCES, values));
    json
}

/// Returns the values of a stored channel.
pub(super) fn stored(json: &Json) -> Values {
    let mut values = Values::stored(json, &NOTIFICATION);
    values.merge(Values::stored(json, &NOTIFICATION_PREFERENCES));
    values
}

/// Adds a row to a repeated block of the kind. Returns `false` if it has none at this path.
pub(super) fn add_row(kind: ProviderType, values: &mut Values, path: &str) -> bool {
    let block = block(kind);
    let inner = path.strip_prefix(block.name).and_then(|rest| rest.strip_prefix('.'));
    let inner = block.blocks.iter().find(|it| Some(it.name) == inner);
    if let Some(inner) = inner {
        values.add_row_at(path, inner);
    }
    inner.is_some()
}

/// Returns the fields of the mask of an update. The monitors have a screen of their own.
pub(super) fn mask(kind: ProviderType) -> String {
    format!("name,providerType,{},events,remindEvery,quietHours", json_name(kind.as_str()))
}

fn block(kind: ProviderType) -> &'static Block {
    NOTIFICATION.block(kind.as_str())
}

/// Returns the inputs of a group without its frame: in this form they are the main ones.
fn ungrouped(input: Input) -> Vec<Input> {
    match input {
        Input::Group(group) => {
            let fields = group.fields.into_iter().map(Input::Field);
            fields.chain(group.rows.into_iter().map(Input::Rows)).collect()
        }
        other @ (Input::Field(_) | Input::Rows(_)) => vec![other],
    }
}

fn choices(field: &str) -> Option<Vec<Choice>> {
    let choices: &[(&str, &str)] = match field {
        "events" => {
            &[("error", "Outages"), ("degraded", "Degradations"), ("recovered", "Recoveries")]
        }
        _ => return None,
    };
    let choice = |(value, label): &(&str, &str)| Choice {
        value: (*value).to_owned(),
        label: (*label).to_owned(),
    };
    Some(choices.iter().map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_round_trips_through_its_form() {
        let stored_json = json!({
            "name": "Night", "providerType": "opsgenie", "monitorIds": [],
            "opsgenie": { "apiKey": "k", "region": "eu" },
            "events": ["error"], "remindEvery": "2h",
            "quietHours": { "from": "22:00", "until": "07:00", "timeZone": "UTC", "appliesTo": "all" },
        });
        let values = stored(&stored_json);
        assert_eq!(json!(notification(ProviderType::Opsgenie, &values)), stored_json);
    }

    #[test]
    fn empty_form_sends_its_block() {
        let json = notification(ProviderType::Slack, &Values::default());
        assert_eq!(json["slack"], json!({}));
        assert!(!json.contains_key("quietHours"));
    }
}
