//! Imports from Uptime Kuma: its database (1.23 and 2.x), or the JSON backup of 1.x.
//! The meaning of columns and settings: louislam/uptime-kuma 1.23.16 and 2.5.3 (`server/model/`,
//! `server/notification-providers/`).

mod backup;
mod channel;
mod database;
mod heartbeats;
mod http;
mod monitor;
mod others;
mod page;
mod push;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub(crate) use heartbeats::write_heartbeats;

use crate::ImportError;
use crate::assembly::Assembly;
use crate::history::History;
use crate::peer::Reading;
use crate::record::Record;

/// Rows of the tables that an import reads.
#[derive(Default)]
struct Rows {
    monitors: Vec<Record>,
    /// Days before the expiry of a certificate of the first warning. `None` if there are no warnings.
    warn_days: Option<u16>,
    /// Names of all monitors by their identifiers.
    names: HashMap<String, String>,
    /// Tags of each monitor, as `name` or `name: value`.
    tags: HashMap<String, Vec<String>>,
    notifications: Vec<Record>,
    /// Monitors of each notification.
    notified: BTreeMap<String, Vec<String>>,
    pages: Vec<Record>,
    page_groups: Vec<Record>,
    page_monitors: Vec<Record>,
    domains: Vec<Record>,
    maintenance: Vec<Record>,
    /// Monitors and pages of each maintenance, in words.
    maintained: HashMap<String, Vec<String>>,
    incidents: Vec<Record>,
    /// Numbers of objects that people create again by hand, with their kind.
    counts: Vec<(&'static str, u64)>,
}

impl Rows {
    /// Returns the name of a monitor.
    fn name_of(&self, id: &str) -> String {
        self.names.get(id).cloned().unwrap_or_default()
    }
}

/// Reads a database or a backup.
pub(crate) fn read(path: &Path) -> Result<Reading, ImportError> {
    if path.is_dir() {
        let file = path.join("kuma.db");
        if !file.is_file() {
            let remedy = "give the file `kuma.db` of the folder `data`";
            return Err(ImportError::unusable(path, "is a folder without `kuma.db`", remedy));
        }
        return read(&file);
    }
    let is_database = database::is_sqlite(path)?;
    let mut rows = if is_database { database::rows(path)? } else { backup::rows(path)? };
    let mut assembly = Assembly::default();
    rows.names = monitor::names(&rows.monitors);
    let groups = monitor::groups(&rows.monitors);
    for record in std::mem::take(&mut rows.monitors) {
        monitor::import(record, &rows, &groups, &mut assembly);
    }
    for record in std::mem::take(&mut rows.notifications) {
        channel::import(record, &rows.notified, &mut assembly);
    }
    let incidents = page::import_all(&mut rows, &mut assembly);
    others::note(&mut rows, &mut assembly);
    let history = if is_database {
        History::Heartbeats { database: path.to_owned(), incidents }
    } else {
        History::Incidents(Vec::new())
    };
    Ok(Reading { assembly, history })
}
