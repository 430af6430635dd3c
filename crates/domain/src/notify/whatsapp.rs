//! WhatsApp: a message to a phone. A business can begin a conversation only with an approved
//! template: other texts reach only people who wrote within a day. Format: see [`super::phone`].

use rules::notification::Phone;

use super::alert_text::AlertText;
use super::kinds::{Kind, OutgoingAlert};
use super::message::Message;
use super::phone;
use super::truncate::{Unit, plain, truncate};
use super::vendors::{TemplateParameter, WhatsappTemplate, setting};

/// Maximum lengths of the parts of a message (our choice).
const TITLE_MAX: usize = 300;
const TEXT_MAX: usize = 900;
/// Maximum length of one template variable (our choice): WhatsApp allows 1,024 characters for the
/// whole body.
const VARIABLE_MAX: usize = 600;

pub(super) const KIND: Kind<Phone> = Kind::new(compose, phone::classify)
    .with_account(setting::TWILIO, |config| {
        config.missing_number(|account| &account.whatsapp_from, setting::WHATSAPP_FROM)
    });

fn compose(phone: &Phone, alert: &OutgoingAlert<'_>) -> Message {
    let account = alert.config.twilio.as_ref().expect("no setting is missing");
    let sender = account.whatsapp_from.as_deref().expect("no setting is missing");
    let (sender, recipient) = (address(sender), address(&phone.phone_number));
    match &account.whatsapp_template {
        Some(template) => {
            let variables = template_variables(template, &alert.text);
            let content = [("ContentSid", &*template.id), ("ContentVariables", &*variables)];
            phone::message(account, &sender, &recipient, &content)
        }
        None => phone::message(account, &sender, &recipient, &[("Body", &text(&alert.text))]),
    }
}

/// Returns the number as an address in WhatsApp. IDs of messaging services stay.
fn address(number: &str) -> String {
    if number.starts_with(phone::SERVICE) {
        return number.to_owned();
    }
    format!("whatsapp:{}", number.trim_start_matches("whatsapp:"))
}

/// Composes a WhatsApp text without markup of our own. WhatsApp has no escape syntax, so markup in
/// names only affects their appearance.
fn text(alert_text: &AlertText) -> String {
    let title = truncate(&alert_text.signed_title(), plain, Unit::Utf16, TITLE_MAX);
    let text: Vec<String> = alert_text
        .text()
        .lines()
        .scan(TEXT_MAX, |room, line| {
            let line = truncate(line, plain, Unit::Utf16, *room);
            let length = Unit::Utf16.length(&line) + 1;
            *room = room.checked_sub(length)?;
            Some(line)
        })
        .collect();
    let body = title + "\n" + &text.join("\n");
    phone::with_link(body.trim_end().to_owned(), alert_text, phone::BODY_MAX)
}

/// Returns the variables of a template as JSON. WhatsApp accepts neither line breaks, runs of
/// spaces nor empty values.
fn template_variables(template: &WhatsappTemplate, alert_text: &AlertText) -> String {
    let value = |parameter: &TemplateParameter| {
        let text = match parameter {
            TemplateParameter::Title => alert_text.signed_title(),
            TemplateParameter::Text => alert_text.text(),
            TemplateParameter::Reason => alert_text.why.clone().unwrap_or_default(),
            TemplateParameter::Target => alert_text.target.clone().unwrap_or_default(),
            TemplateParameter::Link => alert_text.link.clone().unwrap_or_default(),
        };
        let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" | ");
        match line.as_str() {
            "" => "-".to_owned(),
            line => truncate(line, plain, Unit::Utf16, VARIABLE_MAX),
        }
    };
    let pairs = template.parameters.iter().enumerate();
    let variables = pairs.map(|(at, it)| ((at + 1).to_string(), value(it).into()));
    serde_json::Value::Object(variables.collect()).to_string()
}

#[cfg(test)]
pub(super) mod tests;
