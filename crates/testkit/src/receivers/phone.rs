//! Twilio's rules for text messages and WhatsApp messages.
//! Reference:
//! <https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource>,
//! credentials: <https://www.twilio.com/docs/usage/requests-to-twilio>, errors:
//! <https://www.twilio.com/docs/api/errors>, WhatsApp addresses:
//! <https://www.twilio.com/docs/whatsapp/api>

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::validation::{Rejection, Validation, form, json as answer, length, path, refuse};
use crate::target::Received;

/// Id of the only valid account.
pub const ACCOUNT: &str = "AC0123456789abcdef0123456789abcdef";
/// Its token.
pub const TOKEN: &str = "fedcba9876543210fedcba9876543210";

const BODY_MAX: usize = 1_600;
const SERVICE_LENGTH: usize = 34;
/// Prefix of a phone number with WhatsApp.
const WHATSAPP: &str = "whatsapp:";

/// Kind of messages that the receiver accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PhoneTransport {
    Sms,
    Whatsapp,
}

/// Validates a text message.
pub(super) fn validate_sms(request: &Received) -> Validation {
    validate(PhoneTransport::Sms, request)
}

/// Validates a WhatsApp message.
pub(super) fn validate_whatsapp(request: &Received) -> Validation {
    validate(PhoneTransport::Whatsapp, request)
}

fn validate(transport: PhoneTransport, request: &Received) -> Validation {
    let ["2010-04-01", "Accounts", account, "Messages.json"] = path(request)[..] else {
        return Err(wrong(404, 20_404, "The requested resource was not found"));
    };
    let shown = BASE64_STANDARD.encode(format!("{ACCOUNT}:{TOKEN}"));
    if request.header("authorization") != Some(&format!("Basic {shown}")) || account != ACCOUNT {
        return Err(wrong(401, 20_003, "Authenticate"));
    }
    let content_type = request.header("content-type").unwrap_or_default();
    if !content_type.starts_with("application/x-www-form-urlencoded") {
        return Err(wrong(400, 21_604, "A 'To' phone number is required."));
    }
    let fields = form(request);
    let field = |name: &str| {
        let found = fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let Some(to) = field("To") else {
        return Err(wrong(400, 21_604, "A 'To' phone number is required."));
    };
    if !is_address(transport, to) {
        return Err(wrong(400, 21_211, &format!("Invalid 'To' Phone Number: {to}")));
    }
    match (field("From"), field("MessagingServiceSid")) {
        (Some(from), _) if from.starts_with(WHATSAPP) != to.starts_with(WHATSAPP) => {
            let detail = "Invalid From and To pair. From and To should be of the same channel";
            return Err(wrong(400, 21_910, detail));
        }
        (Some(from), _) if is_address(transport, from) => {}
        (None, Some(service)) if service.starts_with("MG") && service.len() == SERVICE_LENGTH => {}
        (Some(from), _) => {
            return Err(wrong(400, 21_212, &format!("Invalid From Number (caller ID): {from}")));
        }
        (None, _) => return Err(wrong(400, 21_603, "A 'From' phone number is required.")),
    }
    let body = field("Body").unwrap_or_default();
    if body.trim().is_empty() {
        return Err(wrong(400, 21_602, "Message body is required."));
    }
    if length(body) > BODY_MAX {
        let detail = "The concatenated message body exceeds the 1600 character limit";
        return Err(wrong(400, 21_617, detail));
    }
    let body = json!({
        "sid": "SM0123456789abcdef0123456789abcdef", "status": "queued", "to": to, "body": body,
    });
    Ok(answer(201, &body))
}

/// Returns whether the text is an E.164 number, with the prefix of WhatsApp if required.
fn is_address(way: PhoneTransport, address: &str) -> bool {
    let number = match way {
        PhoneTransport::Sms => Some(address),
        PhoneTransport::Whatsapp => address.strip_prefix(WHATSAPP),
    };
    number.and_then(|number| number.strip_prefix('+')).is_some_and(|digits| {
        (7..=15).contains(&digits.len())
            && digits.chars().all(|c| c.is_ascii_digit())
            && !digits.starts_with('0')
    })
}

fn wrong(status: u16, code: u32, message: &str) -> Box<Rejection> {
    let more = format!("https://www.twilio.com/docs/errors/{code}");
    let body = json!({ "code": code, "message": message, "more_info": more, "status": status });
    refuse(message, answer(status, &body))
}
