//! Messages to Microsoft Teams as sent, for each kind of event, and the meaning of responses.
//! `follow_ups` has reminders and digests.

mod follow_ups;

use insta::assert_snapshot;
use rules::notification::IncomingWebhook;
use rules::{ProviderType, Secret};
use serde_json::Value;

use super::MESSAGE_BYTES_MAX;
use crate::notify::tests::asserts::{JsonMessage, json, text};
use crate::notify::tests::fixtures::{an_event, wire};
use crate::notify::{
    Disposition, EventBatch, EventKind, Message, VendorResponse, classify_response,
};

const KIND: ProviderType = ProviderType::MsTeams;

/// A typical channel.
pub(crate) fn channel() -> IncomingWebhook {
    let url = "https://prod-1.westeurope.logic.azure.com/workflows/0/triggers/manual/paths/invoke?\
               api-version=2016-06-01&sig=s3cr3t";
    IncomingWebhook { webhook_url: Secret::new(url.to_owned()) }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let JsonMessage { body, bytes } = &json(message);
    assert!(*bytes <= MESSAGE_BYTES_MAX, "{bytes} bytes");
    assert_eq!(text(body, "/type"), "message");
    let card = &body["attachments"][0]["content"];
    let blocks = card["body"].as_array().expect("the body is a list");
    for block in blocks {
        assert_eq!(text(block, "/type"), "RichTextBlock", "text without markup");
        let runs = block["inlines"].as_array().expect("inlines are a list");
        assert!(runs.iter().all(|run| run["text"].as_str().is_some_and(|text| !text.is_empty())));
    }
    let links = card.get("actions").and_then(Value::as_array);
    assert!(links.into_iter().flatten().all(|link| text(link, "/url").starts_with("http")));
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the message")]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://prod-1.westeurope.logic.azure.com/workflows/0/triggers/manual/paths/invoke?api-version=2016-06-01&sig=s3cr3t
    content-type: application/json

    {
      "type": "message",
      "attachments": [
        {
          "contentType": "application/vnd.microsoft.card.adaptive",
          "contentUrl": null,
          "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width":"Full"},
            "fallbackText": "🔴 Down: API & <shop>",
            "body": [
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "🔴 Down: API & <shop>",
                    "size": "Large",
                    "weight": "Bolder",
                    "color": "Attention"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "None",
                "inlines": [{"type":"TextRun","text":"Example Inc. · 2026-11-21 16:48:55 UTC","isSubtle":true}]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [{"type":"TextRun","text":"the status is 503, which is not 200"}]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Target: ","weight":"Bolder"},
                  {"type":"TextRun","text":"GET https://api.example.com/health?full=1&x_y=2"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Since: ","weight":"Bolder"},
                  {"type":"TextRun","text":"2026-11-21 16:48:55 UTC"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Regions: ","weight":"Bolder"},
                  {"type":"TextRun","text":"2 of 3 failing"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [{"type":"TextRun","text":"• Singapore (fly-sin): ok, status 200, 240 ms"}]
              }
            ],
            "actions": [
              {
                "type": "Action.OpenUrl",
                "title": "Open in Aloft",
                "url": "https://status.example.com/incidents/inc_0000000000005"
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the message")]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://prod-1.westeurope.logic.azure.com/workflows/0/triggers/manual/paths/invoke?api-version=2016-06-01&sig=s3cr3t
    content-type: application/json

    {
      "type": "message",
      "attachments": [
        {
          "contentType": "application/vnd.microsoft.card.adaptive",
          "contentUrl": null,
          "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width":"Full"},
            "fallbackText": "🟢 Recovered after 12 min: API & <shop>",
            "body": [
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "🟢 Recovered after 12 min: API & <shop>",
                    "size": "Large",
                    "weight": "Bolder",
                    "color": "Good"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "None",
                "inlines": [{"type":"TextRun","text":"Example Inc. · 2026-11-21 16:48:55 UTC","isSubtle":true}]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Target: ","weight":"Bolder"},
                  {"type":"TextRun","text":"GET https://api.example.com/health?full=1&x_y=2"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Started: ","weight":"Bolder"},
                  {"type":"TextRun","text":"2026-11-21 16:36:55 UTC"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Duration: ","weight":"Bolder"},
                  {"type":"TextRun","text":"12 min"}
                ]
              }
            ],
            "actions": [
              {
                "type": "Action.OpenUrl",
                "title": "Open in Aloft",
                "url": "https://status.example.com/incidents/inc_0000000000005"
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://prod-1.westeurope.logic.azure.com/workflows/0/triggers/manual/paths/invoke?api-version=2016-06-01&sig=s3cr3t
    content-type: application/json

    {
      "type": "message",
      "attachments": [
        {
          "contentType": "application/vnd.microsoft.card.adaptive",
          "contentUrl": null,
          "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.4",
            "msteams": {"width":"Full"},
            "fallbackText": "🔵 Test: this channel works",
            "body": [
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "🔵 Test: this channel works",
                    "size": "Large",
                    "weight": "Bolder",
                    "color": "Accent"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "None",
                "inlines": [{"type":"TextRun","text":"Example Inc. · 2026-11-21 16:48:55 UTC","isSubtle":true}]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [{"type":"TextRun","text":"This is a test of the channel \"On call\". Nothing is wrong."}]
              }
            ],
            "actions": [
              {
                "type": "Action.OpenUrl",
                "title": "Open in Aloft",
                "url": "https://status.example.com/incidents/inc_0000000000005"
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn teams_errors_are_classified() {
    let classify = |status, body: &str| {
        let response = VendorResponse { status, retry_after: None, body: body.to_owned() };
        match classify_response(KIND, &response) {
            Disposition::Accepted => "accepted".to_owned(),
            Disposition::Again { why, .. } => format!("again: {why}"),
            Disposition::Rejected(rejection) => format!("rejected: {}", rejection.why),
        }
    };
    assert_eq!(classify(202, ""), "accepted");
    let limited = r#"{"error":{"code":"WorkflowTriggerRateLimited","message":"Slow down."}}"#;
    assert_eq!(classify(429, limited), "again: answered 429 “Slow down.”");
    let gone = r#"{"error":{"code":"WorkflowNotFound","message":"No such workflow."}}"#;
    assert_eq!(
        classify(404, gone),
        "rejected: answered 404 “No such workflow.”; the workflow was deleted or turned off: create or enable it in Teams"
    );
}
