//! Email: text and HTML with the same content. All emails of one incident reply to the same
//! message, so that they form a thread. The sender encodes them and speaks SMTP. Format:
//! <https://www.rfc-editor.org/rfc/rfc5322>

mod html;
pub mod style;

use rules::notification::Email;

use super::alert_text::{AlertText, LINK_TEXT, format_time};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, ListLinks, Mail, Message, VendorResponse};
use super::response::{rejected, retry_later};
use super::truncate::{List, Unit, plain, truncate};
use super::vendors::setting;

/// Maximum length of a subject (our choice): a header line may have 998 octets (RFC 5322 §2.1.1),
/// of which mail programs show a tenth.
pub(super) const SUBJECT_MAX: usize = 200;
/// Regions or events: as many as mail programs show without asking (Gmail: 102 KB), counting both
/// texts.
const LINES: List =
    List { escape: plain, unit: Unit::Bytes, around: ("\n• ", ""), max: html::LINES.max };
/// Maximum length of the left part of a message ID (our choice).
const ID_MAX: usize = 200;
pub(super) const KIND: Kind<Email> = Kind::new(compose, classify)
    .with_account(setting::SMTP, |config| (!config.has_mail).then_some(setting::SMTP));

fn compose(email: &Email, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, envelope, .. } = alert;
    Message::Mail(Mail {
        to: email.email.clone(),
        subject: truncate(&alert_text.title, subject, Unit::Utf16, SUBJECT_MAX),
        text: text(alert_text),
        html: html::page(alert_text),
        id: id(envelope.key),
        thread: id(envelope.thread),
        list: ListLinks::None,
    })
}

/// Classifies SMTP replies: 4yz is retried, 5yz is not, except errors about the server's own
/// account, which the operator can fix. <https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1>
fn classify(response: &VendorResponse) -> Disposition {
    match response.status {
        200..=399 => Disposition::Accepted,
        530 | 534 | 535 | 538 => {
            retry_later(response, None, "the mail server rejected this server's account")
        }
        550 | 551 | 553 => rejected(
            response,
            &response.body,
            Some("enter an address that accepts mail in the channel"),
        ),
        500..=599 => rejected(response, &response.body, None),
        _ => retry_later(response, response.retry_after, &response.body),
    }
}

/// Renders the plain text. Its lines have the same bound as in the HTML.
fn text(alert_text: &AlertText) -> String {
    let details = AlertText { lines: Vec::new(), ..alert_text.clone() }.text();
    let lines = LINES.format(&alert_text.lines);
    let mut text =
        format!("{}\n\n{details}{lines}\n\n{}\n", alert_text.title, format_time(alert_text.at));
    if let Some(link) = &alert_text.link {
        text = text + "\n" + LINK_TEXT + ": " + link + "\n";
    }
    text
}

/// Prevents a name from starting an encoded word (RFC 2047 §2) by inserting an invisible joiner.
pub(super) fn subject(character: char, out: &mut String) {
    if character == '?' && out.ends_with('=') {
        out.push('\u{2060}');
    }
    out.push(character);
}

/// Replaces characters that need quotes in the left part of a message ID.
pub(super) fn id(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let id = text.chars().map(|c| if is_plain(c) { c } else { '-' });
    id.take(ID_MAX).collect()
}

#[cfg(test)]
pub(super) mod tests;
