//! The field tables of §2 and §8: one file per group of resources, one constant per resource.
//! `validate` checks inputs by them; `limits` has the limits of the service.

mod component;
mod configuration;
mod data_source;
mod dns_monitor;
mod heartbeat_monitor;
mod http_monitor;
mod incident;
mod maintenance;
mod monitor;
mod notification;
mod preferences;
mod probe;
mod provider;
mod report;
mod revision;
mod status_page;
mod subscriber;
mod tcp_monitor;
mod workspace;

pub use component::{STATUS_PAGE_COMPONENT, STATUS_PAGE_COMPONENT_GROUP};
pub use configuration::{CONFIGURATION, CONFIGURED_RESOURCE, RESOURCE_ID_CHARS_MAX};
pub use data_source::{MONITOR_DATA, MONITORS_DATA, NOTIFICATION_DATA, STATUS_PAGE_DATA};
pub use dns_monitor::DNS_MONITOR;
pub use heartbeat_monitor::HEARTBEAT_MONITOR;
pub use http_monitor::{CERTIFICATE_WARN_DAYS_MAX, HTTP_MONITOR};
pub use incident::INCIDENT_COMMENT;
pub use maintenance::MAINTENANCE;
pub use monitor::{RETRY_MAX, TAG_CHARS_MAX, TIMEOUT_MS_DEFAULT, TIMEOUT_MS_MAX, UNPROBED};
pub use notification::NOTIFICATION;
pub use preferences::NOTIFICATION_PREFERENCES;
pub use probe::{PROBE, PROBE_NAME_CHARS_MAX};
pub use provider::PROVIDER;
pub use report::{REPORT_TEMPLATE, REPORT_UPDATE, STATUS_REPORT};
pub use status_page::STATUS_PAGE;
pub use subscriber::SUBSCRIBER;
pub use tcp_monitor::TCP_MONITOR;
pub use workspace::{INVITATION, KEY, SIGNING_SECRET, USER, WORKSPACE};

use crate::MonitorKind;
use crate::field::Resource;

/// The resources: the seven of §2, in its order, and heartbeat monitors, which are ours.
pub static RESOURCES: [&Resource; 8] = [
    &HTTP_MONITOR,
    &TCP_MONITOR,
    &DNS_MONITOR,
    &HEARTBEAT_MONITOR,
    &NOTIFICATION,
    &STATUS_PAGE,
    &STATUS_PAGE_COMPONENT,
    &STATUS_PAGE_COMPONENT_GROUP,
];

/// The four data sources, in the order of §2.8.
pub static DATA_SOURCES: [&Resource; 4] =
    [&MONITOR_DATA, &MONITORS_DATA, &NOTIFICATION_DATA, &STATUS_PAGE_DATA];

/// Declares the table of each kind of monitors.
macro_rules! monitor_table {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $table:ident $arguments:ident
        $(#[$doc:meta])+ $settings:ident $draft:ident $message:ident { $($fields:tt)* })+) => {
        /// Returns the table of monitors of this kind.
        pub fn monitor(kind: MonitorKind) -> &'static Resource {
            match kind { $(MonitorKind::$variant => &$table,)+ }
        }
    };
}

crate::check_kinds!(monitor_table);
