//! Plans: every monitor that can be stored can be checked.

use proptest::prelude::*;
use rules::monitor::{
    CheckDraft, DnsDraft, HeaderDraft, HttpDraft, MonitorDraft, MonitorSettings, TcpDraft,
};
use rules::{Violations, WorkspaceId};

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn settings(check: CheckDraft) -> Result<MonitorSettings, Violations> {
    let mut draft = MonitorDraft::new(check);
    draft.name = Some("a monitor".to_owned());
    draft.periodicity = Some("30s".to_owned());
    draft.parse()
}

fn plan(settings: MonitorSettings) -> Result<CheckPlan, InvalidPlan> {
    CheckPlan::new(&Monitor {
        id: MonitorId::from_bits(1),
        workspace: WorkspaceId::from_bits(1),
        revision: 7,
        settings,
        created_at: NOW,
        updated_at: NOW,
    })
}

fn http(url: &str, host: Option<&str>) -> CheckDraft {
    let headers = host
        .map(|value| HeaderDraft { key: Some("Host".to_owned()), value: Some(value.to_owned()) })
        .into_iter()
        .collect();
    CheckDraft::Http(HttpDraft { url: Some(url.to_owned()), headers, ..HttpDraft::default() })
}

fn tcp(uri: &str) -> CheckDraft {
    CheckDraft::Tcp(TcpDraft { uri: Some(uri.to_owned()), ..TcpDraft::default() })
}

fn dns(uri: &str) -> CheckDraft {
    let uri = Some(uri.to_owned());
    CheckDraft::Dns(DnsDraft { uri, ..DnsDraft::default() })
}

// design: §4 "0 timeout means the ceiling", "0 means never degraded"
#[test]
fn plan_uses_effective_time_limits() {
    for (timeout_ms, degraded_at_ms, timeout, degraded_above) in [
        (45_000, None, 45_000, Some(30_000)),
        (0, None, 120_000, Some(80_000)),
        (1_000, Some(5), 1_000, Some(5)),
        (1_000, Some(0), 1_000, None),
        (1, None, 1, None),
    ] {
        let mut settings = settings(tcp("example.com:80")).expect("the settings are valid");
        (settings.timeout_ms, settings.degraded_at_ms) = (timeout_ms, degraded_at_ms);
        let plan = plan(settings).expect("the settings are valid");
        assert_eq!(plan.timeout, Duration::from_millis(timeout));
        assert_eq!(plan.degraded_above, degraded_above.map(Duration::from_millis));
        assert_eq!(plan.revision, 7);
    }
}

#[test]
fn invalid_plan_names_monitor_and_reason() {
    let mut settings = settings(tcp("example.com:80")).expect("the settings are valid");
    settings.check = Check::Tcp(rules::monitor::TcpCheck::new("example.com"));
    insta::assert_snapshot!(plan(settings).unwrap_err(), @"monitor `mon_0000000000001` cannot be checked: its address must be host:port, such as example.com:443; edit it");
}

#[test]
fn stored_monitor_can_be_planned() {
    for check in [
        http("https://user:p%40ss@bücher.example:8443/ä?ö#x", Some("xn--bcher-kva.example:80")),
        http("http://example.com./a b", Some("[2001:db8::1]")),
        http("http://under_score.example.com/", Some("under_score.example")),
        tcp("BÜCHER.example.:65535"),
        tcp("[::ffff:192.0.2.1]:1"),
        dns("_dmarc.Bücher.example."),
        dns("localhost"),
    ] {
        let settings = settings(check).expect("the settings are valid");
        assert!(plan(settings.clone()).is_ok(), "{settings:?}");
    }
}

proptest! {
    #[test]
    fn any_valid_settings_can_be_planned(
        text in "[a-zäß0-9._@:/\\[\\] -]{1,12}|.{1,12}", port: u16,
    ) {
        for check in [
            http(&format!("http://{text}"), None),
            http("http://example.com/", Some(&text)),
            tcp(&text),
            tcp(&format!("{text}:{port}")),
            dns(&text),
        ] {
            if let Ok(settings) = settings(check) {
                let planned = plan(settings.clone());
                prop_assert!(planned.is_ok(), "{:?}: {:?}", settings.check, planned);
            }
        }
    }
}
