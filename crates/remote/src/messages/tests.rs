//! Tests of jobs: a probe checks exactly what the server asks for, or nothing.

use contract::monitor::wire::{DnsMonitor, HttpMonitor, TcpMonitor};
use domain::check::http::ClientAuth;
use domain::check::{PlannedCheck, Trigger};
use rules::monitor::{Check, ClientKey, MonitorDraft};
use rules::{Secret, tables};
use serde_json::json;

use super::*;

const SLOT: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn monitor(draft: MonitorDraft) -> Monitor {
    Monitor {
        id: MonitorId::from_bits(1),
        workspace: WorkspaceId::from_bits(1),
        revision: 1,
        settings: draft.parse().unwrap(),
        created_at: SLOT,
        updated_at: SLOT,
    }
}

/// Returns a monitor of each kind.
fn monitors() -> [Monitor; 3] {
    let (name, periodicity) = (Some("API".to_owned()), Some("1m".to_owned()));
    let http = HttpMonitor {
        name: name.clone(),
        url: Some("https://example.com".to_owned()),
        periodicity: periodicity.clone(),
        ..HttpMonitor::default()
    };
    let tcp = TcpMonitor {
        name: name.clone(),
        uri: Some("example.com:25".to_owned()),
        periodicity: periodicity.clone(),
        ..TcpMonitor::default()
    };
    let dns = DnsMonitor {
        name,
        uri: Some("example.com".to_owned()),
        periodicity,
        ..DnsMonitor::default()
    };
    [http.into_draft(), tcp.into_draft(), dns.into_draft()].map(monitor)
}

fn job(monitor: &Monitor, message: &[u8]) -> wire::Job {
    let job = Job {
        plan: Arc::new(CheckPlan::new(monitor).unwrap()),
        region: Region::FlyAms,
        slot: SLOT,
        trigger: Trigger::Scheduled,
        next_slot: SLOT + Duration::from_mins(1),
        keep_evidence: false,
    };
    encode_job(b"ticket".to_vec(), &job, message, 3)
}

#[test]
fn job_of_each_kind_is_decoded() {
    for monitor in monitors() {
        let decoded = decode_job(job(&monitor, &encode_monitor(&monitor))).unwrap();
        assert_eq!((&*decoded.ticket, decoded.weight), (&b"ticket"[..], 3));
        assert_eq!(decoded.job.plan.monitor, monitor.id);
    }
}

#[test]
fn unknown_argument_of_a_newer_server_is_rejected() {
    /// A field with a number that no version uses, and the value 1.
    const UNKNOWN: [u8; 3] = [0xf8, 0xff, 0x01];
    let [http, ..] = monitors();
    let known = WireMonitor::decode_from_slice(&encode_monitor(&http)).unwrap();
    let Some(Kind::Http(known)) = known.kind else { panic!("it is an HTTP monitor") };
    let content = [known.encode_to_vec(), UNKNOWN.to_vec(), vec![1]].concat();
    let length = u8::try_from(content.len()).unwrap();
    assert!(length < 128, "its length is one byte");
    let message = [vec![0x0a, length], content].concat();
    let refused = decode_job(job(&http, &message)).unwrap_err();
    assert!(matches!(refused, UnreadableJob::UnknownArguments), "{refused}");
}

#[test]
fn job_has_no_outputs() {
    for monitor in monitors() {
        let message = WireMonitor::decode_from_slice(&encode_monitor(&monitor)).unwrap();
        let json = serde_json::to_value(message).unwrap();
        let kind = monitor.settings.check.kind();
        let arguments: Vec<String> =
            tables::monitor(kind).writable().map(|name| name.replace('_', "")).collect();
        let fields = json[kind.as_str()].as_object().unwrap().iter();
        for (name, _) in fields.filter(|(_, value)| **value != json!([])) {
            assert!(arguments.contains(&name.to_lowercase()), "{name} of {kind}");
        }
    }
}

// An upgraded server sent the defaults of new arguments, and every earlier probe rejected every job.
#[test]
fn job_omits_defaults_of_later_arguments() {
    let arguments = |monitor: &Monitor| {
        let message = WireMonitor::decode_from_slice(&encode_monitor(monitor)).unwrap();
        match message.kind {
            Some(Kind::Http(http)) => {
                assert_eq!((http.client_certificate, http.client_key), (None, None));
                (http.ip_version, http.certificate_warn_days)
            }
            Some(Kind::Tcp(tcp)) => (tcp.ip_version, None),
            Some(Kind::Dns(_) | Kind::Heartbeat(_)) | None => (None, None),
        }
    };
    for monitor in &monitors() {
        assert_eq!(arguments(monitor), (None, None));
    }
    let [mut http, mut tcp, _] = monitors();
    if let Check::Http(check) = &mut http.settings.check {
        check.ip_version = IpVersion::V6;
        check.certificate_warn_days = 14;
    }
    if let Check::Tcp(check) = &mut tcp.settings.check {
        check.ip_version = IpVersion::V4;
    }
    assert_eq!(arguments(&http), (Some("ipv6".to_owned()), Some(14)));
    assert_eq!(arguments(&tcp), (Some("ipv4".to_owned()), None));
}

// decision 0085
#[test]
fn job_carries_the_client_certificate_with_its_key() {
    let object = |label: &str| format!("-----BEGIN {label}-----\nhunter2\n-----END {label}-----\n");
    let [mut http, ..] = monitors();
    if let Check::Http(check) = &mut http.settings.check {
        check.client_certificate = Some(object("CERTIFICATE"));
        check.client_key = Some(ClientKey(Secret::new(object("PRIVATE KEY"))));
    }
    let decoded = decode_job(job(&http, &encode_monitor(&http))).unwrap();
    let PlannedCheck::Http(plan) = &decoded.job.plan.check else { panic!("it is an HTTP monitor") };
    let ClientAuth::Present(identity) = plan.client_auth(&plan.url) else {
        panic!("the plan has no certificate")
    };
    assert_eq!(identity.certificate, object("CERTIFICATE"));
    assert_eq!(*identity.key.expose(), object("PRIVATE KEY"));
    let sent = CheckPlan::new(&http).unwrap().with_message(encode_monitor(&http));
    for debug in [format!("{sent:?}"), format!("{:?}", decoded.job)] {
        assert!(!debug.contains("PRIVATE KEY"), "its debug output hides the key");
    }
}
