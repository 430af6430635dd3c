//! Test messages of channels: the requests sent, and the results shown to users.

use insta::assert_snapshot;
use rules::ProviderType;
use serde_json::{Value, json};
use testkit::server::NOTIFICATIONS;

use super::requests::All;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "most of them are what is sent")]
async fn test_message_reaches_every_provider_and_is_closed() {
    let all = All::start().await;
    for channel in &all.channels {
        let request = json!({ "id": channel.to_string() });
        let reply = all.fixture.caller.call(NOTIFICATIONS, "TestNotification", request).await;
        assert_eq!(reply.json()["accepted"], true, "{reply}");
    }
    assert_snapshot!(all.messages(1).await, @r##"
    # discord
    POST /api/webhooks/1100000000000000001/wH3n-you_see_this-iT-leaked-0123456789-abcdefghijklmnopqrstuvwxyz?thread_id=7&wait=true
    content-type: application/json
    {"allowed_mentions":{"parse":[]},"embeds":[{"title":"🔵 Test: this channel works","color":2647750,"fields":[{"name":"Workspace","value":"Acme","inline":true}],"description":"This is a test of the channel \"On call\". Nothing is wrong.","url":"https://aloft.example.com/","timestamp":"2026-11-21T00:00:00.000Z"}]}

    # slack
    POST /services/T00000001/B00000001/0123456789abcdefghijklmn
    content-type: application/json
    {"text":"🔵 Test: this channel works","mrkdwn":false,"attachments":[{"color":"#2866c6","fallback":"🔵 Test: this channel works","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"This is a test of the channel \"On call\". Nothing is wrong.","verbatim":true}},{"type":"context","elements":[{"type":"mrkdwn","text":"<!date^1795219200^{date_short_pretty} {time_secs}|2026-11-21 00:00:00 UTC> · Acme · <https://aloft.example.com/|Open in Aloft>","verbatim":true}]}]}]}

    # pagerduty
    POST /v2/enqueue
    content-type: application/json
    {"routing_key":"e93facc04764012d7bfb002500d5d1a6","event_action":"trigger","dedup_key":"test-1795219200000","client":"Aloft","payload":{"summary":"Test: this channel works","source":"Acme","severity":"info","group":"Acme","custom_details":{"Why":"This is a test of the channel \"On call\". Nothing is wrong.","Workspace":"Acme"},"timestamp":"2026-11-21T00:00:00.000Z"},"client_url":"https://aloft.example.com/","links":[{"href":"https://aloft.example.com/","text":"Open in Aloft"}]}

    # opsgenie
    POST /v2/alerts
    content-type: application/json
    authorization: GenieKey eb243592-faa2-4ba2-a551-1afdf565c889
    {"message":"Test: this channel works","alias":"test-1795219200000","description":"https://aloft.example.com/\n\nThis is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Acme","details":{"Workspace":"Acme"},"entity":"","source":"Aloft","tags":["test"],"priority":"P5"}

    # telegram
    POST /bot123456789:AAF0e1d2c3b4a5968778695a4b3c2d1e0f9/sendMessage
    content-type: application/json
    {"chat_id":"-1001234567890","text":"🔵 <b>Test: this channel works</b>\nThis is a test of the channel &quot;On call&quot;. Nothing is wrong.\nWorkspace: Acme\n<a href=\"https://aloft.example.com/\">Open in Aloft</a>","parse_mode":"HTML","link_preview_options":{"is_disabled":true}}

    # sms
    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=+4915112345678
    From=+15005550006
    Body=Test: this channel works
    This is a test of the channel "On call". Nothing is wrong.
    https://aloft.example.com/

    # google_chat
    POST /v1/spaces/AAAAbbbbCCCC/messages?key=AIzaSyD0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7&token=t0k_en-of%3Dthe%20space&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=mon_1-1795219200000-chn_1-test
    content-type: application/json
    {"fallbackText":"🔵 Test: this channel works","thread":{"threadKey":"test-1795219200000"},"cardsV2":[{"cardId":"event","card":{"header":{"title":"🔵 Test: this channel works","subtitle":"Acme · 2026-11-21 00:00:00 UTC"},"sections":[{"widgets":[{"textParagraph":{"text":"This is a test of the channel &quot;On call&quot;. Nothing is wrong."}},{"buttonList":{"buttons":[{"text":"Open in Aloft","onClick":{"openLink":{"url":"https://aloft.example.com/"}}}]}}]}]}}]}

    # grafana_oncall
    POST /integrations/v1/formatted_webhook/bJ8Kd0mN3pQ6rS9tU2vW5xY/
    content-type: application/json
    {"alert_uid":"test-1795219200000","title":"Test: this channel works","message":"This is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Acme","state":"alerting","link_to_upstream_details":"https://aloft.example.com/"}

    # ntfy
    POST /
    content-type: application/json
    authorization: Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2
    {"topic":"alerts","title":"Test: this channel works","message":"This is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Acme","priority":3,"tags":["test_tube"],"click":"https://aloft.example.com/"}

    # ms_teams
    POST /workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sig=k3Jd9-sVq0wXyZ1aBcD2eFgH3iJkL4mNoP5qRsT6uVw
    content-type: application/json
    {"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","msteams":{"width":"Full"},"fallbackText":"🔵 Test: this channel works","body":[{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"🔵 Test: this channel works","size":"Large","weight":"Bolder","color":"Accent"}]},{"type":"RichTextBlock","spacing":"None","inlines":[{"type":"TextRun","text":"Acme · 2026-11-21 00:00:00 UTC","isSubtle":true}]},{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"This is a test of the channel \"On call\". Nothing is wrong."}]}],"actions":[{"type":"Action.OpenUrl","title":"Open in Aloft","url":"https://aloft.example.com/"}]}}]}

    # webhook
    POST /hook
    content-type: application/json
    x-team: core & more
    webhook-id: mon_1-1795219200000-chn_1-test
    webhook-timestamp: 1795219200
    webhook-signature: v1,… (verified)
    {"version":1,"type":"channel.test","timestamp":"2026-11-21T00:00:00.000Z","data":{"channel":"chn_1","link":"https://aloft.example.com","events":[{"event":"test","at":"2026-11-21T00:00:00.000Z","workspace":"Acme","monitor":{"id":"mon_1","name":"Example","kind":"http","target":"https://example.com/","method":"GET"},"incident":null,"began_at":"2026-11-21T00:00:00.000Z","duration_ms":0,"close_reason":null,"reminder":0,"summary":null,"regions":[]}]}}

    # email
    from: Aloft <aloft@example.com>
    to: ops@example.com
    subject: Test: this channel works
    date: Sat, 21 Nov 2026 00:00:00 +0000
    message-id: <mon_1-1795219200000-chn_1-test@example.com>
    in-reply-to: <test-1795219200000@example.com>
    references: <test-1795219200000@example.com>
    auto-submitted: auto-generated
    mime-version: 1.0

    Test: this channel works

    This is a test of the channel "On call". Nothing is wrong.
    Workspace: Acme

    2026-11-21 00:00:00 UTC

    Open in Aloft: https://aloft.example.com/
    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test: this channel works</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #2866c6">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔵 Test: this channel works</h1>
    <p style="overflow-wrap:anywhere">This is a test of the channel &quot;On call&quot;. Nothing is wrong.</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Acme</td></tr>
    </table>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://aloft.example.com/">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 00:00:00 UTC</p>
    </div></body></html>
    "##);
    let body = async |kind: ProviderType, number: usize| -> Value {
        let message = all.vendors.receiver(kind).takes(number).await.remove(number - 1);
        serde_json::from_str(&message.body).unwrap()
    };
    let (opened, over) =
        (body(ProviderType::Pagerduty, 1).await, body(ProviderType::Pagerduty, 2).await);
    assert_eq!(
        (&over["event_action"], &over["dedup_key"]),
        (&json!("resolve"), &opened["dedup_key"])
    );
    let (opened, over) =
        (body(ProviderType::GrafanaOncall, 1).await, body(ProviderType::GrafanaOncall, 2).await);
    assert_eq!((&over["state"], &over["alert_uid"]), (&json!("ok"), &opened["alert_uid"]));
    let opsgenie = all.vendors.receiver(ProviderType::Opsgenie).takes(2).await;
    assert!(opsgenie[1].target.ends_with("/close?identifierType=alias"), "{}", opsgenie[1].target);
    for kind in [ProviderType::Slack, ProviderType::Discord, ProviderType::Ntfy] {
        assert_eq!(all.vendors.receiver(kind).accepted().len(), 1, "{kind} keeps nothing open");
    }
}
