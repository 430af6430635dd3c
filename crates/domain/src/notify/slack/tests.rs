//! Messages to Slack as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::IncomingWebhook;
use rules::{ProviderType, Secret};
use serde_json::Value;

use super::{BLOCKS_MAX, FIELD_MAX, FIELDS_MAX, SECTION_MAX, TITLE_MAX};
use crate::notify::tests::asserts::{assert_entities, assert_text, json, text};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Slack;

/// A typical channel.
pub(crate) fn channel() -> IncomingWebhook {
    IncomingWebhook {
        webhook_url: Secret::new("https://hooks.slack.com/services/T0/B0/x".to_owned()),
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let body = &json(message).body;
    assert_text(body, "/text", 1, TITLE_MAX);
    assert_slack_markup(text(body, "/text"));
    let blocks = body["attachments"][0]["blocks"].as_array().expect("blocks are a list");
    assert!((1..=BLOCKS_MAX).contains(&blocks.len()));
    for block in blocks {
        if block.get("text").is_some() {
            assert_text(block, "/text/text", 1, SECTION_MAX);
            assert_slack_markup(text(block, "/text/text"));
        }
        for list in ["fields", "elements"] {
            let parts = block.get(list).and_then(Value::as_array);
            let max = if list == "fields" { FIELD_MAX } else { SECTION_MAX };
            for part in parts.into_iter().flatten() {
                assert_text(part, "/text", 1, max);
                assert_slack_markup(text(part, "/text"));
            }
            assert!(parts.is_none_or(|parts| parts.len() <= FIELDS_MAX));
        }
    }
}

/// Checks that angle brackets contain only the time or the link, and that every `&` begins an
/// entity.
fn assert_slack_markup(text: &str) {
    for part in text.split('<').skip(1) {
        let (inside, _) = part.split_once('>').expect("every bracket is closed");
        assert!(inside.starts_with("!date^") || inside.starts_with("http"), "{inside}");
    }
    assert_entities(text, &["amp", "lt", "gt"]);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🔴 Down: API &amp; &lt;shop&gt;",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#e4003d",
          "fallback": "🔴 Down: API &amp; &lt;shop&gt;",
          "blocks": [
            {
              "type": "section",
              "text": {"type":"mrkdwn","text":"the status is 503, which is not 200","verbatim":true}
            },
            {
              "type": "section",
              "fields": [
                {
                  "type": "mrkdwn",
                  "text": "*Target*\n`GET https://api.example.com/health?full=1&amp;x_y=2`",
                  "verbatim": true
                },
                {"type":"mrkdwn","text":"*Since*\n2026-11-21 16:48:55 UTC","verbatim":true},
                {"type":"mrkdwn","text":"*Regions*\n2 of 3 failing","verbatim":true}
              ]
            },
            {
              "type": "section",
              "text": {
                "type": "mrkdwn",
                "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
                "verbatim": true
              }
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🟠 Degraded: API &amp; &lt;shop&gt;",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#ffd01d",
          "fallback": "🟠 Degraded: API &amp; &lt;shop&gt;",
          "blocks": [
            {
              "type": "section",
              "text": {"type":"mrkdwn","text":"the status is 503, which is not 200","verbatim":true}
            },
            {
              "type": "section",
              "fields": [
                {
                  "type": "mrkdwn",
                  "text": "*Target*\n`GET https://api.example.com/health?full=1&amp;x_y=2`",
                  "verbatim": true
                },
                {"type":"mrkdwn","text":"*Since*\n2026-11-21 16:47:55 UTC","verbatim":true},
                {"type":"mrkdwn","text":"*Regions*\n1 of 2 failing","verbatim":true}
              ]
            },
            {
              "type": "section",
              "text": {
                "type": "mrkdwn",
                "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
                "verbatim": true
              }
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🟢 Recovered after 12 min: API &amp; &lt;shop&gt;",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#00a089",
          "fallback": "🟢 Recovered after 12 min: API &amp; &lt;shop&gt;",
          "blocks": [
            {
              "type": "section",
              "fields": [
                {
                  "type": "mrkdwn",
                  "text": "*Target*\n`GET https://api.example.com/health?full=1&amp;x_y=2`",
                  "verbatim": true
                },
                {"type":"mrkdwn","text":"*Started*\n2026-11-21 16:36:55 UTC","verbatim":true},
                {"type":"mrkdwn","text":"*Duration*\n12 min","verbatim":true}
              ]
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🔵 Test: this channel works",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#2866c6",
          "fallback": "🔵 Test: this channel works",
          "blocks": [
            {
              "type": "section",
              "text": {
                "type": "mrkdwn",
                "text": "This is a test of the channel \"On call\". Nothing is wrong.",
                "verbatim": true
              }
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🔴 Still down after 2 h 5 min: API &amp; &lt;shop&gt;",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#e4003d",
          "fallback": "🔴 Still down after 2 h 5 min: API &amp; &lt;shop&gt;",
          "blocks": [
            {
              "type": "section",
              "text": {"type":"mrkdwn","text":"the status is 503, which is not 200","verbatim":true}
            },
            {
              "type": "section",
              "fields": [
                {
                  "type": "mrkdwn",
                  "text": "*Target*\n`GET https://api.example.com/health?full=1&amp;x_y=2`",
                  "verbatim": true
                },
                {"type":"mrkdwn","text":"*Since*\n2026-11-21 14:43:55 UTC","verbatim":true},
                {"type":"mrkdwn","text":"*Duration*\n2 h 5 min","verbatim":true},
                {"type":"mrkdwn","text":"*Reminder*\n2","verbatim":true},
                {"type":"mrkdwn","text":"*Regions*\n2 of 3 failing","verbatim":true}
              ]
            },
            {
              "type": "section",
              "text": {
                "type": "mrkdwn",
                "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
                "verbatim": true
              }
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r##"
    POST https://hooks.slack.com/services/T0/B0/x
    content-type: application/json

    {
      "text": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
      "mrkdwn": false,
      "attachments": [
        {
          "color": "#e4003d",
          "fallback": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
          "blocks": [
            {
              "type": "section",
              "text": {
                "type": "mrkdwn",
                "text": "• Down: API &amp; &lt;shop&gt;: the status is 503, which is not 200\n• Degraded: API &amp; &lt;shop&gt;: the status is 503, which is not 200\n• Recovered after 12 min: API &amp; &lt;shop&gt;",
                "verbatim": true
              }
            },
            {
              "type": "context",
              "elements": [
                {
                  "type": "mrkdwn",
                  "text": "<!date^1795279735^{date_short_pretty} {time_secs}|2026-11-21 16:48:55 UTC> · Example Inc. · <https://status.example.com/incidents/inc_0000000000005|Open in Aloft>",
                  "verbatim": true
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}
