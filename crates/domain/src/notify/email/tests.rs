//! Messages to email channels as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;
use rules::notification::Email;

use super::SUBJECT_MAX;
use crate::notify::tests::asserts::{assert_html, length};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Email;

/// A typical channel.
pub(crate) fn channel() -> Email {
    Email { email: "ops@example.com".to_owned() }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let Message::Mail(mail) = message else { panic!("an email is sent by SMTP") };
    assert!(length(&mail.subject) <= SUBJECT_MAX);
    assert!(!mail.subject.chars().any(char::is_control), "{:?}", mail.subject);
    for id in [&mail.id, &mail.thread] {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        assert!(!id.is_empty() && id.chars().all(is_plain), "{id}");
    }
    assert!(!mail.text.contains('\r'));
    let tags = [
        "html", "head", "title", "body", "div", "h1", "p", "table", "tr", "th", "td", "ul", "li",
        "a",
    ];
    assert_html(&mail.html, &tags);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    To: ops@example.com
    Subject: Down: API & <shop>
    Message-ID: inc_0000000000005-chn_0000000000007-error
    References: inc_0000000000005

    Down: API & <shop>

    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 16:48:55 UTC
    Regions: 2 of 3 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Down: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #e4003d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔴 Down: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">the status is 503, which is not 200</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET https://api.example.com/health?full=1&amp;x_y=2</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Since</th><td style="overflow-wrap:anywhere">2026-11-21 16:48:55 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Regions</th><td style="overflow-wrap:anywhere">2 of 3 failing</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <ul style="padding-left:20px"><li>Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200</li><li>Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200</li><li>Singapore (fly-sin): ok, status 200, 240 ms</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    To: ops@example.com
    Subject: Degraded: API & <shop>
    Message-ID: mon_0000000000003-1795279675250-chn_0000000000007-degraded
    References: mon_0000000000003

    Degraded: API & <shop>

    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 16:47:55 UTC
    Regions: 1 of 2 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Degraded: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #ffd01d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🟠 Degraded: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">the status is 503, which is not 200</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET https://api.example.com/health?full=1&amp;x_y=2</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Since</th><td style="overflow-wrap:anywhere">2026-11-21 16:47:55 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Regions</th><td style="overflow-wrap:anywhere">1 of 2 failing</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <ul style="padding-left:20px"><li>Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200</li><li>Singapore (fly-sin): ok, status 200, 240 ms</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    To: ops@example.com
    Subject: Recovered after 12 min: API & <shop>
    Message-ID: inc_0000000000005-chn_0000000000007-recovered
    References: inc_0000000000005

    Recovered after 12 min: API & <shop>

    Target: GET https://api.example.com/health?full=1&x_y=2
    Started: 2026-11-21 16:36:55 UTC
    Duration: 12 min
    Workspace: Example Inc.

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Recovered after 12 min: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #00a089">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🟢 Recovered after 12 min: API &amp; &lt;shop&gt;</h1>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET https://api.example.com/health?full=1&amp;x_y=2</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Started</th><td style="overflow-wrap:anywhere">2026-11-21 16:36:55 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Duration</th><td style="overflow-wrap:anywhere">12 min</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    To: ops@example.com
    Subject: Test: this channel works
    Message-ID: mon_0000000000003-1795279735250-chn_0000000000007-test
    References: test-1795279735250

    Test: this channel works

    This is a test of the channel "On call". Nothing is wrong.
    Workspace: Example Inc.

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test: this channel works</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #2866c6">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔵 Test: this channel works</h1>
    <p style="overflow-wrap:anywhere">This is a test of the channel &quot;On call&quot;. Nothing is wrong.</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    To: ops@example.com
    Subject: Still down after 2 h 5 min: API & <shop>
    Message-ID: inc_0000000000005-chn_0000000000007-error-2
    References: inc_0000000000005

    Still down after 2 h 5 min: API & <shop>

    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 14:43:55 UTC
    Duration: 2 h 5 min
    Reminder: 2
    Regions: 2 of 3 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Still down after 2 h 5 min: API &amp; &lt;shop&gt;</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #e4003d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔴 Still down after 2 h 5 min: API &amp; &lt;shop&gt;</h1>
    <p style="overflow-wrap:anywhere">the status is 503, which is not 200</p>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Target</th><td style="overflow-wrap:anywhere">GET https://api.example.com/health?full=1&amp;x_y=2</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Since</th><td style="overflow-wrap:anywhere">2026-11-21 14:43:55 UTC</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Duration</th><td style="overflow-wrap:anywhere">2 h 5 min</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Reminder</th><td style="overflow-wrap:anywhere">2</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Regions</th><td style="overflow-wrap:anywhere">2 of 3 failing</td></tr>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <ul style="padding-left:20px"><li>Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200</li><li>Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200</li><li>Singapore (fly-sin): ok, status 200, 240 ms</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    To: ops@example.com
    Subject: 3 events: 1 down, 1 degraded, 1 recovered
    Message-ID: digest-3-inc_0000000000005-chn_0000000000007-error
    References: digest-3-inc_0000000000005-chn_0000000000007-error

    3 events: 1 down, 1 degraded, 1 recovered

    Workspace: Example Inc.
    • Down: API & <shop>: the status is 503, which is not 200
    • Degraded: API & <shop>: the status is 503, which is not 200
    • Recovered after 12 min: API & <shop>

    2026-11-21 16:48:55 UTC

    Open in Aloft: https://status.example.com/incidents/inc_0000000000005

    ---
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>3 events: 1 down, 1 degraded, 1 recovered</title></head>
    <body style="margin:0;padding:16px;background:#f4f5f7;color:#16191d;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"><div style="max-width:600px;margin:0 auto;padding:24px;background:#ffffff;border-top:6px solid #e4003d">
    <h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">🔴 3 events: 1 down, 1 degraded, 1 recovered</h1>
    <table>
    <tr><th style="padding:2px 16px 2px 0;text-align:left;vertical-align:top">Workspace</th><td style="overflow-wrap:anywhere">Example Inc.</td></tr>
    </table>
    <ul style="padding-left:20px"><li>Down: API &amp; &lt;shop&gt;: the status is 503, which is not 200</li><li>Degraded: API &amp; &lt;shop&gt;: the status is 503, which is not 200</li><li>Recovered after 12 min: API &amp; &lt;shop&gt;</li></ul>
    <p><a style="display:inline-block;padding:10px 16px;background:#16191d;color:#ffffff;text-decoration:none;border-radius:4px" href="https://status.example.com/incidents/inc_0000000000005">Open in Aloft</a></p>
    <p style="margin:16px 0 0;color:#5b6470;font-size:13px">Aloft · 2026-11-21 16:48:55 UTC</p>
    </div></body></html>
    "#);
}
