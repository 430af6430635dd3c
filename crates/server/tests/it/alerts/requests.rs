//! The request sent for each kind and event.

use std::time::Duration;

use insta::assert_snapshot;
use rules::{ChannelId, ProviderType};
use serde_json::json;
use testkit::receivers::Receiver;
use testkit::server::TestServer;
use testkit::target::{HttpTarget, ScriptedResponse};

use super::fixture::{AlertFixture, Vendors, a_mailbox, format_mail, format_message, stable};

/// A scenario with a channel of every kind except WhatsApp.
pub(super) struct All {
    pub(super) fixture: AlertFixture,
    pub(super) vendors: Vendors,
    webhook: Receiver,
    pub(super) channels: Vec<ChannelId>,
}

impl All {
    pub(super) async fn start() -> Self {
        let (target, vendors) = (HttpTarget::start().await, Vendors::start().await);
        target.on("/", ScriptedResponse::ok("fine"));
        Box::pin(Self::with_target(target, vendors, json!({}))).await
    }

    async fn with_target(target: HttpTarget, vendors: Vendors, fields: serde_json::Value) -> Self {
        let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
        let fixture = AlertFixture::with_target(server, target, fields).await;
        fixture.create_page(json!({ "title": "Acme", "slug": "acme" })).await;
        let webhook = fixture.webhook().await;
        let mut channels = vec![
            fixture.notify(&webhook).await,
            fixture.channel(&a_mailbox(), &[fixture.monitor]).await,
        ];
        for receiver in vendors.receivers.iter().filter(|it| it.kind() != ProviderType::Whatsapp) {
            channels.push(fixture.notify(receiver).await);
        }
        Self { fixture, vendors, webhook, channels }
    }

    /// Waits for `number` messages at each receiver and formats the last ones.
    pub(super) async fn messages(&self, number: usize) -> String {
        let mut all = Vec::new();
        let whatsapp = |receiver: &&Receiver| receiver.kind() != ProviderType::Whatsapp;
        let receivers = self.vendors.receivers.iter().filter(whatsapp);
        for receiver in receivers.chain([&self.webhook]) {
            let message = receiver.takes(number).await.remove(number - 1);
            all.push(format!("# {}\n{}", receiver.kind(), format_message(&message)));
        }
        let mail = self.vendors.mail.takes(number).await.remove(number - 1);
        all.push(format!("# email\n{}", format_mail(&mail)));
        stable(&all.join("\n\n"), &[(self.fixture.target.address().to_string(), "api.example")])
    }
}

// issue 6: "Each kind × event has a snapshot of what goes over the wire"
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "most of them are what is sent")]
async fn an_error_and_its_recovery_reach_every_kind() {
    let all = All::start().await;
    all.fixture.breaks().await;
    assert_snapshot!(all.messages(1).await, @r##"
    # discord
    POST /api/webhooks/1100000000000000001/wH3n-you_see_this-iT-leaked-0123456789-abcdefghijklmnopqrstuvwxyz?thread_id=7&wait=true
    content-type: application/json
    {"allowed_mentions":{"parse":[]},"embeds":[{"title":"🔴 Down: API & \\<shop\\>","color":14942269,"fields":[{"name":"Target","value":"`GET http://api.example/`"},{"name":"Since","value":"2026-11-21 00:00:30 UTC","inline":true},{"name":"Workspace","value":"Acme","inline":true}],"description":"status is 503, expected 2xx\n• this server: failing, status 503, N ms: status is 503, expected 2xx","url":"https://aloft.example.com/status/acme/incident/inc_1","timestamp":"2026-11-21T00:00:30.000Z"}]}

    # slack
    POST /services/T00000001/B00000001/0123456789abcdefghijklmn
    content-type: application/json
    {"text":"🔴 Down: API &amp; &lt;shop&gt;","mrkdwn":false,"attachments":[{"color":"#e4003d","fallback":"🔴 Down: API &amp; &lt;shop&gt;","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"status is 503, expected 2xx","verbatim":true}},{"type":"section","fields":[{"type":"mrkdwn","text":"*Target*\n`GET http://api.example/`","verbatim":true},{"type":"mrkdwn","text":"*Since*\n2026-11-21 00:00:30 UTC","verbatim":true}]},{"type":"section","text":{"type":"mrkdwn","text":"• this server: failing, status 503, N ms: status is 503, expected 2xx","verbatim":true}},{"type":"context","elements":[{"type":"mrkdwn","text":"<!date^1795219230^{date_short_pretty} {time_secs}|2026-11-21 00:00:30 UTC> · Acme · <https://aloft.example.com/status/acme/incident/inc_1|Open in Aloft>","verbatim":true}]}]}]}

    # pagerduty
    POST /v2/enqueue
    content-type: application/json
    {"routing_key":"e93facc04764012d7bfb002500d5d1a6","event_action":"trigger","dedup_key":"inc_1","client":"Aloft","payload":{"summary":"Down: API & <shop>","source":"GET http://api.example/","severity":"critical","group":"Acme","custom_details":{"Why":"status is 503, expected 2xx","Target":"GET http://api.example/","Since":"2026-11-21 00:00:30 UTC","Workspace":"Acme","Seen":["this server: failing, status 503, N ms: status is 503, expected 2xx"]},"timestamp":"2026-11-21T00:00:30.000Z"},"client_url":"https://aloft.example.com/status/acme/incident/inc_1","links":[{"href":"https://aloft.example.com/status/acme/incident/inc_1","text":"Open in Aloft"}]}

    # opsgenie
    POST /v2/alerts
    content-type: application/json
    authorization: GenieKey eb243592-faa2-4ba2-a551-1afdf565c889
    {"message":"Down: API & <shop>","alias":"inc_1","description":"https://aloft.example.com/status/acme/incident/inc_1\n\nstatus is 503, expected 2xx\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: failing, status 503, N ms: status is 503, expected 2xx","details":{"Target":"GET http://api.example/","Since":"2026-11-21 00:00:30 UTC","Workspace":"Acme"},"entity":"GET http://api.example/","source":"Aloft","tags":["down"],"priority":"P1"}

    # telegram
    POST /bot123456789:AAF0e1d2c3b4a5968778695a4b3c2d1e0f9/sendMessage
    content-type: application/json
    {"chat_id":"-1001234567890","text":"🔴 <b>Down: API &amp; &lt;shop&gt;</b>\nstatus is 503, expected 2xx\nTarget: <code>GET http://api.example/</code>\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: failing, status 503, N ms: status is 503, expected 2xx\n<a href=\"https://aloft.example.com/status/acme/incident/inc_1\">Open in Aloft</a>","parse_mode":"HTML","link_preview_options":{"is_disabled":true}}

    # sms
    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=+4915112345678
    From=+15005550006
    Body=Down: API & <shop>
    status is 503, expected 2xx
    https://aloft.example.com/status/acme/incident/inc_1

    # google_chat
    POST /v1/spaces/AAAAbbbbCCCC/messages?key=AIzaSyD0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7&token=t0k_en-of%3Dthe%20space&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=inc_1-chn_1-error
    content-type: application/json
    {"fallbackText":"🔴 Down: API & <shop>","thread":{"threadKey":"inc_1"},"cardsV2":[{"cardId":"event","card":{"header":{"title":"🔴 Down: API & <shop>","subtitle":"Acme · 2026-11-21 00:00:30 UTC"},"sections":[{"widgets":[{"textParagraph":{"text":"status is 503, expected 2xx"}},{"decoratedText":{"topLabel":"Target","text":"GET http://api.example/","wrapText":true}},{"decoratedText":{"topLabel":"Since","text":"2026-11-21 00:00:30 UTC","wrapText":true}},{"textParagraph":{"text":"• this server: failing, status 503, N ms: status is 503, expected 2xx"}},{"buttonList":{"buttons":[{"text":"Open in Aloft","onClick":{"openLink":{"url":"https://aloft.example.com/status/acme/incident/inc_1"}}}]}}]}]}}]}

    # grafana_oncall
    POST /integrations/v1/formatted_webhook/bJ8Kd0mN3pQ6rS9tU2vW5xY/
    content-type: application/json
    {"alert_uid":"inc_1","title":"Down: API & <shop>","message":"status is 503, expected 2xx\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: failing, status 503, N ms: status is 503, expected 2xx","state":"alerting","link_to_upstream_details":"https://aloft.example.com/status/acme/incident/inc_1"}

    # ntfy
    POST /
    content-type: application/json
    authorization: Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2
    {"topic":"alerts","title":"Down: API & <shop>","message":"status is 503, expected 2xx\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: failing, status 503, N ms: status is 503, expected 2xx","priority":5,"tags":["rotating_light"],"click":"https://aloft.example.com/status/acme/incident/inc_1"}

    # ms_teams
    POST /workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sig=k3Jd9-sVq0wXyZ1aBcD2eFgH3iJkL4mNoP5qRsT6uVw
    content-type: application/json
    {"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","msteams":{"width":"Full"},"fallbackText":"🔴 Down: API & <shop>","body":[{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"🔴 Down: API & <shop>","size":"Large","weight":"Bolder","color":"Attention"}]},{"type":"RichTextBlock","spacing":"None","inlines":[{"type":"TextRun","text":"Acme · 2026-11-21 00:00:30 UTC","isSubtle":true}]},{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"status is 503, expected 2xx"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Target: ","weight":"Bolder"},{"type":"TextRun","text":"GET http://api.example/"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Since: ","weight":"Bolder"},{"type":"TextRun","text":"2026-11-21 00:00:30 UTC"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"• this server: failing, status 503, N ms: status is 503, expected 2xx"}]}],"actions":[{"type":"Action.OpenUrl","title":"Open in Aloft","url":"https://aloft.example.com/status/acme/incident/inc_1"}]}}]}

    # webhook
    POST /hook
    content-type: application/json
    x-team: core & more
    webhook-id: inc_1-chn_1-error
    webhook-timestamp: 1795219230
    webhook-signature: v1,… (verified)
    {"version":1,"type":"monitor.error","timestamp":"2026-11-21T00:00:30.000Z","data":{"channel":"chn_1","link":"https://aloft.example.com/status/acme/incident/inc_1","events":[{"event":"error","at":"2026-11-21T00:00:30.000Z","workspace":"Acme","monitor":{"id":"mon_1","name":"API & <shop>","kind":"http","target":"http://api.example/","method":"GET"},"incident":"inc_1","began_at":"2026-11-21T00:00:30.000Z","duration_ms":0,"close_reason":null,"reminder":0,"summary":"status is 503, expected 2xx","regions":[{"region":"fly-ams","place":"this server","failing":true,"reason":"status is 503, expected 2xx","status":503,"latency_ms":N}]}]}}

    # email
    from: Aloft <aloft@example.com>
    to: ops@example.com
    subject: Down: API & <shop>
    date: Sat, 21 Nov 2026 00:00:30 +0000
    message-id: <inc_1-chn_1-error@example.com>
    in-reply-to: <inc_1@example.com>
    references: <inc_1@example.com>
    auto-submitted: auto-generated
    mime-version: 1.0

    Down: API & <shop>

    status is 503, expected 2xx
    Target: GET http://api.example/
    Since: 2026-11-21 00:00:30 UTC
    Workspace: Acme
    • this server: failing, status 503, N ms: status is 503, expected 2xx

    2026-11-21 00:00:30 UTC

    Open in Aloft: https://aloft.example.com/status/acme/incident/inc_1
    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Down: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #e4003d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔴 Down: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">status is 503, expected 2xx</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET http://api.example/</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Since</th><td style="overflow-wrap:anywhere">2026-11-21 00:00:30 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Acme</td></tr>
    </table>
    <ul style="padding-left:20px"><li>this server: failing, status 503, N ms: status is 503, expected 2xx</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://aloft.example.com/status/acme/incident/inc_1">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 00:00:30 UTC</p>
    </div></body></html>
    "##);
    all.fixture.recovers().await;
    assert_snapshot!(all.messages(2).await, @r##"
    # discord
    POST /api/webhooks/1100000000000000001/wH3n-you_see_this-iT-leaked-0123456789-abcdefghijklmnopqrstuvwxyz?thread_id=7&wait=true
    content-type: application/json
    {"allowed_mentions":{"parse":[]},"embeds":[{"title":"🟢 Recovered after 30 s: API & \\<shop\\>","color":41097,"fields":[{"name":"Target","value":"`GET http://api.example/`"},{"name":"Started","value":"2026-11-21 00:00:30 UTC","inline":true},{"name":"Duration","value":"30 s","inline":true},{"name":"Workspace","value":"Acme","inline":true}],"description":"the check succeeds\n• this server: ok, N ms","url":"https://aloft.example.com/status/acme/incident/inc_1","timestamp":"2026-11-21T00:01:00.000Z"}]}

    # slack
    POST /services/T00000001/B00000001/0123456789abcdefghijklmn
    content-type: application/json
    {"text":"🟢 Recovered after 30 s: API &amp; &lt;shop&gt;","mrkdwn":false,"attachments":[{"color":"#00a089","fallback":"🟢 Recovered after 30 s: API &amp; &lt;shop&gt;","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"the check succeeds","verbatim":true}},{"type":"section","fields":[{"type":"mrkdwn","text":"*Target*\n`GET http://api.example/`","verbatim":true},{"type":"mrkdwn","text":"*Started*\n2026-11-21 00:00:30 UTC","verbatim":true},{"type":"mrkdwn","text":"*Duration*\n30 s","verbatim":true}]},{"type":"section","text":{"type":"mrkdwn","text":"• this server: ok, N ms","verbatim":true}},{"type":"context","elements":[{"type":"mrkdwn","text":"<!date^1795219260^{date_short_pretty} {time_secs}|2026-11-21 00:01:00 UTC> · Acme · <https://aloft.example.com/status/acme/incident/inc_1|Open in Aloft>","verbatim":true}]}]}]}

    # pagerduty
    POST /v2/enqueue
    content-type: application/json
    {"routing_key":"e93facc04764012d7bfb002500d5d1a6","event_action":"resolve","dedup_key":"inc_1"}

    # opsgenie
    POST /v2/alerts/inc_1/close?identifierType=alias
    content-type: application/json
    authorization: GenieKey eb243592-faa2-4ba2-a551-1afdf565c889
    {"source":"Aloft","user":"Aloft","note":"Recovered after 30 s: API & <shop>\n\nthe check succeeds\nTarget: GET http://api.example/\nStarted: 2026-11-21 00:00:30 UTC\nDuration: 30 s\nWorkspace: Acme\n• this server: ok, N ms"}

    # telegram
    POST /bot123456789:AAF0e1d2c3b4a5968778695a4b3c2d1e0f9/sendMessage
    content-type: application/json
    {"chat_id":"-1001234567890","text":"🟢 <b>Recovered after 30 s: API &amp; &lt;shop&gt;</b>\nthe check succeeds\nTarget: <code>GET http://api.example/</code>\nStarted: 2026-11-21 00:00:30 UTC\nDuration: 30 s\nWorkspace: Acme\n• this server: ok, N ms\n<a href=\"https://aloft.example.com/status/acme/incident/inc_1\">Open in Aloft</a>","parse_mode":"HTML","link_preview_options":{"is_disabled":true}}

    # sms
    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=+4915112345678
    From=+15005550006
    Body=Recovered after 30 s: API & <shop>
    https://aloft.example.com/status/acme/incident/inc_1

    # google_chat
    POST /v1/spaces/AAAAbbbbCCCC/messages?key=AIzaSyD0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7&token=t0k_en-of%3Dthe%20space&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=inc_1-chn_1-recovered
    content-type: application/json
    {"fallbackText":"🟢 Recovered after 30 s: API & <shop>","thread":{"threadKey":"inc_1"},"cardsV2":[{"cardId":"event","card":{"header":{"title":"🟢 Recovered after 30 s: API & <shop>","subtitle":"Acme · 2026-11-21 00:01:00 UTC"},"sections":[{"widgets":[{"textParagraph":{"text":"the check succeeds"}},{"decoratedText":{"topLabel":"Target","text":"GET http://api.example/","wrapText":true}},{"decoratedText":{"topLabel":"Started","text":"2026-11-21 00:00:30 UTC","wrapText":true}},{"decoratedText":{"topLabel":"Duration","text":"30 s","wrapText":true}},{"textParagraph":{"text":"• this server: ok, N ms"}},{"buttonList":{"buttons":[{"text":"Open in Aloft","onClick":{"openLink":{"url":"https://aloft.example.com/status/acme/incident/inc_1"}}}]}}]}]}}]}

    # grafana_oncall
    POST /integrations/v1/formatted_webhook/bJ8Kd0mN3pQ6rS9tU2vW5xY/
    content-type: application/json
    {"alert_uid":"inc_1","title":"Recovered after 30 s: API & <shop>","message":"the check succeeds\nTarget: GET http://api.example/\nStarted: 2026-11-21 00:00:30 UTC\nDuration: 30 s\nWorkspace: Acme\n• this server: ok, N ms","state":"ok","link_to_upstream_details":"https://aloft.example.com/status/acme/incident/inc_1"}

    # ntfy
    POST /
    content-type: application/json
    authorization: Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2
    {"topic":"alerts","title":"Recovered after 30 s: API & <shop>","message":"the check succeeds\nTarget: GET http://api.example/\nStarted: 2026-11-21 00:00:30 UTC\nDuration: 30 s\nWorkspace: Acme\n• this server: ok, N ms","priority":3,"tags":["white_check_mark"],"click":"https://aloft.example.com/status/acme/incident/inc_1"}

    # ms_teams
    POST /workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sig=k3Jd9-sVq0wXyZ1aBcD2eFgH3iJkL4mNoP5qRsT6uVw
    content-type: application/json
    {"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","msteams":{"width":"Full"},"fallbackText":"🟢 Recovered after 30 s: API & <shop>","body":[{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"🟢 Recovered after 30 s: API & <shop>","size":"Large","weight":"Bolder","color":"Good"}]},{"type":"RichTextBlock","spacing":"None","inlines":[{"type":"TextRun","text":"Acme · 2026-11-21 00:01:00 UTC","isSubtle":true}]},{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"the check succeeds"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Target: ","weight":"Bolder"},{"type":"TextRun","text":"GET http://api.example/"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Started: ","weight":"Bolder"},{"type":"TextRun","text":"2026-11-21 00:00:30 UTC"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Duration: ","weight":"Bolder"},{"type":"TextRun","text":"30 s"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"• this server: ok, N ms"}]}],"actions":[{"type":"Action.OpenUrl","title":"Open in Aloft","url":"https://aloft.example.com/status/acme/incident/inc_1"}]}}]}

    # webhook
    POST /hook
    content-type: application/json
    x-team: core & more
    webhook-id: inc_1-chn_1-recovered
    webhook-timestamp: 1795219260
    webhook-signature: v1,… (verified)
    {"version":1,"type":"monitor.recovered","timestamp":"2026-11-21T00:01:00.000Z","data":{"channel":"chn_1","link":"https://aloft.example.com/status/acme/incident/inc_1","events":[{"event":"recovered","at":"2026-11-21T00:01:00.000Z","workspace":"Acme","monitor":{"id":"mon_1","name":"API & <shop>","kind":"http","target":"http://api.example/","method":"GET"},"incident":"inc_1","began_at":"2026-11-21T00:00:30.000Z","duration_ms":30000,"close_reason":"recovered","reminder":0,"summary":"the check succeeds","regions":[{"region":"fly-ams","place":"this server","failing":false,"reason":null,"status":null,"latency_ms":N}]}]}}

    # email
    from: Aloft <aloft@example.com>
    to: ops@example.com
    subject: Recovered after 30 s: API & <shop>
    date: Sat, 21 Nov 2026 00:01:00 +0000
    message-id: <inc_1-chn_1-recovered@example.com>
    in-reply-to: <inc_1@example.com>
    references: <inc_1@example.com>
    auto-submitted: auto-generated
    mime-version: 1.0

    Recovered after 30 s: API & <shop>

    the check succeeds
    Target: GET http://api.example/
    Started: 2026-11-21 00:00:30 UTC
    Duration: 30 s
    Workspace: Acme
    • this server: ok, N ms

    2026-11-21 00:01:00 UTC

    Open in Aloft: https://aloft.example.com/status/acme/incident/inc_1
    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Recovered after 30 s: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #00a089">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🟢 Recovered after 30 s: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">the check succeeds</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET http://api.example/</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Started</th><td style="overflow-wrap:anywhere">2026-11-21 00:00:30 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Duration</th><td style="overflow-wrap:anywhere">30 s</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Acme</td></tr>
    </table>
    <ul style="padding-left:20px"><li>this server: ok, N ms</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://aloft.example.com/status/acme/incident/inc_1">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 00:01:00 UTC</p>
    </div></body></html>
    "##);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "most of them are what is sent")]
async fn a_degradation_that_lasts_reaches_every_kind() {
    let (target, vendors) = (HttpTarget::start().await, Vendors::start().await);
    let slow = ScriptedResponse::ok("fine").after(Duration::from_millis(20));
    target.on("/", slow.clone());
    let all = Box::pin(All::with_target(target, vendors, json!({ "degradedAt": 1 }))).await;
    let monitors = [all.fixture.monitor];
    // The second slow check sets the status to degraded. The fourth, two periods later, sends the
    // messages, so the clock stops there until every receiver has one.
    for _ in 0..3 {
        all.fixture.becomes(slow.clone(), &monitors).await;
    }
    assert_snapshot!(all.messages(1).await, @r##"
    # discord
    POST /api/webhooks/1100000000000000001/wH3n-you_see_this-iT-leaked-0123456789-abcdefghijklmnopqrstuvwxyz?thread_id=7&wait=true
    content-type: application/json
    {"allowed_mentions":{"parse":[]},"embeds":[{"title":"🟠 Degraded: API & \\<shop\\>","color":16764957,"fields":[{"name":"Target","value":"`GET http://api.example/`"},{"name":"Since","value":"2026-11-21 00:00:30 UTC","inline":true},{"name":"Workspace","value":"Acme","inline":true}],"description":"took N ms, more than 1 ms\n• this server: degraded, status 200, N ms: took N ms, more than 1 ms","url":"https://aloft.example.com/status/acme/component/cmp_1","timestamp":"2026-11-21T00:01:30.000Z"}]}

    # slack
    POST /services/T00000001/B00000001/0123456789abcdefghijklmn
    content-type: application/json
    {"text":"🟠 Degraded: API &amp; &lt;shop&gt;","mrkdwn":false,"attachments":[{"color":"#ffd01d","fallback":"🟠 Degraded: API &amp; &lt;shop&gt;","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"took N ms, more than 1 ms","verbatim":true}},{"type":"section","fields":[{"type":"mrkdwn","text":"*Target*\n`GET http://api.example/`","verbatim":true},{"type":"mrkdwn","text":"*Since*\n2026-11-21 00:00:30 UTC","verbatim":true}]},{"type":"section","text":{"type":"mrkdwn","text":"• this server: degraded, status 200, N ms: took N ms, more than 1 ms","verbatim":true}},{"type":"context","elements":[{"type":"mrkdwn","text":"<!date^1795219290^{date_short_pretty} {time_secs}|2026-11-21 00:01:30 UTC> · Acme · <https://aloft.example.com/status/acme/component/cmp_1|Open in Aloft>","verbatim":true}]}]}]}

    # pagerduty
    POST /v2/enqueue
    content-type: application/json
    {"routing_key":"e93facc04764012d7bfb002500d5d1a6","event_action":"trigger","dedup_key":"mon_1","client":"Aloft","payload":{"summary":"Degraded: API & <shop>","source":"GET http://api.example/","severity":"warning","group":"Acme","custom_details":{"Why":"took N ms, more than 1 ms","Target":"GET http://api.example/","Since":"2026-11-21 00:00:30 UTC","Workspace":"Acme","Seen":["this server: degraded, status 200, N ms: took N ms, more than 1 ms"]},"timestamp":"2026-11-21T00:01:30.000Z"},"client_url":"https://aloft.example.com/status/acme/component/cmp_1","links":[{"href":"https://aloft.example.com/status/acme/component/cmp_1","text":"Open in Aloft"}]}

    # opsgenie
    POST /v2/alerts
    content-type: application/json
    authorization: GenieKey eb243592-faa2-4ba2-a551-1afdf565c889
    {"message":"Degraded: API & <shop>","alias":"mon_1","description":"https://aloft.example.com/status/acme/component/cmp_1\n\ntook N ms, more than 1 ms\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: degraded, status 200, N ms: took N ms, more than 1 ms","details":{"Target":"GET http://api.example/","Since":"2026-11-21 00:00:30 UTC","Workspace":"Acme"},"entity":"GET http://api.example/","source":"Aloft","tags":["degraded"],"priority":"P3"}

    # telegram
    POST /bot123456789:AAF0e1d2c3b4a5968778695a4b3c2d1e0f9/sendMessage
    content-type: application/json
    {"chat_id":"-1001234567890","text":"🟠 <b>Degraded: API &amp; &lt;shop&gt;</b>\ntook N ms, more than 1 ms\nTarget: <code>GET http://api.example/</code>\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: degraded, status 200, N ms: took N ms, more than 1 ms\n<a href=\"https://aloft.example.com/status/acme/component/cmp_1\">Open in Aloft</a>","parse_mode":"HTML","link_preview_options":{"is_disabled":true}}

    # sms
    POST /2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMwMTIzNDU2Nzg5YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjpmZWRjYmE5ODc2NTQzMjEwZmVkY2JhOTg3NjU0MzIxMA==
    To=+4915112345678
    From=+15005550006
    Body=Degraded: API & <shop>
    took N ms, more than 1 ms
    https://aloft.example.com/status/acme/component/cmp_1

    # google_chat
    POST /v1/spaces/AAAAbbbbCCCC/messages?key=AIzaSyD0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7&token=t0k_en-of%3Dthe%20space&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=mon_1-1795219230000-chn_1-degraded
    content-type: application/json
    {"fallbackText":"🟠 Degraded: API & <shop>","thread":{"threadKey":"mon_1"},"cardsV2":[{"cardId":"event","card":{"header":{"title":"🟠 Degraded: API & <shop>","subtitle":"Acme · 2026-11-21 00:01:30 UTC"},"sections":[{"widgets":[{"textParagraph":{"text":"took N ms, more than 1 ms"}},{"decoratedText":{"topLabel":"Target","text":"GET http://api.example/","wrapText":true}},{"decoratedText":{"topLabel":"Since","text":"2026-11-21 00:00:30 UTC","wrapText":true}},{"textParagraph":{"text":"• this server: degraded, status 200, N ms: took N ms, more than 1 ms"}},{"buttonList":{"buttons":[{"text":"Open in Aloft","onClick":{"openLink":{"url":"https://aloft.example.com/status/acme/component/cmp_1"}}}]}}]}]}}]}

    # grafana_oncall
    POST /integrations/v1/formatted_webhook/bJ8Kd0mN3pQ6rS9tU2vW5xY/
    content-type: application/json
    {"alert_uid":"mon_1","title":"Degraded: API & <shop>","message":"took N ms, more than 1 ms\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: degraded, status 200, N ms: took N ms, more than 1 ms","state":"alerting","link_to_upstream_details":"https://aloft.example.com/status/acme/component/cmp_1"}

    # ntfy
    POST /
    content-type: application/json
    authorization: Bearer tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2
    {"topic":"alerts","title":"Degraded: API & <shop>","message":"took N ms, more than 1 ms\nTarget: GET http://api.example/\nSince: 2026-11-21 00:00:30 UTC\nWorkspace: Acme\n• this server: degraded, status 200, N ms: took N ms, more than 1 ms","priority":4,"tags":["warning"],"click":"https://aloft.example.com/status/acme/component/cmp_1"}

    # ms_teams
    POST /workflows/0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sig=k3Jd9-sVq0wXyZ1aBcD2eFgH3iJkL4mNoP5qRsT6uVw
    content-type: application/json
    {"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","msteams":{"width":"Full"},"fallbackText":"🟠 Degraded: API & <shop>","body":[{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"🟠 Degraded: API & <shop>","size":"Large","weight":"Bolder","color":"Warning"}]},{"type":"RichTextBlock","spacing":"None","inlines":[{"type":"TextRun","text":"Acme · 2026-11-21 00:01:30 UTC","isSubtle":true}]},{"type":"RichTextBlock","spacing":"Default","inlines":[{"type":"TextRun","text":"took N ms, more than 1 ms"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Target: ","weight":"Bolder"},{"type":"TextRun","text":"GET http://api.example/"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"Since: ","weight":"Bolder"},{"type":"TextRun","text":"2026-11-21 00:00:30 UTC"}]},{"type":"RichTextBlock","spacing":"Small","inlines":[{"type":"TextRun","text":"• this server: degraded, status 200, N ms: took N ms, more than 1 ms"}]}],"actions":[{"type":"Action.OpenUrl","title":"Open in Aloft","url":"https://aloft.example.com/status/acme/component/cmp_1"}]}}]}

    # webhook
    POST /hook
    content-type: application/json
    x-team: core & more
    webhook-id: mon_1-1795219230000-chn_1-degraded
    webhook-timestamp: 1795219290
    webhook-signature: v1,… (verified)
    {"version":1,"type":"monitor.degraded","timestamp":"2026-11-21T00:01:30.000Z","data":{"channel":"chn_1","link":"https://aloft.example.com/status/acme/component/cmp_1","events":[{"event":"degraded","at":"2026-11-21T00:01:30.000Z","workspace":"Acme","monitor":{"id":"mon_1","name":"API & <shop>","kind":"http","target":"http://api.example/","method":"GET"},"incident":null,"began_at":"2026-11-21T00:00:30.000Z","duration_ms":60000,"close_reason":null,"reminder":0,"summary":"took N ms, more than 1 ms","regions":[{"region":"fly-ams","place":"this server","failing":false,"reason":"took N ms, more than 1 ms","status":200,"latency_ms":N}]}]}}

    # email
    from: Aloft <aloft@example.com>
    to: ops@example.com
    subject: Degraded: API & <shop>
    date: Sat, 21 Nov 2026 00:01:30 +0000
    message-id: <mon_1-1795219230000-chn_1-degraded@example.com>
    in-reply-to: <mon_1@example.com>
    references: <mon_1@example.com>
    auto-submitted: auto-generated
    mime-version: 1.0

    Degraded: API & <shop>

    took N ms, more than 1 ms
    Target: GET http://api.example/
    Since: 2026-11-21 00:00:30 UTC
    Workspace: Acme
    • this server: degraded, status 200, N ms: took N ms, more than 1 ms

    2026-11-21 00:01:30 UTC

    Open in Aloft: https://aloft.example.com/status/acme/component/cmp_1
    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Degraded: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #ffd01d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🟠 Degraded: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">took N ms, more than 1 ms</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET http://api.example/</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Since</th><td style="overflow-wrap:anywhere">2026-11-21 00:00:30 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Acme</td></tr>
    </table>
    <ul style="padding-left:20px"><li>this server: degraded, status 200, N ms: took N ms, more than 1 ms</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://aloft.example.com/status/acme/component/cmp_1">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 00:01:30 UTC</p>
    </div></body></html>
    "##);
}
