//! The part of home besides the fleet: monitors that are not well with their causes and open incidents,
//! and maintenance.
//! Cached for each workspace until something changes, and for seconds, because another region may
//! fail without a change of the status.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::maintenance::MaintenanceStatus;
use rules::{MonitorId, MonitorKind, Timestamp, WorkspaceId};
use store::{
    FleetCause, Generation, Incident, IncidentFilter, MaintenanceFilter, MonitorNumber, Page,
    PlannedMaintenance, Store, StoreError,
};
use web::cache::{Cache, CacheCounters, CachePolicy, ReadError};

use crate::fleet::snapshot::{FleetRow, FleetSnapshot, Health};

/// Age from which an overview is read again.
const FRESH_FOR: Duration = Duration::from_secs(10);
const BYTES_MAX: usize = 64 << 20;
/// Number of monitors that are shown with their cause.
const TROUBLED_MAX: usize = 25;
/// Number of open incidents in which those of the shown monitors are found, newest first.
const INCIDENTS_MAX: u32 = 100;
/// Number of scheduled maintenances from which the next are chosen.
const SCHEDULED_MAX: u32 = 100;
/// Number of maintenances of each status that are shown.
const MAINTENANCES_SHOWN: usize = 3;

/// Overviews in memory.
pub(crate) struct Overviews(Cache<WorkspaceId, Arc<Overview>, Generation>);

/// The state of a workspace besides its fleet.
#[derive(Debug)]
pub(crate) struct Overview {
    /// Monitors that are not well, worst and latest first.
    pub(crate) troubled: Vec<TroubledMonitor>,
    /// Number of all open incidents.
    pub(crate) open_incidents: u32,
    /// Maintenance that is active, then that which comes next.
    pub(crate) maintenances: Vec<PlannedMaintenance>,
}

/// A monitor that is not well.
#[derive(Debug)]
pub(crate) struct TroubledMonitor {
    pub(crate) id: MonitorId,
    pub(crate) name: String,
    pub(crate) kind: MonitorKind,
    pub(crate) health: Health,
    pub(crate) since: Timestamp,
    pub(crate) is_in_maintenance: bool,
    pub(crate) cause: FleetCause,
    /// Open incident, if it has one.
    pub(crate) incident: Option<Incident>,
}

impl Overviews {
    pub(crate) fn new() -> Self {
        let size = |_: &WorkspaceId, it: &Arc<Overview>| it.bytes();
        Self(Cache::new(CachePolicy::new(FRESH_FOR, BYTES_MAX), size, CacheCounters::default()))
    }

    /// Returns the overview of a workspace with this fleet. `generation` was taken before the fleet was
    /// read; `None` while the workspace changes.
    pub(crate) async fn get(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        (fleet, generation): (&FleetSnapshot, Option<Generation>),
        now: Timestamp,
    ) -> Result<Arc<Overview>, ReadError<Arc<Overview>>> {
        let generation = || generation;
        let read = || read(store, workspace, fleet, now);
        let overview = self.0.get_or_read(workspace, generation, now, read).await?;
        Ok(overview.expect("a read always returns an overview"))
    }
}

impl std::fmt::Debug for Overviews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Overviews")
    }
}

impl Overview {
    fn bytes(&self) -> usize {
        const ROW_BYTES: usize = 1_024;
        (self.troubled.len() + self.maintenances.len()) * ROW_BYTES
    }

    /// Returns the number of open incidents that no shown monitor has.
    pub(crate) fn other_incidents(&self) -> usize {
        let shown = self.troubled.iter().filter(|it| it.incident.is_some()).count();
        (self.open_incidents as usize).saturating_sub(shown)
    }
}

async fn read(
    store: &Store,
    workspace: WorkspaceId,
    fleet: &FleetSnapshot,
    now: Timestamp,
) -> Result<Option<Arc<Overview>>, StoreError> {
    let rows = troubled(fleet);
    let numbers: Vec<MonitorNumber> =
        rows.iter().map(|row| row.monitor.definition.number).collect();
    let causes = store.fleets().causes(workspace, &numbers).await?;
    let open = IncidentFilter { is_open: Some(true), ..IncidentFilter::default() };
    let first = Page { limit: INCIDENTS_MAX, offset: 0, after: None };
    let incidents = store.incidents().list(workspace, open, first).await?;
    let mut by_monitor: HashMap<MonitorId, Incident> =
        incidents.rows.into_iter().map(|incident| (incident.monitor, incident)).collect();
    let monitor = |(row, cause): (&FleetRow<'_>, FleetCause)| {
        TroubledMonitor::new(row, cause, by_monitor.remove(&row.monitor.definition.id))
    };
    let troubled = rows.iter().zip(causes).map(monitor).collect();
    let mut maintenances = Vec::new();
    for course in [MaintenanceStatus::Active, MaintenanceStatus::Scheduled] {
        let filter = MaintenanceFilter { course: Some(course), monitor: None };
        let first = Page { limit: SCHEDULED_MAX, offset: 0, after: None };
        let mut found = store.maintenances().list(workspace, filter, first, now).await?.rows;
        found.sort_by_key(|it| it.current.or(it.next).map(|window| window.from));
        maintenances.extend(found.into_iter().take(MAINTENANCES_SHOWN));
    }
    Ok(Some(Arc::new(Overview { troubled, open_incidents: incidents.total, maintenances })))
}

/// Returns the monitors to show, worst first, those in maintenance last.
fn troubled(fleet: &FleetSnapshot) -> Vec<FleetRow<'_>> {
    let mut rows: Vec<FleetRow<'_>> =
        fleet.rows().filter(|row| row.state.health < Health::Up).collect();
    rows.sort_by_key(FleetRow::urgency);
    rows.truncate(TROUBLED_MAX);
    rows
}

impl TroubledMonitor {
    fn new(row: &FleetRow<'_>, cause: FleetCause, incident: Option<Incident>) -> Self {
        let definition = &row.monitor.definition;
        Self {
            id: definition.id,
            name: definition.name.clone(),
            kind: definition.kind,
            health: row.state.health,
            since: row.state.since,
            is_in_maintenance: row.state.maintenance_until.is_some(),
            cause,
            incident,
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::IntoDraft as _;
    use contract::monitor::wire::TcpMonitor;
    use store::{
        Actor, AuditContext, Database, FREE_PLAN, MasterKeySource, NewMonitor, Settings, Workspace,
    };

    use super::*;
    use crate::fleet::snapshots::FleetSnapshots;

    const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
    const CHANGE: AuditContext = AuditContext::new(Actor::CommandLine, NOW);

    async fn open(folder: &std::path::Path) -> Store {
        let (folder, database) = (folder.to_owned(), Database::Embedded);
        let settings = Settings { folder, database, master_key: MasterKeySource::File };
        let store = Store::open(settings).await.unwrap();
        let workspace = Workspace {
            id: WORKSPACE,
            slug: "acme".to_owned(),
            name: "Acme".to_owned(),
            plan: FREE_PLAN.to_owned(),
            created_at: NOW,
            deletes_at: None,
        };
        store.workspaces().create(workspace, CHANGE).await.unwrap();
        store
    }

    /// Creates a monitor, which has no results yet.
    async fn create_monitor(store: &Store) {
        let draft = TcpMonitor {
            name: Some("Mail".to_owned()),
            uri: Some("example.com:25".to_owned()),
            periodicity: Some("1m".to_owned()),
            active: Some(true),
            ..TcpMonitor::default()
        };
        let settings = draft.into_draft().parse().unwrap();
        let id = MonitorId::from_bits(1);
        let new = NewMonitor { id, workspace: WORKSPACE, settings, idempotency: None };
        store.monitors().create(new, CHANGE).await.unwrap();
    }

    #[tokio::test]
    async fn overview_of_an_older_fleet_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).await;
        let (fleets, overviews) = (FleetSnapshots::new(), Overviews::new());
        let older = store.generation(WORKSPACE);
        let fleet = fleets.get(&store, WORKSPACE, NOW).await.unwrap();
        create_monitor(&store).await;
        let overview = overviews.get(&store, WORKSPACE, (&fleet, older), NOW).await.unwrap();
        assert_eq!(overview.troubled.len(), 0);
        let current = store.generation(WORKSPACE);
        let fleet = fleets.get(&store, WORKSPACE, NOW).await.unwrap();
        let overview = overviews.get(&store, WORKSPACE, (&fleet, current), NOW).await.unwrap();
        assert_eq!(overview.troubled.len(), 1);
    }
}
