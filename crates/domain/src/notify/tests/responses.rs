//! Classification of responses, as documented by each vendor.

use std::time::Duration;

use rules::ProviderType;

use crate::notify::{Disposition, VendorResponse, classify_response, is_stateful};

fn response(status: u16, body: &str) -> VendorResponse {
    VendorResponse { status, retry_after: None, body: body.to_owned() }
}

/// Formats the classification of a response on one line.
fn meaning(kind: ProviderType, response: &VendorResponse) -> String {
    match classify_response(kind, response) {
        Disposition::Accepted => "accepted".to_owned(),
        Disposition::Again { after: None, why } => format!("again: {why}"),
        Disposition::Again { after: Some(after), why } => format!("again in {after:?}: {why}"),
        Disposition::Rejected(refusal) => format!("refused: {}", refusal.why),
    }
}

fn assert_means(kind: ProviderType, table: &[(u16, &str, &str)]) {
    for (status, body, expected) in table {
        assert_eq!(meaning(kind, &response(*status, body)), *expected, "{kind}: {status} {body}");
    }
}

fn over_http() -> impl Iterator<Item = ProviderType> {
    ProviderType::ALL.iter().copied().filter(|kind| *kind != ProviderType::Email)
}

#[test]
fn statuses_are_classified_alike_for_every_kind() {
    for kind in over_http() {
        for status in [200, 201, 202, 204] {
            assert_eq!(
                classify_response(kind, &response(status, "")),
                Disposition::Accepted,
                "{kind}"
            );
        }
        for status in [408, 425, 429, 500, 502, 503, 504] {
            let read = classify_response(kind, &response(status, ""));
            assert!(matches!(read, Disposition::Again { .. }), "{kind} {status}: {read:?}");
        }
        for status in [301, 308, 400, 401, 403, 404, 405, 410, 413, 422] {
            let read = classify_response(kind, &response(status, ""));
            assert!(matches!(read, Disposition::Rejected(_)), "{kind} {status}: {read:?}");
        }
    }
}

// design: §5 "Delivery … honours Retry-After"
#[test]
fn retry_after_header_is_respected_for_every_kind() {
    for kind in over_http() {
        for status in [429, 503] {
            let wait = Duration::from_secs(90);
            let response = VendorResponse { retry_after: Some(wait), ..response(status, "") };
            let read = classify_response(kind, &response);
            assert!(
                matches!(read, Disposition::Again { after: Some(after), .. } if after == wait),
                "{kind} {status}: {read:?}"
            );
        }
    }
}

#[test]
fn slack_errors_are_classified() {
    assert_means(
        ProviderType::Slack,
        &[
            (200, "ok", "accepted"),
            (400, "invalid_payload", "refused: answered 400 “invalid_payload”"),
            (
                404,
                "channel_not_found",
                "refused: answered 404 “channel_not_found”; the Slack channel was deleted: create a webhook in another one",
            ),
            (
                410,
                "channel_is_archived",
                "refused: answered 410 “channel_is_archived”; the Slack channel was deleted: create a webhook in another one",
            ),
            (
                403,
                "action_prohibited",
                "refused: answered 403 “action_prohibited”; an administrator of the Slack workspace must allow it",
            ),
            (
                404,
                "no_service",
                "refused: answered 404 “no_service”; the webhook is disabled: create a new one in Slack",
            ),
            (500, "rollup_error", "again: answered 500 “rollup_error”"),
        ],
    );
}

#[test]
fn discord_errors_are_classified() {
    assert_means(
        ProviderType::Discord,
        &[
            (200, r#"{"id":"1"}"#, "accepted"),
            (
                429,
                r#"{"message":"You are being rate limited.","retry_after":0.25,"global":false}"#,
                "again in 250ms: answered 429 “You are being rate limited.”",
            ),
            (
                404,
                r#"{"message":"Unknown Webhook","code":10015}"#,
                "refused: answered 404 “Unknown Webhook”; the webhook was deleted: create a new one in Discord",
            ),
            (
                400,
                r#"{"code":50035,"message":"Invalid Form Body"}"#,
                "refused: answered 400 “Invalid Form Body”",
            ),
        ],
    );
    let both = VendorResponse {
        retry_after: Some(Duration::from_secs(1)),
        ..response(429, r#"{"retry_after":1000}"#)
    };
    let read = meaning(ProviderType::Discord, &both);
    assert_eq!(read, "again in 1s: answered 429 “too many messages”");
}

#[test]
fn telegram_errors_are_classified() {
    assert_means(
        ProviderType::Telegram,
        &[
            (200, r#"{"ok":true,"result":{}}"#, "accepted"),
            (
                429,
                r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}"#,
                "again in 7s: answered 429 “Too Many Requests: retry after 7”",
            ),
            (
                400,
                r#"{"ok":false,"description":"Bad Request: chat not found"}"#,
                "refused: answered 400 “Bad Request: chat not found”; enter the chat's id in the channel and add the bot to the chat",
            ),
            (
                400,
                r#"{"ok":false,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100123}}"#,
                "refused: answered 400 “Bad Request: group chat was upgraded to a supergroup chat”; the group became a supergroup: enter chat id -100123 in the channel",
            ),
            (
                200,
                r#"{"ok":false,"description":"Bad Request: no"}"#,
                "refused: answered 200 “Bad Request: no”",
            ),
            (
                403,
                r#"{"ok":false,"description":"Forbidden: bot was blocked by the user"}"#,
                "refused: answered 403 “Forbidden: bot was blocked by the user”; the bot is blocked or not a member of the chat: add it again",
            ),
        ],
    );
}

#[test]
fn twilio_errors_are_classified() {
    for kind in [ProviderType::Sms, ProviderType::Whatsapp] {
        assert_means(
            kind,
            &[
                (201, r#"{"sid":"SM1","status":"queued"}"#, "accepted"),
                (
                    400,
                    r#"{"code":21610,"message":"Attempt to send to unsubscribed recipient","status":400}"#,
                    "refused: answered 400 “Attempt to send to unsubscribed recipient”; the recipient has opted out: reply START from that phone",
                ),
                (
                    400,
                    r#"{"code":21211,"message":"Invalid 'To' Phone Number","status":400}"#,
                    "refused: answered 400 “Invalid 'To' Phone Number”; enter a number that can receive such messages in the channel",
                ),
                (
                    400,
                    r#"{"code":21730,"message":"System under maintenance","status":400}"#,
                    "again: answered 400 “System under maintenance”",
                ),
                (
                    401,
                    r#"{"code":20003,"message":"Authenticate","status":401}"#,
                    "refused: answered 401 “Authenticate”; the server's telephone account is invalid: ask the operator to correct it",
                ),
                (
                    429,
                    r#"{"code":20429,"message":"Too Many Requests","status":429}"#,
                    "again: answered 429 “Too Many Requests”",
                ),
            ],
        );
    }
}

#[test]
fn errors_of_stateful_vendors_are_classified() {
    assert_means(
        ProviderType::Pagerduty,
        &[
            (202, r#"{"status":"success","dedup_key":"k"}"#, "accepted"),
            (
                400,
                r#"{"status":"invalid event","message":"Event object is invalid","errors":["Length of 'routing_key' is incorrect (should be 32 characters)"]}"#,
                "refused: answered 400 “Length of 'routing_key' is incorrect (should be 32 characters)”; enter the integration key of an Events API v2 integration in the channel",
            ),
            (429, "", "again: answered 429"),
        ],
    );
    assert_means(
        ProviderType::Opsgenie,
        &[
            (202, r#"{"result":"Request will be processed","requestId":"r"}"#, "accepted"),
            (
                403,
                r#"{"message":"You are not authorized"}"#,
                "refused: answered 403 “You are not authorized”; enter the key of an API integration and its region in the channel",
            ),
        ],
    );
    assert_means(
        ProviderType::GrafanaOncall,
        &[
            (200, "Ok.", "accepted"),
            (
                404,
                "",
                "refused: answered 404; the integration was deleted: enter the URL of a formatted webhook in the channel",
            ),
        ],
    );
}

#[test]
fn google_chat_and_ntfy_errors_are_classified() {
    assert_means(
        ProviderType::GoogleChat,
        &[
            (
                429,
                r#"{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}"#,
                "again: answered 429 “Resource has been exhausted”",
            ),
            (
                404,
                r#"{"error":{"code":404,"message":"Space not found"}}"#,
                "refused: answered 404 “Space not found”; the webhook or its space was deleted: create a new one in Google Chat",
            ),
        ],
    );
    assert_means(
        ProviderType::Ntfy,
        &[
            (
                429,
                r#"{"code":42901,"http":429,"error":"limit reached: too many requests"}"#,
                "again: answered 429 “limit reached: too many requests”",
            ),
            (507, r#"{"error":"disk full"}"#, "again: answered 507 “disk full”"),
            (
                403,
                r#"{"code":40301,"http":403,"error":"forbidden"}"#,
                "refused: answered 403 “forbidden”; enter a token with write access to the topic in the channel",
            ),
        ],
    );
}

#[test]
fn smtp_replies_are_classified_by_first_digit() {
    assert_means(
        ProviderType::Email,
        &[
            (250, "2.0.0 Ok: queued", "accepted"),
            (421, "4.3.2 try later", "again: answered 421 “4.3.2 try later”"),
            (451, "4.7.1 greylisted", "again: answered 451 “4.7.1 greylisted”"),
            (
                550,
                "5.1.1 no such user",
                "refused: answered 550 “5.1.1 no such user”; enter an address that accepts mail in the channel",
            ),
            (552, "5.2.2 mailbox full", "refused: answered 552 “5.2.2 mailbox full”"),
            (
                535,
                "5.7.8 bad credentials",
                "again: answered 535 “the mail server rejected this server's account”",
            ),
        ],
    );
}

#[test]
fn missing_or_redirecting_webhook_shows_the_way_out() {
    assert_means(
        ProviderType::Webhook,
        &[
            (
                302,
                "",
                "refused: answered 302; it redirects: enter its final address in the channel",
            ),
            (
                401,
                "",
                "refused: answered 401; it rejected the credentials: correct them in the channel",
            ),
            (
                410,
                "gone",
                "refused: answered 410 “gone”; it no longer exists: enter its new address in the channel",
            ),
        ],
    );
}

#[test]
fn possible_keys_and_long_texts_are_hidden() {
    let body = format!(
        "no route for /services/T024BE7LH/B024BE7LH/abcdefghij0123456789,\r\nkey=0123456789abcdef0123456789abcdef {}",
        "so ".repeat(200)
    );
    let read = meaning(ProviderType::Webhook, &response(400, &body));
    assert!(!read.contains("0123456789") && !read.contains("T024BE7LH"), "{read}");
    assert!(read.starts_with("refused: answered 400 “no route for …,  … so so"), "{read}");
    assert!(read.chars().count() < 240 && !read.contains(['\r', '\n']), "{read}");
}

#[test]
fn any_response_is_classified() {
    let odd =
        ["", "{", "null", "[]", r#"{"retry_after":-1}"#, r#"{"retry_after":1e300}"#, "\0\u{202e}"];
    for kind in ProviderType::ALL {
        for status in [0, 100, 199, 299, 429, 600, 999, u16::MAX] {
            for body in odd {
                let read = classify_response(*kind, &response(status, body));
                assert_eq!(read, classify_response(*kind, &response(status, body)));
            }
        }
    }
}

#[test]
fn pagerduty_opsgenie_and_grafana_keep_alerts() {
    let keeping: Vec<&str> = ProviderType::ALL
        .iter()
        .filter(|kind| is_stateful(**kind))
        .map(|kind| kind.as_str())
        .collect();
    assert_eq!(keeping, ["pagerduty", "opsgenie", "grafana_oncall"]);
}
