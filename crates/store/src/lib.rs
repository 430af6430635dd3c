//! Stores Aloft's data: SQL and migrations, with one file per aggregate, behind the [`Store`]
//! struct. [`Store::open`] creates and migrates the database of a data folder. The pipeline writes
//! with [`Store::commit`]. One writer commits all changes in groups, and readers never wait for it.
//! Decisions belong to `domain`. Times and identifiers are passed in as values.
//!
//! In reading order:
//! - Opening: `store` is the handle, `opening` opens it, `data_dir` locks the folder, `marker`
//!   notices a lost database, `migrate` migrates it, and `engine` and `db` run statements on both
//!   engines.
//! - Writing: `writer` commits groups, `connection` notices a lost database, `commit` writes the
//!   pipeline's batches, `generations` invalidates caches, `subject_watches` tells
//!   open views, `outbox_cache` keeps the
//!   writer's state of deliveries, and `idempotency` repeats creates.
//! - Rows: `row`, `list`, `row_ids`, `codes`, `buckets` of results, `stored_result`, `result_rows`
//!   with `recent_index` of the newest ones, `latest_successes`, `recipient` of a delivery,
//!   `bulk_insert`, `pattern` of searches, `vault` for secrets, `quarantine` for unreadable rows, and `error`.
//! - What people manage: `workspaces`, `users` with their `sessions`, `second_factors`, `passkeys`,
//!   `reset_links` and `identities`, `members`, `roles` and `invitations`, `operators`, `plans`, `usage`, `keys`,
//!   `signing_secrets`, `monitors` with their `heartbeats`, `channels`, `pages`, `components`, `groups`, `reports`,
//!   `maintenances`, `subscribers`, `certificates`, `probes`, `configurations`, `audit`.
//! - What checks produce: `results`, `older_slots` of a start, `evidence`, `missed_slots`, `judge_states`, `probe_suspicions`, `incidents`,
//!   `history`, `logs`, `uptime_reports` of months with their `summaries`, and `outbox` for messages.
//! - What lists of all monitors show: `fleet`.
//! - What visitors see: `public_pages`, and `access_versions` of pages that not everybody may see.
//! - Operation: `retention`, `backup`, `restore`, `transfer`, `doctor`.

mod access_versions;
mod audit;
mod backup;
mod buckets;
mod bulk_insert;
mod certificates;
mod channels;
mod codes;
mod commit;
mod components;
mod configurations;
mod connection;
mod data_dir;
mod db;
mod doctor;
mod engine;
mod error;
mod evidence;
mod fleet;
mod generations;
mod groups;
mod heartbeats;
mod history;
mod idempotency;
mod identities;
mod incidents;
mod invitations;
mod judge_states;
mod keys;
mod latest_successes;
mod list;
mod logs;
mod maintenances;
mod marker;
mod members;
mod migrate;
mod missed_slots;
mod monitors;
mod older_slots;
mod opening;
mod operators;
mod outbox;
mod outbox_cache;
mod pages;
mod passkeys;
mod pattern;
mod plans;
mod probe_suspicions;
mod probes;
mod public_pages;
mod quarantine;
mod recent_index;
mod recipient;
mod reports;
mod reset_links;
mod restore;
mod result_rows;
mod results;
mod retention;
mod roles;
mod row;
mod row_ids;
mod second_factors;
mod sessions;
mod signing_secrets;
mod store;
mod stored_result;
mod subject_watches;
mod subscribers;
mod summaries;
mod transfer;
mod uptime_reports;
mod usage;
mod users;
mod vault;
mod workspaces;
mod writer;

pub use access_versions::AccessVersion;
pub use audit::{
    Actor, Audit, AuditContext, AuditEntry, AuditFilter, ExportFormat, ExportedPage, FieldChange,
    FieldChanges, ProbeEvent, ProbeTransition, ResourceVersions, UpdateContext,
};
pub use certificates::{Certificates, DomainCertificate, IssuedCertificate};
pub use channels::{Channels, NewChannel};
pub use commit::{Batch, Committed};
pub use components::{ComponentName, Components, NewComponent};
pub use configurations::{Configuration, Configurations, NumberedEntry};
pub use doctor::{DamagedRow, Doctor};
pub use engine::{ClockOffset, Database, DatabaseOwner, Standby};
pub use error::StoreError;
pub use evidence::{EvidenceEntry, EvidenceStore};
pub use fleet::{
    ActiveMonitor, ChangedDefinitions, DefinitionsVersion, FleetCause, FleetFigures, FleetStatus,
    Fleets, MonitorDefinition, MonitorNumber, MonitorVerdict,
};
pub use generations::Generation;
pub use groups::{Groups, NewGroup};
pub use heartbeats::{HeartbeatTarget, Heartbeats, RecordedCall, StoredHeartbeat};
pub use history::{Bucket, CompactionStats, HistoryStore, PrunedHistory};
pub use idempotency::{Created, Idempotency};
pub use identities::{Identities, MappedRole, ProviderAccount, SignedInAccount};
pub use incidents::{
    Acknowledged, Closed, FailedRegion, Incident, IncidentDetail, IncidentFilter, Incidents,
    NewComment, Notified, Person, TimelineEntry, TimelineEvent, WriteUp,
};
pub use invitations::{Invitation, InvitationHash, Invitations, NewInvitation};
pub use judge_states::{JudgeStates, StatusChange};
pub use keys::{ApiKey, KeyDetails, KeyHash, KeyUsage, Keys, Revoked};
pub use list::{Listed, Page};
pub use logs::{LogCursor, LogFilter, LogPage, Logs};
pub use maintenances::{
    MaintenanceFilter, MaintenanceWindow, Maintenances, NewMaintenance, PlannedMaintenance,
};
pub use members::{Member, Members};
pub use missed_slots::{Missed, MissedCursor, MissedFilter, MissedPage};
pub use monitors::{
    BootMonitor, BootMonitors, MonitorName, MonitorWithStatus, Monitors, NewMonitor,
};
pub use operators::OperatorContext;
pub use outbox::{
    AlertToChannel, AttemptResult, CancelOutcome, Delivery, DeliveryAttempt, DeliveryFilter,
    DeliveryState, DueDeliveries, DueDelivery, EventToSubscriber, FanOutProgress, LastDelivery,
    NextStep, Outbox, OutboxCounts, SubscriberDelivery, SubscriberDeliveryFilter, TestDelivery,
};
pub use pages::{NewPage, PageDomain, PageName, Pages};
pub use passkeys::{AddedPasskey, NewPasskey, Passkey, Passkeys};
pub use probe_suspicions::SuspicionStore;
pub use probes::{NewProbe, NewProbeToken, ProbeOwner, ProbeSeen, Probes, StoredProbe};
pub use public_pages::{PublicPageRef, PublicPages};
pub use quarantine::{Quarantine, UnreadableRow};
pub use recipient::{OrderingKey, Recipient};
pub use reports::{NewReport, NewTemplate, NewUpdate, ReportFilter, ReportTemplates, Reports};
pub use reset_links::{ResetChoice, ResetLink, ResetLinkState, ResetLinks};
pub use restore::{Restored, restore};
pub use results::{BootResult, Results};
pub use retention::{Pruned, PrunedRecords, Retention, RetentionPolicy};
pub use roles::MemberRole;
pub use second_factors::{NewSecondFactor, RecoveryCode, SecondFactor, SecondFactors};
pub use sessions::{SessionHash, Sessions, UserSession};
pub use signing_secrets::{Rotated, SigningSecret, SigningSecrets};
pub use store::{Settings, Store};
pub use subject_watches::{Subject, SubjectWatch};
pub use subscribers::{
    InitialState, NewSubscriber, SignupOutcome, SignupSource, SubscriberFilter, SubscriberWithPage,
    Subscribers, SubscriptionChoice,
};
pub use summaries::{DueSummary, Summaries};
pub use transfer::{Transferred, transfer};
pub use uptime_reports::{
    FreezableMonth, UptimeFigures, UptimeReports, UptimeSubject, sums_by_tag,
};
pub use usage::Usage;
pub use users::{AddressProof, Membership, NewUser, User, Users};
pub use vault::MasterKeySource;
pub use workspaces::{Edit as WorkspaceEdit, FREE_PLAN, Workspace, Workspaces};
