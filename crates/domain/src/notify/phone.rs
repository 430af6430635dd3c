//! SMS and WhatsApp messages through an account with an API like Twilio's. In WhatsApp, a business
//! can begin a conversation only with an approved template: other texts reach only people who wrote
//! within a day. Format:
//! <https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource>

use rules::ProviderType;
use rules::notification::Phone;

use super::alert_text::{AlertState, AlertText};
use super::message::{Disposition, HttpMessage, VendorResponse};
use super::response::{classify_status, json as body_of, retry_later, text_at};
use super::truncate::{Unit, plain, truncate, truncate_with};
use super::vendors::{TemplateParameter, TwilioAccount, Unconfigured, WhatsappTemplate, setting};

/// Maximum length of a body, <https://www.twilio.com/docs/api/errors/21617>.
pub(super) const BODY_MAX: usize = 1_600;
/// Maximum length of a text message (our choice): three parts of the seven-bit alphabet, because
/// each part costs.
pub(super) const SMS_MAX: usize = 459;
/// Maximum length of a text message with other characters (our choice): four parts of 67 units
/// each.
const SMS_WIDE_MAX: usize = 268;
/// Characters of the seven-bit alphabet besides ASCII, including those that take two positions
/// (3GPP TS 23.038 §6.2.1). It has neither back-ticks nor control characters except line feeds.
const SEVEN_BIT: &str = "£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà€";
/// Maximum lengths of the parts of a WhatsApp message (our choice).
const TITLE_MAX: usize = 300;
const TEXT_MAX: usize = 900;
/// Maximum length of one template variable (our choice): WhatsApp allows 1,024 characters for the
/// whole body.
const VARIABLE_MAX: usize = 600;

/// How a message is sent to a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhoneTransport {
    Sms,
    Whatsapp,
}

pub(super) fn compose(
    way: PhoneTransport,
    phone: &Phone,
    account: Option<&TwilioAccount>,
    story: &AlertText,
) -> Result<HttpMessage, Unconfigured> {
    let missing = |setting| Unconfigured { kind: way.kind(), setting };
    let account = account.ok_or(missing(setting::TWILIO))?;
    let (sender, setting) = match way {
        PhoneTransport::Sms => (&account.sms_from, setting::SMS_FROM),
        PhoneTransport::Whatsapp => (&account.whatsapp_from, setting::WHATSAPP_FROM),
    };
    let sender = sender.as_deref().ok_or(missing(setting))?;
    let url = format!("{}/2010-04-01/Accounts/{}/Messages.json", account.base, account.account);
    let to = way.address(&phone.phone_number);
    // IDs of Twilio's messaging services begin with MG; the service chooses the sender.
    let (from_field, from) = if sender.starts_with("MG") {
        ("MessagingServiceSid", sender.to_owned())
    } else {
        ("From", way.address(sender))
    };
    let (body, variables);
    let mut fields = vec![("To", to.as_str()), (from_field, from.as_str())];
    match (way, &account.whatsapp_template) {
        (PhoneTransport::Whatsapp, Some(template)) => {
            variables = template_variables(template, story);
            fields.extend([("ContentSid", &*template.id), ("ContentVariables", &*variables)]);
        }
        (PhoneTransport::Whatsapp, None) => {
            body = whatsapp(story);
            fields.push(("Body", &*body));
        }
        (PhoneTransport::Sms, _) => {
            body = sms(story);
            fields.push(("Body", &*body));
        }
    }
    let message = HttpMessage::form(&url, &fields);
    Ok(message.with_basic(&account.account, account.token.expose()))
}

/// Classifies a response; Twilio describes problems by code:
/// <https://www.twilio.com/docs/api/errors>. It may add codes, so the status decides about a retry,
/// except for the known rate-limit and retry-later codes.
pub(super) fn classify(answer: &VendorResponse) -> Disposition {
    let body = body_of(answer);
    let said = text_at(&body, "/message");
    let way_out = match body.get("code").and_then(serde_json::Value::as_i64) {
        Some(14_107 | 20_429 | 21_730) => {
            return retry_later(answer, answer.retry_after, said.unwrap_or("not now"));
        }
        Some(10_001 | 20_003 | 20_404) => {
            Some("the server's telephone account is invalid: ask the operator to correct it")
        }
        Some(21_211 | 21_217 | 21_265 | 21_614 | 63_003) => {
            Some("enter a number that can receive such messages in the channel")
        }
        Some(21_212 | 21_603 | 21_606 | 21_659 | 21_660 | 63_007) => {
            Some("the server's number cannot send such messages: ask the operator to change it")
        }
        Some(21_408 | 21_612) => {
            Some("the account may not send to this country: enable it in the account")
        }
        Some(21_608) => Some("a trial account can only send to verified numbers"),
        Some(21_610) => Some("the recipient has opted out: reply START from that phone"),
        Some(63_016) => Some(
            "WhatsApp requires an approved template outside a conversation: ask the operator to set \
             `whatsapp_template`",
        ),
        Some(63_027 | 63_028) => {
            Some("the template does not fit: ask the operator to check `whatsapp_parameters`")
        }
        Some(_) | None => None,
    };
    classify_status(answer, said, way_out)
}

impl PhoneTransport {
    const fn kind(self) -> ProviderType {
        match self {
            Self::Sms => ProviderType::Sms,
            Self::Whatsapp => ProviderType::Whatsapp,
        }
    }

    fn address(self, number: &str) -> String {
        match self {
            Self::Sms => number.to_owned(),
            Self::Whatsapp => format!("whatsapp:{}", number.trim_start_matches("whatsapp:")),
        }
    }
}

/// Composes a short text: title, reason, and the link if it fits. Uses no emoji and three dots as
/// ellipsis, so that only the user's text decides whether the seven-bit alphabet is enough.
fn sms(story: &AlertText) -> String {
    let why = match &story.why {
        Some(why) if story.phase == AlertState::Open => why.clone(),
        // For a digest, as many events as fit.
        None if story.target.is_none() => story.lines.join("\n"),
        Some(_) | None => String::new(),
    };
    let is_narrow = story.title.chars().chain(why.chars()).all(is_seven_bit);
    let (title_max, why_max, max) =
        if is_narrow { (140, 160, SMS_MAX) } else { (70, 80, SMS_WIDE_MAX) };
    let dots = |text: &str, max| truncate_with(text, plain, Unit::Utf16, max, "...");
    let mut body = dots(&story.title, title_max);
    if !why.is_empty() {
        body = body + "\n" + &dots(&why, why_max);
    }
    with_link(body, story, max)
}

fn is_seven_bit(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' if character != '`') || SEVEN_BIT.contains(character)
}

/// Composes a WhatsApp text without markup of our own. WhatsApp has no escape syntax, so markup in
/// names only affects their appearance.
fn whatsapp(story: &AlertText) -> String {
    let title = truncate(&story.signed_title(), plain, Unit::Utf16, TITLE_MAX);
    let text: Vec<String> = story
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
    with_link(body.trim_end().to_owned(), story, BODY_MAX)
}

/// Returns the variables of a template as JSON. WhatsApp accepts neither line breaks, runs of
/// spaces nor empty values.
fn template_variables(template: &WhatsappTemplate, story: &AlertText) -> String {
    let value = |parameter: &TemplateParameter| {
        let text = match parameter {
            TemplateParameter::Title => story.signed_title(),
            TemplateParameter::Text => story.text(),
            TemplateParameter::Reason => story.why.clone().unwrap_or_default(),
            TemplateParameter::Target => story.target.clone().unwrap_or_default(),
            TemplateParameter::Link => story.link.clone().unwrap_or_default(),
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

fn with_link(body: String, story: &AlertText, max: usize) -> String {
    let Some(link) = &story.link else { return body };
    let with_link = format!("{body}\n{link}");
    if Unit::Utf16.length(&with_link) <= max { with_link } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::tests::{alert_text, an_event};
    use crate::notify::{Event, EventKind};

    fn body(name: &str) -> String {
        let mut event: Event = an_event(EventKind::Error);
        name.clone_into(&mut event.monitor.name);
        sms(&alert_text(&event))
    }

    #[test]
    fn text_message_is_bounded_by_its_alphabet() {
        let (narrow, wide) = (body(&"n".repeat(300)), body(&"漢".repeat(300)));
        assert!(narrow.chars().all(is_seven_bit) && narrow.contains("nnn...\n"), "{narrow}");
        assert!(Unit::Utf16.length(&narrow) <= SMS_MAX);
        assert!(wide.contains("漢...\n") && Unit::Utf16.length(&wide) <= SMS_WIDE_MAX, "{wide}");
        assert!(wide.ends_with("/incidents/1"), "{wide}");
    }
}
