//! Messages to Microsoft Teams after the first one: reminders and digests.

use insta::assert_snapshot;

use super::KIND;
use crate::notify::EventBatch;
use crate::notify::tests::fixtures::{a_digest, a_reminder, wire};

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are the message")]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
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
            "fallbackText": "🔴 Still down after 2 h 5 min: API & <shop>",
            "body": [
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "🔴 Still down after 2 h 5 min: API & <shop>",
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
                  {"type":"TextRun","text":"2026-11-21 14:43:55 UTC"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {"type":"TextRun","text":"Duration: ","weight":"Bolder"},
                  {"type":"TextRun","text":"2 h 5 min"}
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [{"type":"TextRun","text":"Reminder: ","weight":"Bolder"},{"type":"TextRun","text":"2"}]
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
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
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
            "fallbackText": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
            "body": [
              {
                "type": "RichTextBlock",
                "spacing": "Default",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
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
                "spacing": "Small",
                "inlines": [{"type":"TextRun","text":"• Down: API & <shop>: the status is 503, which is not 200"}]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [
                  {
                    "type": "TextRun",
                    "text": "• Degraded: API & <shop>: the status is 503, which is not 200"
                  }
                ]
              },
              {
                "type": "RichTextBlock",
                "spacing": "Small",
                "inlines": [{"type":"TextRun","text":"• Recovered after 12 min: API & <shop>"}]
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
