//! Kills the server (SIGKILL) while it replaces the details of successes in their file, which it
//! never syncs (docs/decisions/0054-latest-success.md). After each start, the details that it
//! returns are whole and belong to their result, and those of before are still there.

use std::collections::BTreeSet;
use std::os::unix::fs::FileExt as _;

use rules::Region;
use serde_json::{Value, json};

use crate::process::{Home, PATIENCE, Server, http_monitor, rpc, until};
use crate::target::Target;

const KILLS: usize = 6;
/// Number of monitors, each with all regions: about one check in 50 ms.
const MONITORS: usize = 20;
/// Maximum number of checks in one life of the server, besides the manual ones.
const CHECKS_MAX: usize = 60;
/// Distance of the damaged bytes of the file: less than the details of a check.
const DAMAGE_STEP: u64 = 256;

/// Number of reads that must return the details of all regions: fewer than fit into a period.
const READS_MAX: usize = 3;

struct Watched {
    id: String,
    url: String,
}

/// Regions of monitors whose details were returned.
type Detailed = BTreeSet<(String, String)>;

#[test]
fn details_of_successes_survive_kills() {
    let (home, key) = Home::with_key();
    let target = Target::start();
    let (watched, busy) = start_monitors(&home.serve(), &key, &target);
    let mut detailed = Detailed::new();
    for round in 0..KILLS {
        let server = home.serve();
        detailed = read_at_least(&server, &key, &watched, &detailed);
        target.clear();
        std::thread::scope(|scope| {
            let (address, key, busy) = (server.address, &key, &busy);
            // Until the server is gone.
            scope.spawn(move || while rpc(address, key, "TriggerMonitor", busy).is_ok() {});
            for _ in 0..=(round * 37) % CHECKS_MAX {
                while target.visit(PATIENCE).expect("the monitors are checked") == "/busy" {}
            }
            server.kill();
        });
    }
    let server = home.serve();
    let found = read_at_least(&server, &key, &watched, &detailed);
    assert!(!found.is_empty());
    server.kill();

    damage(&home);
    let server = home.serve();
    // The database has details of one success in ten minutes too.
    let left = read_details(&server, &key, &watched);
    assert!(left.len() < found.len(), "{} of {} are left", left.len(), found.len());
    let log = server.stop_with_log();
    assert!(!log.contains("details of successes"), "{log}");
}

/// Creates the monitors, and one that is only checked on demand. A manual check of each region
/// comes first, so that the database has these details, and only the file those of the checks that
/// follow. Returns the request for a check of the last monitor.
fn start_monitors(server: &Server, key: &str, target: &Target) -> (Vec<Watched>, Value) {
    let regions: Vec<&str> = Region::PUBLIC.iter().map(|region| region.as_str()).collect();
    let create = |name: String, is_active: bool| {
        let url = target.url(&format!("/{name}"));
        let mut monitor = http_monitor(&name, &url, &regions);
        monitor["active"] = json!(is_active);
        let made = server.rpc(key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        Watched { id: made["monitor"]["id"].as_str().unwrap().to_owned(), url }
    };
    let watched: Vec<Watched> =
        (0..MONITORS).map(|number| create(number.to_string(), false)).collect();
    for Watched { id, .. } in &watched {
        server.rpc(key, "TriggerMonitor", &json!({ "id": id }));
        let activate = json!({ "monitor": { "id": id, "active": true }, "updateMask": "active" });
        server.rpc(key, "UpdateHttpMonitor", &activate);
    }
    let busy = create("busy".to_owned(), false);
    (watched, json!({ "id": busy.id }))
}

/// Reads the details of scheduled successes. Returns the regions that have some.
fn read_details(server: &Server, key: &str, watched: &[Watched]) -> Detailed {
    let read = |watched| until("all listed details", || read_monitor(server, key, watched));
    watched.iter().flat_map(read).collect()
}

/// Like [`read_details`], and panics if regions lost their details. A check that ends between the two
/// reads of a list hides its region in that list, so they are read again.
fn read_at_least(server: &Server, key: &str, watched: &[Watched], detailed: &Detailed) -> Detailed {
    let mut found = Detailed::new();
    for _ in 0..READS_MAX {
        found.extend(read_details(server, key, watched));
        if found.is_superset(detailed) {
            return found;
        }
    }
    panic!("lost: {:?}", detailed - &found);
}

/// Returns `None` if a newer success replaced the details while they were being read, or if they
/// are damaged. Nobody is referred to them any longer then.
fn read_monitor(server: &Server, key: &str, Watched { id, url }: &Watched) -> Option<Detailed> {
    let listed = json!({
        "id": id, "limit": 100, "withDetails": true, "outcomes": ["success"],
        "triggers": ["scheduled"],
    });
    let mut detailed = Some(Detailed::new());
    for log in server.rpc(key, "ListResponseLogs", &listed)["logs"].as_array().unwrap() {
        let whole = server.rpc(key, "GetResponseLog", &json!({ "monitorId": id, "id": log["id"] }));
        let [attempt] = whole["attempts"].as_array().unwrap().as_slice() else {
            assert_eq!(
                (&whole["attempts"], &whole["log"]["hasDetails"]),
                (&json!([]), &json!(false))
            );
            detailed = None;
            continue;
        };
        assert_eq!(&whole["log"], log);
        assert_eq!(attempt["latencyUs"], log["latencyUs"], "{whole}");
        assert_eq!((&attempt["hops"][0]["url"], &attempt["body"]), (&json!(url), &json!("ok\n")));
        let region = log["region"].as_str().unwrap().to_owned();
        detailed.as_mut().map(|it| it.insert((id.clone(), region)));
    }
    detailed
}

/// Damages each piece of data in the file.
fn damage(home: &Home) {
    let path = home.data().join("aloft.successes");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    for offset in (0..file.metadata().unwrap().len()).step_by(DAMAGE_STEP as usize).skip(1) {
        file.write_all_at(b"?", offset).unwrap();
    }
}
