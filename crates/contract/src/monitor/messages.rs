//! Converts the message of each kind of monitors. Outputs in a request are dropped; in a response,
//! arguments with a default are always set, and other unset arguments are absent. All conversions are
//! expansions of the lists [`rules::check_kinds`] and [`rules::monitor_arguments`].

use rules::argument::{FieldValue, Settings};
use rules::monitor::{
    Check, CheckDraft, DnsCheck, DnsDraft, HeaderAssertionDraft, HeartbeatCheck, HeartbeatDraft,
    HttpCheck, HttpDraft, JsonAssertionDraft, Monitor, MonitorDraft, RecordAssertionDraft,
    StatusCodeAssertionDraft, TcpCheck, TcpDraft, TextAssertionDraft,
};
use rules::{MonitorStatus, Region, Secret, Timestamp, tables};

use super::encode::{encode_instant, revision};
use super::wire;
use crate::IntoDraft;
use crate::fields::{FieldEncoder, SecretVisibility, WireField, wire_blocks};

/// Stored monitor with everything that its response contains.
#[derive(Clone, Copy, Debug)]
pub struct StoredMonitor<'a> {
    pub monitor: &'a Monitor,
    /// Current status.
    pub status: MonitorStatus,
    /// Regions of monitors that specify none.
    pub default_regions: &'a [Region],
    /// Details of a heartbeat monitor; `None` for other kinds.
    pub heartbeat: Option<&'a HeartbeatDetails>,
    /// Visibility of secrets.
    pub secrets: SecretVisibility,
}

/// Outputs of a heartbeat monitor.
#[derive(Clone, Debug)]
pub struct HeartbeatDetails {
    /// URL that the job calls.
    pub url: Secret<String>,
    /// Time of the last call.
    pub last_at: Option<Timestamp>,
}

impl StoredMonitor<'_> {
    /// Encodes the monitor in the field of its kind, as `GetMonitor` returns it.
    pub fn any(&self) -> wire::Monitor {
        wire::Monitor { kind: Some(self.kind()) }
    }

    /// Encodes the monitor as a message of its kind. `ListMonitors` has one list per kind.
    pub fn kind(&self) -> wire::Kind {
        encode(self)
    }

    /// Encodes only the arguments, which decide what a check does.
    pub fn arguments(&self) -> wire::Monitor {
        wire::Monitor { kind: Some(encode_arguments(self)) }
    }

    /// Encodes the monitor if it is of this kind.
    pub fn message<Message: MonitorMessage>(&self) -> Option<Message> {
        Message::from_kind(self.kind())
    }
}

/// Message of a monitor of one kind.
pub trait MonitorMessage: IntoDraft<Draft = MonitorDraft> + Default {
    /// Returns the ID in the request.
    fn id(&self) -> Option<&str>;

    /// Returns the message if it is of this kind.
    fn from_kind(kind: wire::Kind) -> Option<Self>;
}

/// Settings of a kind that are encoded in its message.
trait EncodeCheck {
    type Message;

    /// Encodes the monitor. `encoder` hides secrets.
    fn encode(&self, stored: &StoredMonitor<'_>, encoder: FieldEncoder) -> Self::Message;

    /// Encodes the monitor without outputs.
    fn encode_arguments(&self, stored: &StoredMonitor<'_>, encoder: FieldEncoder) -> Self::Message;
}

/// Outputs that only some kinds have.
trait KindOutputs {
    fn add_outputs(&mut self, stored: &StoredMonitor<'_>);
}

/// Declares the outputs of kinds that probes check.
macro_rules! probed_outputs {
    ($($message:ident),+) => {$(
        impl KindOutputs for wire::$message {
            fn add_outputs(&mut self, stored: &StoredMonitor<'_>) {
                let settings = &stored.monitor.settings;
                let regions = settings.resolved_regions(stored.default_regions);
                self.effective_degraded_at = Some(settings.effective_degraded_at_ms() as i32);
                self.resolved_regions = regions.iter().map(ToString::to_string).collect();
            }
        }
    )+};
}

probed_outputs!(HttpMonitor, TcpMonitor, DnsMonitor);

impl KindOutputs for wire::HeartbeatMonitor {
    fn add_outputs(&mut self, stored: &StoredMonitor<'_>) {
        let Some(heartbeat) = stored.heartbeat else { return };
        self.url =
            (stored.secrets == SecretVisibility::Visible).then(|| heartbeat.url.expose().clone());
        self.last_heartbeat_at = heartbeat.last_at.map(encode_instant).unwrap_or_default();
    }
}

wire_blocks! {
    wire::StatusCodeAssertion, StatusCodeAssertionDraft { target, comparator }
    wire::BodyAssertion, TextAssertionDraft { target, comparator }
    wire::JsonAssertion, JsonAssertionDraft { path, target, comparator }
    wire::HeaderAssertion, HeaderAssertionDraft { key, target, comparator }
    wire::RecordAssertion, RecordAssertionDraft { record, target, comparator }
}

/// Declares the conversions of one kind, with its own arguments and those of every monitor.
macro_rules! message {
    ([$variant:ident $settings:ident $draft:ident $message:ident $($field:ident)+]
        $($(#[$doc:meta])* $name:ident $setting:ident: $type:ty,)+) => {
        impl IntoDraft for wire::$message {
            type Draft = MonitorDraft;

            fn into_draft(self) -> MonitorDraft {
                let check = CheckDraft::$variant($draft {
                    $($field: WireField::decode(self.$field),)+
                });
                let mut draft = MonitorDraft::new(check);
                $(draft.$name = WireField::decode(self.$name);)+
                draft
            }
        }

        impl MonitorMessage for wire::$message {
            fn id(&self) -> Option<&str> {
                self.id.as_deref()
            }

            fn from_kind(kind: wire::Kind) -> Option<Self> {
                match kind {
                    wire::Kind::$variant(message) => Some(*message),
                    _ => None,
                }
            }
        }

        impl EncodeCheck for $settings {
            type Message = wire::$message;

            fn encode(&self, stored: &StoredMonitor<'_>, encoder: FieldEncoder) -> wire::$message {
                let monitor = stored.monitor;
                let mut message = wire::$message {
                    id: Some(monitor.id.to_string()),
                    status: Some(stored.status.to_string()),
                    created_at: encode_instant(monitor.created_at),
                    updated_at: encode_instant(monitor.updated_at),
                    revision: Some(revision(monitor.updated_at)),
                    ..self.encode_arguments(stored, encoder)
                };
                message.add_outputs(stored);
                message
            }

            fn encode_arguments(
                &self,
                stored: &StoredMonitor<'_>,
                encoder: FieldEncoder,
            ) -> wire::$message {
                let settings = &stored.monitor.settings;
                let check = self.draft();
                wire::$message {
                    $($name: WireField::encode(
                        settings.$setting.draft(), encoder, stringify!($name),
                    ),)+
                    $($field: WireField::encode(check.$field, encoder, stringify!($field)),)+
                    ..wire::$message::default()
                }
            }
        }
    };
}

/// Declares the conversions of all kinds.
macro_rules! messages {
    ($($(#[doc = $meaning:literal])+ $variant:ident $kind:literal $table:ident $arguments:ident
        $(#[$doc:meta])+ $settings:ident $draft:ident $message:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)+
        })+) => {
        $(rules::$arguments! { message $variant $settings $draft $message $($field)+ })+

        /// Encodes a monitor as a message of its kind.
        fn encode(stored: &StoredMonitor<'_>) -> wire::Kind {
            match &stored.monitor.settings.check {
                $(Check::$variant(check) => {
                    wire::Kind::$variant(Box::new(check.encode(stored, encoder(stored))))
                })+
            }
        }

        /// Encodes the arguments of a monitor as a message of its kind.
        fn encode_arguments(stored: &StoredMonitor<'_>) -> wire::Kind {
            match &stored.monitor.settings.check {
                $(Check::$variant(check) => {
                    wire::Kind::$variant(Box::new(check.encode_arguments(stored, encoder(stored))))
                })+
            }
        }
    };
}

rules::check_kinds!(messages);

fn encoder(stored: &StoredMonitor<'_>) -> FieldEncoder {
    let kind = stored.monitor.settings.check.kind();
    FieldEncoder::for_resource(tables::monitor(kind), stored.secrets)
}
