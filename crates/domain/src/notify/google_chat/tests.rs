//! Messages to Google Chat as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::IncomingWebhook;
use rules::{ProviderType, Secret};

use super::{MESSAGE_BYTES_MAX, THREAD_KEY_MAX};
use crate::notify::tests::asserts::{JsonMessage, assert_html, assert_text, json, text};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::GoogleChat;

/// A typical channel.
pub(crate) fn channel() -> IncomingWebhook {
    IncomingWebhook {
        webhook_url: Secret::new(
            "https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D".to_owned(),
        ),
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let JsonMessage { body, bytes } = &json(message);
    assert!(*bytes <= MESSAGE_BYTES_MAX, "{bytes} bytes");
    assert_text(body, "/thread/threadKey", 1, THREAD_KEY_MAX);
    let card = &body["cardsV2"][0]["card"];
    assert!(!text(card, "/header/title").is_empty());
    let widgets = card["sections"][0]["widgets"].as_array().expect("widgets are a list");
    assert!((1..=100).contains(&widgets.len()));
    for widget in widgets {
        for pointer in ["/textParagraph/text", "/decoratedText/text"] {
            if let Some(shown) = widget.pointer(pointer) {
                assert_html(shown.as_str().expect("a widget's text is a string"), &[]);
            }
        }
    }
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=inc_0000000000005-chn_0000000000007-error
    content-type: application/json

    {
      "fallbackText": "🔴 Down: API & <shop>",
      "thread": {"threadKey":"inc_0000000000005"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {"title":"🔴 Down: API & <shop>","subtitle":"Example Inc. · 2026-11-21 16:48:55 UTC"},
            "sections": [
              {
                "widgets": [
                  {"textParagraph":{"text":"the status is 503, which is not 200"}},
                  {
                    "decoratedText": {
                      "topLabel": "Target",
                      "text": "GET https://api.example.com/health?full=1&amp;x_y=2",
                      "wrapText": true
                    }
                  },
                  {"decoratedText":{"topLabel":"Since","text":"2026-11-21 16:48:55 UTC","wrapText":true}},
                  {"decoratedText":{"topLabel":"Regions","text":"2 of 3 failing","wrapText":true}},
                  {
                    "textParagraph": {
                      "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200<br>• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200<br>• Singapore (fly-sin): ok, status 200, 240 ms"
                    }
                  },
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=mon_0000000000003-1795279675250-chn_0000000000007-degraded
    content-type: application/json

    {
      "fallbackText": "🟠 Degraded: API & <shop>",
      "thread": {"threadKey":"mon_0000000000003"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {
              "title": "🟠 Degraded: API & <shop>",
              "subtitle": "Example Inc. · 2026-11-21 16:48:55 UTC"
            },
            "sections": [
              {
                "widgets": [
                  {"textParagraph":{"text":"the status is 503, which is not 200"}},
                  {
                    "decoratedText": {
                      "topLabel": "Target",
                      "text": "GET https://api.example.com/health?full=1&amp;x_y=2",
                      "wrapText": true
                    }
                  },
                  {"decoratedText":{"topLabel":"Since","text":"2026-11-21 16:47:55 UTC","wrapText":true}},
                  {"decoratedText":{"topLabel":"Regions","text":"1 of 2 failing","wrapText":true}},
                  {
                    "textParagraph": {
                      "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200<br>• Singapore (fly-sin): ok, status 200, 240 ms"
                    }
                  },
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=inc_0000000000005-chn_0000000000007-recovered
    content-type: application/json

    {
      "fallbackText": "🟢 Recovered after 12 min: API & <shop>",
      "thread": {"threadKey":"inc_0000000000005"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {
              "title": "🟢 Recovered after 12 min: API & <shop>",
              "subtitle": "Example Inc. · 2026-11-21 16:48:55 UTC"
            },
            "sections": [
              {
                "widgets": [
                  {
                    "decoratedText": {
                      "topLabel": "Target",
                      "text": "GET https://api.example.com/health?full=1&amp;x_y=2",
                      "wrapText": true
                    }
                  },
                  {"decoratedText":{"topLabel":"Started","text":"2026-11-21 16:36:55 UTC","wrapText":true}},
                  {"decoratedText":{"topLabel":"Duration","text":"12 min","wrapText":true}},
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
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
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=mon_0000000000003-1795279735250-chn_0000000000007-test
    content-type: application/json

    {
      "fallbackText": "🔵 Test: this channel works",
      "thread": {"threadKey":"test-1795279735250"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {
              "title": "🔵 Test: this channel works",
              "subtitle": "Example Inc. · 2026-11-21 16:48:55 UTC"
            },
            "sections": [
              {
                "widgets": [
                  {
                    "textParagraph": {"text":"This is a test of the channel &quot;On call&quot;. Nothing is wrong."}
                  },
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
              }
            ]
          }
        }
      ]
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=inc_0000000000005-chn_0000000000007-error-2
    content-type: application/json

    {
      "fallbackText": "🔴 Still down after 2 h 5 min: API & <shop>",
      "thread": {"threadKey":"inc_0000000000005"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {
              "title": "🔴 Still down after 2 h 5 min: API & <shop>",
              "subtitle": "Example Inc. · 2026-11-21 16:48:55 UTC"
            },
            "sections": [
              {
                "widgets": [
                  {"textParagraph":{"text":"the status is 503, which is not 200"}},
                  {
                    "decoratedText": {
                      "topLabel": "Target",
                      "text": "GET https://api.example.com/health?full=1&amp;x_y=2",
                      "wrapText": true
                    }
                  },
                  {"decoratedText":{"topLabel":"Since","text":"2026-11-21 14:43:55 UTC","wrapText":true}},
                  {"decoratedText":{"topLabel":"Duration","text":"2 h 5 min","wrapText":true}},
                  {"decoratedText":{"topLabel":"Reminder","text":"2","wrapText":true}},
                  {"decoratedText":{"topLabel":"Regions","text":"2 of 3 failing","wrapText":true}},
                  {
                    "textParagraph": {
                      "text": "• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200<br>• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200<br>• Singapore (fly-sin): ok, status 200, 240 ms"
                    }
                  },
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
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
    POST https://chat.googleapis.com/v1/spaces/S/messages?key=k&token=t%3D&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=digest-3-inc_0000000000005-chn_0000000000007-error
    content-type: application/json

    {
      "fallbackText": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
      "thread": {"threadKey":"digest-3-inc_0000000000005-chn_0000000000007-error"},
      "cardsV2": [
        {
          "cardId": "event",
          "card": {
            "header": {
              "title": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
              "subtitle": "Example Inc. · 2026-11-21 16:48:55 UTC"
            },
            "sections": [
              {
                "widgets": [
                  {
                    "textParagraph": {
                      "text": "• Down: API &amp; &lt;shop&gt;: the status is 503, which is not 200<br>• Degraded: API &amp; &lt;shop&gt;: the status is 503, which is not 200<br>• Recovered after 12 min: API &amp; &lt;shop&gt;"
                    }
                  },
                  {
                    "buttonList": {
                      "buttons": [
                        {
                          "text": "Open in Aloft",
                          "onClick": {"openLink":{"url":"https://status.example.com/incidents/inc_0000000000005"}}
                        }
                      ]
                    }
                  }
                ]
              }
            ]
          }
        }
      ]
    }
    "#);
}
