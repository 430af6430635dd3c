//! Kills the server (SIGKILL) twenty times while monitors run and callers write. Everything
//! reported as stored exists after each start. A shutdown at the end loses nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};
use store::{Database, MasterKeySource, Settings, Store};

use crate::process::{Home, PATIENCE, Server, http_monitor, rpc};
use crate::target::Target;

const KILLS: u64 = 20;
/// Maximum number of responses in a round.
const RESPONSES_MAX: u64 = 40;
const METRIC: &str = "aloft_results_committed_total ";

/// Possible names of a monitor after a crash, because an edit without a response may have happened
/// or not. `None` means that the monitor does not exist.
type Expected = BTreeMap<String, Vec<Option<String>>>;

/// A response to a caller.
enum ReportedChange {
    /// A monitor exists with this name.
    Stored { id: String, name: String },
    /// A change was sent: the monitor has this name or the one before. `None` deletes.
    Sent { id: String, name: Option<String> },
    /// A monitor was deleted.
    Deleted { id: String },
    /// A trigger returned this number of results, which are stored.
    Checked(u64),
}

/// Parameters of a caller.
struct Work {
    address: SocketAddr,
    key: String,
    url: String,
    answers: Sender<ReportedChange>,
}

#[test]
fn confirmed_writes_survive_twenty_kills() {
    // issue 3, point 8
    let (home, key) = Home::with_key();
    let target = Target::start();
    let mut expected = Expected::new();
    let mut committed = 0;
    let kept = {
        let server = home.serve();
        let monitor = http_monitor("kept", &target.url("/"), &["fly-ams", "fly-iad"]);
        let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        made["monitor"]["id"].as_str().unwrap().to_owned()
    };
    expected.insert(kept.clone(), vec![Some("kept".to_owned())]);
    for round in 0..KILLS {
        let server = home.serve();
        is_as_expected(&server, &key, &expected);
        let (answers, answered) = channel();
        let url = target.url("/");
        let work = Work { address: server.address, key: key.clone(), url, answers };
        // The last number read is a lower bound for the next start.
        let reported = AtomicU64::new(0);
        let mut checked = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| write(&work, round));
            scope.spawn(|| trigger(&work, &kept));
            scope.spawn(|| count(&work, &reported));
            for _ in 0..=random(round) % RESPONSES_MAX {
                let answer = answered.recv_timeout(PATIENCE).expect("callers get responses");
                checked += record(&mut expected, answer);
            }
            server.kill();
            target.clear();
        });
        drop(work);
        for answer in &answered {
            checked += record(&mut expected, answer);
        }
        committed += reported.load(Ordering::SeqCst).max(checked);
        let stored = stored_results(&home.data());
        assert!(stored >= committed, "round {round}: {stored} stored, {committed} reported");
        // More results may be stored than were reported. From here on, they must remain.
        committed = stored;
    }
    let server = home.serve();
    is_as_expected(&server, &key, &expected);
    let last = rpc_ids(&server, &key);
    assert!(last.len() > 5, "too few monitors for a meaningful test: {}", last.len());
    server.rpc(&key, "TriggerMonitor", &json!({ "id": last.keys().next().unwrap() }));
    let reported = results_committed(&server);
    assert_eq!(server.stop().code(), Some(0));
    assert!(stored_results(&home.data()) >= committed + reported);
    is_as_expected(&home.serve(), &key, &expected);
}

/// Creates, edits and deletes monitors until the server is gone.
fn write(work: &Work, round: u64) -> Option<()> {
    for number in 0_u64.. {
        let name = format!("round {round} number {number}");
        let monitor = http_monitor(&name, &work.url, &["fly-ams"]);
        let made = work.call("CreateHttpMonitor", &json!({ "monitor": monitor }))?;
        let id = made["monitor"]["id"].as_str()?.to_owned();
        work.send(ReportedChange::Stored { id: id.clone(), name: name.clone() })?;
        let name = format!("{name}, edited");
        work.send(ReportedChange::Sent { id: id.clone(), name: Some(name.clone()) })?;
        let edit = json!({ "monitor": { "id": id, "name": name }, "updateMask": "name" });
        work.call("UpdateHttpMonitor", &edit)?;
        work.send(ReportedChange::Stored { id: id.clone(), name })?;
        if number % 2 == 0 {
            work.send(ReportedChange::Sent { id: id.clone(), name: None })?;
            work.call("DeleteMonitor", &json!({ "id": id }))?;
            work.send(ReportedChange::Deleted { id })?;
        }
    }
    None
}

/// Triggers checks of one monitor until the server is gone.
fn trigger(work: &Work, id: &str) -> Option<()> {
    loop {
        let checked = work.call("TriggerMonitor", &json!({ "id": id }))?;
        work.send(ReportedChange::Checked(checked["results"].as_array()?.len() as u64))?;
    }
}

/// Reads the number of stored results that the server reports, until it is gone.
fn count(work: &Work, reported: &AtomicU64) -> Option<()> {
    loop {
        let page = crate::process::get(work.address, "/metrics").ok()?.body;
        reported.store(number_in(&page)?, Ordering::SeqCst);
    }
}

impl Work {
    fn call(&self, method: &str, request: &Value) -> Option<Value> {
        let reply = rpc(self.address, &self.key, method, request).ok()?;
        assert_eq!(reply.status, 200, "{method} {request}: {}", reply.body);
        Some(reply.json())
    }

    fn send(&self, answered: ReportedChange) -> Option<()> {
        self.answers.send(answered).ok()
    }
}

/// Records a response. Returns the number of results that it reports as stored.
fn record(expected: &mut Expected, answered: ReportedChange) -> u64 {
    match answered {
        ReportedChange::Stored { id, name } => {
            expected.insert(id, vec![Some(name)]);
        }
        ReportedChange::Sent { id, name } => expected.entry(id).or_default().push(name),
        ReportedChange::Deleted { id } => {
            expected.insert(id, vec![None]);
        }
        ReportedChange::Checked(results) => return results,
    }
    0
}

fn is_as_expected(server: &Server, key: &str, expected: &Expected) {
    let stored = rpc_ids(server, key);
    for (id, names) in expected {
        let name = stored.get(id).cloned();
        assert!(names.contains(&name), "{id} is {name:?}, expected one of {names:?}");
    }
}

/// Returns the names of all monitors by id.
fn rpc_ids(server: &Server, key: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut token = String::new();
    loop {
        let page = json!({ "limit": 100, "pageToken": token });
        let listed = server.rpc(key, "ListMonitors", &page);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for monitor in listed["httpMonitors"].as_array().unwrap() {
            all.insert(text(&monitor["id"]), text(&monitor["name"]));
        }
        token = text(&listed["nextPageToken"]);
        if token.is_empty() {
            return all;
        }
    }
}

fn results_committed(server: &Server) -> u64 {
    number_in(&server.get("/metrics", None).body).expect("the server counts stored results")
}

fn number_in(page: &str) -> Option<u64> {
    page.lines().find_map(|line| line.strip_prefix(METRIC))?.parse().ok()
}

/// Opens the database as the next server would, and counts results.
fn stored_results(folder: &Path) -> u64 {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let settings = Settings {
            folder: folder.to_owned(),
            database: Database::Embedded,
            master_key: MasterKeySource::File,
        };
        let store = Store::open(settings).await.unwrap();
        let count = store.results().count().await.unwrap();
        store.close().await.unwrap();
        count
    })
}

/// Spreads the rounds over the moments at which a server can be killed. The same in every run.
fn random(round: u64) -> u64 {
    let bits = (round + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}
