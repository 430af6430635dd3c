//! Messages to phones through an account with an API like Twilio's. Format:
//! <https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource>

use super::alert_text::AlertText;
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, retry_later, text_at};
use super::truncate::Unit;
use super::vendors::TwilioAccount;

/// Maximum length of a body, <https://www.twilio.com/docs/api/errors/21617>.
pub(super) const BODY_MAX: usize = 1_600;
/// Beginning of the IDs of Twilio's messaging services; the service chooses the sender.
pub(super) const SERVICE: &str = "MG";

/// Creates the request for a message with this content.
pub(super) fn message(
    account: &TwilioAccount,
    sender: &str,
    recipient: &str,
    content: &[(&str, &str)],
) -> Message {
    let url = format!("{}/2010-04-01/Accounts/{}/Messages.json", account.base, account.account);
    let sender_field = if sender.starts_with(SERVICE) { "MessagingServiceSid" } else { "From" };
    let mut fields = vec![("To", recipient), (sender_field, sender)];
    fields.extend(content);
    let message = HttpMessage::form(&url, &fields);
    message.with_basic(&account.account, account.token.expose()).into()
}

/// Classifies a response; Twilio describes problems by code:
/// <https://www.twilio.com/docs/api/errors>. It may add codes, so the status decides about a retry,
/// except for the known rate-limit and retry-later codes.
pub(super) fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let detail = text_at(&body, "/message");
    let way_out = match body.get("code").and_then(serde_json::Value::as_i64) {
        Some(14_107 | 20_429 | 21_730) => {
            return retry_later(response, response.retry_after, detail.unwrap_or("not now"));
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
    classify_status(response, detail, way_out)
}

/// Appends the link if it fits.
pub(super) fn with_link(body: String, alert_text: &AlertText, max: usize) -> String {
    let Some(link) = &alert_text.link else { return body };
    let with_link = format!("{body}\n{link}");
    if Unit::Utf16.length(&with_link) <= max { with_link } else { body }
}
