//! What must hold of every request that creates a monitor, as JSON and as protobuf: the entry of
//! the fuzz target `conversions`, and of the test that replays its corpus.

use buffa::Message;
use rules::limits::VIOLATIONS_MAX;
use rules::monitor::{Monitor, MonitorDraft, MonitorSettings};
use rules::{MonitorId, MonitorStatus, Region, Timestamp, WorkspaceId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::monitor::wire::{
    CreateDnsMonitorRequest, CreateHttpMonitorRequest, CreateTcpMonitorRequest, Kind,
};
use crate::monitor::{Secrets, Shown, drafted};
use crate::rpc::{check_json, methods};

/// A request that creates a monitor.
trait Creating: Message + DeserializeOwned + Serialize {
    /// Its method's path.
    const PATH: &'static str;

    fn draft(self) -> Option<MonitorDraft>;
}

macro_rules! creating {
    ($($request:ident $path:literal)+) => {$(
        impl Creating for $request {
            const PATH: &'static str = concat!("/monitor.v1.MonitorService/", $path);

            fn draft(self) -> Option<MonitorDraft> {
                drafted(self.monitor.into_option()).ok()
            }
        }
    )+};
}

creating! {
    CreateHttpMonitorRequest "CreateHttpMonitor"
    CreateTcpMonitorRequest "CreateTcpMonitor"
    CreateDnsMonitorRequest "CreateDnsMonitor"
}

/// Reads a request: the first byte chooses its kind and whether it is JSON or protobuf (`h`, `t`
/// and `d`, in capitals for protobuf); others check the body as JSON of any method. The rest is it.
///
/// # Panics
/// Where JSON passes the check and is not decoded, or where what is answered is not what was
/// written.
pub fn conversions(input: &[u8]) {
    let Some((choice, body)) = input.split_first() else { return };
    match choice {
        b'h' => json::<CreateHttpMonitorRequest>(body),
        b't' => json::<CreateTcpMonitorRequest>(body),
        b'd' => json::<CreateDnsMonitorRequest>(body),
        b'H' => protobuf::<CreateHttpMonitorRequest>(body),
        b'T' => protobuf::<CreateTcpMonitorRequest>(body),
        b'D' => protobuf::<CreateDnsMonitorRequest>(body),
        any => {
            let all = methods();
            passes(&all[usize::from(*any) % all.len()].path, body);
        }
    }
}

/// Whether the check lets this JSON pass; what it finds has a place.
fn passes(path: &str, body: &[u8]) -> bool {
    let Err(found) = check_json(path, body) else { return true };
    assert!((1..=VIOLATIONS_MAX).contains(&found.0.len()), "{} violations", found.0.len());
    assert!(found.0.iter().all(|violation| !violation.field.is_empty()), "{found}");
    false
}

fn json<Request: Creating>(body: &[u8]) {
    let passed = passes(Request::PATH, body);
    match serde_json::from_slice::<Request>(body) {
        Ok(request) => came_and_goes(request),
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
    came_and_goes(request.clone());
    let as_json = serde_json::to_vec(&request).expect("a request is JSON");
    assert!(passes(Request::PATH, &as_json), "our own JSON is refused");
    let from_json: Request = serde_json::from_slice(&as_json).expect("what we wrote is JSON");
    assert_eq!(again.draft(), from_json.draft(), "JSON and protobuf differ");
}

/// A request that is valid is answered as it was written, and its answer is valid once more.
fn came_and_goes<Request: Creating>(request: Request) {
    let Some(draft) = request.draft() else { return };
    let Ok(settings) = draft.parse() else { return };
    let written = MonitorDraft::from(&settings);
    let monitor = stored(settings);
    let shown = Shown {
        monitor: &monitor,
        status: MonitorStatus::Active,
        default_regions: &[Region::FlyFra],
        secrets: Secrets::Shown,
    };
    let answered: MonitorDraft = match shown.kind() {
        Kind::Http(message) => (*message).into(),
        Kind::Tcp(message) => (*message).into(),
        Kind::Dns(message) => (*message).into(),
    };
    assert_eq!(answered, written, "what is answered is not what was written");
    assert_eq!(answered.parse().as_ref(), Ok(&monitor.settings), "the answer is not valid again");
    // Shown to a read key, nothing may panic either.
    let _ = Shown { secrets: Secrets::LeftOut, ..shown }.kind();
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
