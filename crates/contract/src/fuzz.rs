//! Properties of every request that creates a monitor or a channel, in JSON and protobuf. Used by
//! the fuzz target `conversions` and by the test that replays its corpus.

use std::fmt::Debug;

use buffa::Message;
use rules::limits::VIOLATIONS_MAX;
use rules::monitor::{Monitor, MonitorDraft, MonitorSettings};
use rules::notification::{Channel, ChannelDraft};
use rules::{ChannelId, MonitorId, MonitorStatus, Region, Timestamp, WorkspaceId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::IntoDraft;
use crate::fields::SecretVisibility;
use crate::monitor::wire::{
    CreateDnsMonitorRequest, CreateHeartbeatMonitorRequest, CreateHttpMonitorRequest,
    CreateTcpMonitorRequest, Kind,
};
use crate::monitor::{StoredMonitor, decode};
use crate::notification::encode;
use crate::notification::wire::CreateNotificationRequest;
use crate::rpc::{check_json, methods};

/// Request that creates an object.
trait Creating: Message + DeserializeOwned + Serialize {
    /// Path of its method.
    const PATH: &'static str;
    /// Draft of the object in `rules`.
    type Draft: Debug + PartialEq;

    fn draft(self) -> Option<Self::Draft>;

    /// Checks that a valid draft is encoded as it was sent, and that the response is valid again.
    fn check_round_trip(draft: Self::Draft);
}

macro_rules! creating {
    ($($request:ident $path:literal)+) => {$(
        impl Creating for $request {
            const PATH: &'static str = concat!("/monitor.v1.MonitorService/", $path);
            type Draft = MonitorDraft;

            fn draft(self) -> Option<MonitorDraft> {
                decode(self.monitor.into_option()).ok()
            }

            fn check_round_trip(draft: MonitorDraft) {
                check_monitor(draft);
            }
        }
    )+};
}

creating! {
    CreateHttpMonitorRequest "CreateHttpMonitor"
    CreateTcpMonitorRequest "CreateTcpMonitor"
    CreateDnsMonitorRequest "CreateDnsMonitor"
    CreateHeartbeatMonitorRequest "CreateHeartbeatMonitor"
}

impl Creating for CreateNotificationRequest {
    const PATH: &'static str = "/notification.v1.NotificationService/CreateNotification";
    type Draft = ChannelDraft;

    fn draft(self) -> Option<ChannelDraft> {
        self.notification.into_option().map(IntoDraft::into_draft)
    }

    fn check_round_trip(draft: ChannelDraft) {
        let Ok(settings) = draft.parse() else { return };
        let written = ChannelDraft::from(&settings);
        let at = Timestamp::from_millis(0);
        let (id, workspace) = (ChannelId::from_bits(1), WorkspaceId::from_bits(1));
        let channel = Channel { id, workspace, settings, created_at: at, updated_at: at };
        let answered = encode(&channel, SecretVisibility::Visible).into_draft();
        assert_eq!(answered, written, "what is answered is not what was written");
        assert_eq!(
            answered.parse().as_ref(),
            Ok(&channel.settings),
            "the answer is not valid again"
        );
        // Encoding for a read key must not panic either.
        let _ = encode(&channel, SecretVisibility::Redacted);
    }
}

/// Decodes and checks a request. The first byte selects the format: `h`, `t`, `d`, `b` and `n` are
/// kinds in JSON, capitals the same in protobuf. Any other byte selects a method whose JSON is checked.
/// The rest is the body.
///
/// # Panics
///
/// Panics if JSON passes the check but cannot be decoded, or if the response differs from the
/// request.
pub fn conversions(input: &[u8]) {
    let Some((choice, body)) = input.split_first() else { return };
    match choice {
        b'h' => json::<CreateHttpMonitorRequest>(body),
        b't' => json::<CreateTcpMonitorRequest>(body),
        b'd' => json::<CreateDnsMonitorRequest>(body),
        b'b' => json::<CreateHeartbeatMonitorRequest>(body),
        b'n' => json::<CreateNotificationRequest>(body),
        b'H' => protobuf::<CreateHttpMonitorRequest>(body),
        b'T' => protobuf::<CreateTcpMonitorRequest>(body),
        b'D' => protobuf::<CreateDnsMonitorRequest>(body),
        b'B' => protobuf::<CreateHeartbeatMonitorRequest>(body),
        b'N' => protobuf::<CreateNotificationRequest>(body),
        any => {
            let all = methods();
            passes(&all[usize::from(*any) % all.len()].path, body);
        }
    }
}

/// Returns whether JSON passes the check. Every violation must have a path.
fn passes(path: &str, body: &[u8]) -> bool {
    let Err(found) = check_json(path, body) else { return true };
    assert!((1..=VIOLATIONS_MAX).contains(&found.0.len()), "{} violations", found.0.len());
    assert!(found.0.iter().all(|violation| !violation.field.is_empty()), "{found}");
    false
}

fn json<Request: Creating>(body: &[u8]) {
    let passed = passes(Request::PATH, body);
    match serde_json::from_slice::<Request>(body) {
        Ok(request) => check_request(request),
        Err(error) => {
            let is_json = serde_json::from_slice::<serde_json::Value>(body).is_ok();
            let twice = error.to_string().contains("duplicate field");
            assert!(!passed || !is_json || twice, "passes the check and is refused: {error}");
        }
    }
}

fn protobuf<Request: Creating>(body: &[u8]) {
    let Ok(request) = Request::decode_from_slice(body) else { return };
    let again = request.encode_to_vec();
    let again = Request::decode_from_slice(&again).expect("what we wrote is protobuf");
    check_request(request.clone());
    let as_json = serde_json::to_vec(&request).expect("a request is JSON");
    assert!(passes(Request::PATH, &as_json), "our own JSON is refused");
    let from_json: Request = serde_json::from_slice(&as_json).expect("what we wrote is JSON");
    assert_eq!(again.draft(), from_json.draft(), "JSON and protobuf differ");
}

fn check_request<Request: Creating>(request: Request) {
    if let Some(draft) = request.draft() {
        Request::check_round_trip(draft);
    }
}

fn check_monitor(draft: MonitorDraft) {
    let Ok(settings) = draft.parse() else { return };
    let written = MonitorDraft::from(&settings);
    let monitor = stored(settings);
    let shown = StoredMonitor {
        monitor: &monitor,
        status: MonitorStatus::Active,
        default_regions: &[Region::FlyFra],
        heartbeat: None,
        secrets: SecretVisibility::Visible,
    };
    let answered: MonitorDraft = match shown.kind() {
        Kind::Http(message) => (*message).into_draft(),
        Kind::Tcp(message) => (*message).into_draft(),
        Kind::Dns(message) => (*message).into_draft(),
        Kind::Heartbeat(message) => (*message).into_draft(),
    };
    assert_eq!(answered, written, "what is answered is not what was written");
    assert_eq!(answered.parse().as_ref(), Ok(&monitor.settings), "the answer is not valid again");
    // Encoding for a read key must not panic either.
    let _ = StoredMonitor { secrets: SecretVisibility::Redacted, ..shown }.kind();
}

fn stored(settings: MonitorSettings) -> Monitor {
    let at = Timestamp::from_millis(0);
    let (id, workspace) = (MonitorId::from_bits(1), WorkspaceId::from_bits(1));
    Monitor { id, workspace, revision: 1, settings, created_at: at, updated_at: at }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod corpus;

#[cfg(test)]
mod tests {
    #[test]
    fn the_corpus_of_conversions_holds() {
        super::corpus::replay("conversions", super::conversions);
    }
}
