//! Stores Aloft's data: SQL and migrations, with one file per aggregate, behind the [`Store`]
//! struct. [`Store::open`] creates and migrates the database of a data folder. The pipeline writes
//! with [`Store::commit`]. One writer commits all changes in groups, and readers never wait for it.
//! Decisions belong to `domain`. Times and identifiers are passed in as values.

mod accesses;
mod audit;
mod backup;
mod certificates;
mod channels;
mod codes;
mod commit;
mod components;
mod db;
mod doctor;
mod engine;
mod error;
mod evidence;
mod folder;
mod generations;
mod groups;
mod history;
mod idempotency;
mod incidents;
mod judge_states;
mod keys;
mod line;
mod logs;
mod maintenances;
mod many;
mod marker;
mod migrate;
mod missed;
mod monitors;
mod numbers;
mod opening;
mod outbox;
mod pages;
mod plans;
mod quarantine;
mod reports;
mod restore;
mod results;
mod retention;
mod row;
mod shown;
mod signing_secrets;
mod store;
mod subscribers;
mod transfer;
mod usage;
mod vault;
mod workspaces;
mod writer;

pub use accesses::Access;
pub use audit::{Actor, Audit, AuditEntry, AuditFilter, Change, ProbeNote, ProbeTurn};
pub use certificates::{Certificates, DomainCertificate, IssuedCertificate};
pub use channels::{Channels, NewChannel};
pub use commit::{Batch, Committed};
pub use components::{Components, NewComponent};
pub use doctor::{DamagedRow, Doctor};
pub use engine::Database;
pub use error::StoreError;
pub use evidence::{EvidenceEntry, EvidenceStore};
pub use generations::Generation;
pub use groups::{Groups, NewGroup};
pub use history::{Gathered, HistoryStore, PrunedHistory, Stretch};
pub use idempotency::{Created, Idempotency};
pub use incidents::{
    Acknowledged, Closed, Entry, Happened, Incident, IncidentFilter, Incidents, Joined, NewComment,
    Person, Told, WholeIncident,
};
pub use judge_states::{JudgeStates, StatusChange};
pub use keys::{ApiKey, KeyHash, Keys, Revoked};
pub use logs::{LogFilter, LogPage, LogPlace, Logs};
pub use maintenances::{MaintenanceFilter, Maintenances, NewMaintenance, PlannedMaintenance};
pub use missed::{Missed, MissedFilter, MissedPage, MissedPlace};
pub use monitors::{BootMonitor, BootMonitors, MonitorWithStatus, Monitors, NewMonitor, Page};
pub use outbox::{
    Addressee, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryState, Due, Follows, Left,
    Letter, LetterFilter, Outbox, OutboxCounts, Queue, Spread, TestNote, Then, Tried, Woken,
};
pub use pages::{DomainOfPage, NewPage, Pages};
pub use quarantine::{Quarantine, UnreadableRow};
pub use reports::{NewReport, NewTemplate, NewUpdate, ReportFilter, ReportTemplates, Reports};
pub use restore::{Restored, restore};
pub use results::{BootResult, Results};
pub use retention::{KeepFor, Pruned, PrunedRecords, Retention};
pub use row::Listed;
pub use shown::{OpenPage, Shown};
pub use signing_secrets::{Rotated, SigningSecret, SigningSecrets};
pub use store::{Settings, Store};
pub use subscribers::{
    Asked, Begins, NewSubscriber, Receiving, SubscriberFilter, Subscribers, Visit, Wanted,
};
pub use transfer::{Transferred, transfer};
pub use usage::Usage;
pub use vault::MasterKeySource;
pub use workspaces::{Edit as WorkspaceEdit, FREE_PLAN, Workspace, Workspaces};
