//! Texts of fields: labels from their names in the specification, their names in JSON, and their
//! defaults.

use rules::field::{Field, Presence, Value};

/// Labels that are more than their name in other letters.
const LABELS: &[(&str, &str)] = &[
    ("url", "URL"),
    ("uri", "Target"),
    ("timeout", "Timeout (ms)"),
    ("degraded_at", "Degraded above (ms)"),
    ("retry", "Retries"),
    ("ip_version", "IP version"),
    ("json_assertions", "JSON assertions"),
    ("client_certificate", "Client certificate (PEM)"),
    ("client_key", "Private key of the client certificate (PEM)"),
    ("certificate_warn_days", "Warn before a certificate expires (days)"),
    ("active", "Run checks"),
    ("public", "Show response times on status pages"),
    ("periodicity", "Check every"),
    ("monitor_ids", "Monitors"),
    ("component_ids", "Components"),
    ("page_id", "Status page"),
    ("webhook_url", "Webhook URL"),
    ("server_url", "Server URL"),
    ("homepage_url", "Website"),
    ("contact_url", "Contact"),
    ("api_key", "API key"),
    ("chat_id", "Chat"),
    ("at", "Time (UTC)"),
    ("starts_at", "Start (UTC)"),
    ("recurrence", "Repeats"),
    ("slug", "Address"),
    ("access_type", "Who may read it"),
    ("auth_email_domains", "Email domains"),
    ("applies_to", "What to hold"),
    ("email", "Email address"),
    ("type", "Kind"),
    ("group_id", "Group"),
    ("monitor_id", "Monitor"),
    ("tags", "Tags, separated by commas"),
];

/// Returns the label of a field.
pub(crate) fn label(name: &str) -> String {
    if let Some((_, label)) = LABELS.iter().find(|(known, _)| *known == name) {
        return (*label).to_owned();
    }
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first: String = letters.next().map(|it| it.to_uppercase().collect()).unwrap_or_default();
    first + letters.as_str()
}

/// Returns the default as text. Empty if there is none.
pub(super) fn default_text(field: &Field) -> String {
    match field.presence {
        Presence::Default(Value::Text(text)) => text.to_owned(),
        Presence::Default(Value::Integer(number)) => number.to_string(),
        Presence::Default(Value::Bool(is_on)) => is_on.to_string(),
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => {
            String::new()
        }
    }
}
