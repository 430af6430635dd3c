//! The vocabulary of Aloft: resources, the limits of their fields, and the enums shared by RPC,
//! database, forms, Terraform and pages. Small, stable, and without IO. All other crates read it,
//! and it is the only place for limits of the specification.

mod id;
mod secret;
mod time;
#[macro_use]
mod words;
pub mod field;
mod form;
pub mod incident;
pub mod limits;
pub mod maintenance;
mod mask;
pub mod monitor;
mod nearest;
pub mod notification;
mod place;
pub mod plan;
mod reader;
mod reason;
pub mod report;
pub mod status_page;
pub mod tables;
mod violation;

pub use form::{
    CONNECTION_HEADERS, DomainName, Host, HostPort, Interval, Refusal, TimeOfDay, TimeZone,
};
pub use id::{
    ById, ChannelId, ComponentId, DeliveryId, GroupId, IncidentId, KeyId, MaintenanceId, MonitorId,
    PageId, ReportId, SigningSecretId, SubscriberId, TemplateId, UnreadableId, UpdateId,
    WorkspaceId,
};
pub use nearest::nearest;
pub use place::Place;
pub use reader::Reader;
pub use reason::Reason;
pub use secret::Secret;
pub use time::Timestamp;
pub use violation::{Violation, Violations};
pub use words::{
    AccessType, ComponentType, Method, MonitorKind, MonitorStatus, NumberComparator,
    OpsgenieRegion, Periodicity, ProviderType, RecordComparator, RecordKind, Region, RegionGroup,
    Scope, TextComparator, Theme, UnknownWord,
};
