//! SMS: a short text to a phone. Format: see [`super::phone`].

use rules::notification::Phone;

use super::alert_text::{AlertState, AlertText};
use super::kinds::{Kind, OutgoingAlert};
use super::message::Message;
use super::phone;
use super::truncate::{Unit, plain, truncate_with};
use super::vendors::setting;

/// Maximum length of a text message (our choice): three parts of the seven-bit alphabet, because
/// each part costs.
const SMS_MAX: usize = 459;
/// Maximum length of a text message with other characters (our choice): four parts of 67 units
/// each.
const SMS_WIDE_MAX: usize = 268;
/// Characters of the seven-bit alphabet besides ASCII, including those that take two positions
/// (3GPP TS 23.038 §6.2.1). It has neither back-ticks nor control characters except line feeds.
const SEVEN_BIT: &str = "£¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ¤¡ÄÖÑÜ§¿äöñüà€";

pub(super) const KIND: Kind<Phone> = Kind::new(compose, phone::classify)
    .with_account(setting::TWILIO, |config| {
        config.missing_number(|account| &account.sms_from, setting::SMS_FROM)
    });

fn compose(phone: &Phone, alert: &OutgoingAlert<'_>) -> Message {
    let account = alert.config.twilio.as_ref().expect("no setting is missing");
    let sender = account.sms_from.as_deref().expect("no setting is missing");
    let body = text(&alert.text);
    phone::message(account, sender, &phone.phone_number, &[("Body", &body)])
}

/// Composes a short text: title, reason, and the link if it fits. Uses no emoji and three dots as
/// ellipsis, so that only the user's text decides whether the seven-bit alphabet is enough.
fn text(alert_text: &AlertText) -> String {
    let why = match &alert_text.why {
        Some(why) if alert_text.state == AlertState::Open => why.clone(),
        // For a digest, as many events as fit.
        None if alert_text.target.is_none() => alert_text.lines.join("\n"),
        Some(_) | None => String::new(),
    };
    let is_narrow = alert_text.title.chars().chain(why.chars()).all(is_seven_bit);
    let (title_max, why_max, max) =
        if is_narrow { (140, 160, SMS_MAX) } else { (70, 80, SMS_WIDE_MAX) };
    let dots = |text: &str, max| truncate_with(text, plain, Unit::Utf16, max, "...");
    let mut body = dots(&alert_text.title, title_max);
    if !why.is_empty() {
        body = body + "\n" + &dots(&why, why_max);
    }
    phone::with_link(body, alert_text, max)
}

fn is_seven_bit(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' if character != '`') || SEVEN_BIT.contains(character)
}

#[cfg(test)]
pub(super) mod tests;
