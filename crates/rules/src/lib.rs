//! The vocabulary of Aloft: resources, the limits of their fields, and the enums shared by RPC,
//! database, Terraform, command line and pages. Small, stable, and without IO. All other crates read it,
//! and it is the only place for limits of the specification.
//!
//! In reading order:
//! - Basic values: `id`, `secret`, `time`, `location`.
//! - Fields: `enums` has the enumerations, `format` the formats of texts, `field` the schema of a
//!   table, `argument` reads a field by its type, `tables` has the table of each resource, `limits`
//!   the limits of the service, `plan` the limits of a workspace, and `tag` the tags of monitors.
//! - Input: `validate` reads a draft by its table and collects each `violation`, `nearest` suggests
//!   the name that a user meant, and `mask` applies partial updates.
//! - Resources, as drafts and as valid settings: `monitor`, `notification`, `status_page`, `report`,
//!   `maintenance`, `incident`. `configuration` records which of them a file of `aloft apply` owns.
//! - Words: `counted` writes counts.
//! - `reason` lists the reasons for the failure of a call, and `people` the methods that only people may
//!   call.

mod id;
mod secret;
mod time;
#[macro_use]
mod enums;
pub mod argument;
pub mod configuration;
mod counted;
pub mod field;
mod format;
pub mod incident;
pub mod limits;
mod location;
pub mod maintenance;
mod mask;
pub mod monitor;
mod nearest;
pub mod notification;
mod people;
pub mod plan;
mod reason;
pub mod report;
pub mod status_page;
pub mod tables;
mod tag;
mod validate;
mod violation;

pub use counted::counted;
pub use enums::{
    AccessType, ComponentType, IpVersion, Method, MonitorKind, MonitorStatus, NumberComparator,
    OpsgenieRegion, Periodicity, ProviderType, RecordComparator, RecordKind, Region, RegionGroup,
    Role, Scope, TextComparator, Theme, UnknownVariant,
};
pub use format::{
    CONNECTION_HEADERS, CompiledPattern, DomainName, FormatError, Host, HostPort, Interval,
    JsonPath, PATTERN_WORK_MAX, Pattern, TimeOfDay, TimeZone, is_local_url,
};
pub use id::{
    ById, ChannelId, ComponentId, DeliveryId, GroupId, IncidentId, InvalidId, InvitationId, KeyId,
    MaintenanceId, MonitorId, PageId, PasskeyId, ProbeId, ReportId, SessionId, SigningSecretId,
    SubscriberId, TemplateId, UpdateId, UserId, WorkspaceId,
};
pub use location::Location;
pub use nearest::nearest;
pub use people::person_role;
pub use reason::Reason;
pub use secret::Secret;
pub use tag::Tag;
pub use time::Timestamp;
pub use validate::Validator;
pub use violation::{Violation, Violations};
