//! Events of a status page for its subscribers: their keys and topics. `email` formats them
//! as emails, `webhook` as webhooks. The outbox selects the recipients and sends.

mod email;
mod i18n;
#[cfg(test)]
mod tests;
mod webhook;

use rules::report::ReportStatus;
use rules::status_page::{Destination, Subscriber, Topic};
use rules::{
    ComponentId, IncidentId, MaintenanceId, PageId, ProviderType, ReportId, Secret, SubscriberId,
    Timestamp, UpdateId,
};
use serde::{Deserialize, Serialize};

use super::message::Message;
use super::vendors::{Unconfigured, VendorConfig, setting};

/// An event of a status page. The outbox stores it as sealed JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEvent {
    pub page: PageNamed,
    pub at: Timestamp,
    pub about: PageEventKind,
    /// Affected components with their names at that time; empty means the whole page.
    pub components: Vec<ComponentNamed>,
}

/// A page with its title at the time of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNamed {
    pub id: PageId,
    pub title: String,
}

/// A component with its name at the time of the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentNamed {
    pub id: ComponentId,
    /// Its name, or that of its monitor.
    pub name: String,
}

/// Kind of a page event, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageEventKind {
    /// An update of a status report.
    Report(ReportEvent),
    /// Planned maintenance was scheduled, started or completed.
    Maintenance(MaintenanceEvent),
    /// The monitor of a component went down or recovered.
    Incident(IncidentEvent),
    /// A confirmation was requested from a new subscriber.
    #[serde(rename = "asked")]
    ConfirmationRequested(SubscriberId),
    /// The same, but the address is already subscribed.
    #[serde(rename = "known")]
    AlreadySubscribed(SubscriberId),
}

/// An update of a status report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportEvent {
    pub report: ReportId,
    pub update: UpdateId,
    /// Title of the report.
    pub title: String,
    /// Status of the report after the update.
    pub status: ReportStatus,
    /// Whether it is the report's first update.
    pub is_first: bool,
    /// Text of the update, in Markdown.
    pub text: String,
    /// All components that the report has ever affected: subscribers to one of them receive all
    /// updates.
    pub concerns: Vec<ComponentId>,
}

/// A phase of a planned maintenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceEvent {
    pub maintenance: MaintenanceId,
    pub title: String,
    pub description: Option<String>,
    /// Start of its window.
    pub from: Timestamp,
    /// End of its window.
    pub until: Timestamp,
    pub stage: MaintenancePhase,
}

/// Phase of a maintenance window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintenancePhase {
    #[serde(rename = "announced")]
    Scheduled,
    #[serde(rename = "begun")]
    Started,
    #[serde(rename = "over")]
    Completed,
}

/// An incident as shown to visitors of a page: without the target of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentEvent {
    pub incident: IncidentId,
    pub began_at: Timestamp,
    /// Whether it has ended.
    pub is_over: bool,
}

/// Data of one message to a subscriber that is independent of its content.
#[derive(Clone, Debug)]
pub struct SubscriberEnvelope<'c> {
    /// Key of the message: the same in every attempt.
    pub key: &'c str,
    /// Time of sending; signatures are valid for minutes around it.
    pub now: Timestamp,
    /// Secrets of the workspace for signing webhooks, newest first.
    pub signing: &'c [Secret<Vec<u8>>],
    /// `None` on a server without a public address.
    pub links: Option<Links>,
}

/// URLs for a subscriber. All except `page` are personal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The status page.
    pub page: String,
    /// Confirms the address.
    pub confirm: String,
    /// Changes the subscription.
    pub manage: String,
    /// Unsubscribes, also automatically (RFC 8058).
    pub unsubscribe: String,
}

/// Composes the message about `page_events` to a subscriber: one event or a digest, oldest first
/// and never empty.
pub fn compose_page_event(
    subscriber: &Subscriber,
    page_events: &[PageEvent],
    vendors: &VendorConfig,
    cover: &SubscriberEnvelope<'_>,
) -> Result<Message, Unconfigured> {
    let missing = |setting| Unconfigured { kind: ProviderType::Email, setting };
    match &subscriber.settings.destination {
        Destination::Webhook(url) => {
            Ok(Message::Http(webhook::compose(subscriber, url, page_events, cover)))
        }
        Destination::Email(_) if !vendors.has_mail => Err(missing(setting::SMTP)),
        Destination::Email(address) => {
            let links = cover.links.as_ref().ok_or_else(|| missing(setting::PUBLIC_URL))?;
            let language = subscriber.settings.language;
            Ok(Message::Mail(email::compose(address, language, page_events, (cover, links))))
        }
    }
}

impl PageEvent {
    /// Returns the topic of the event, or `None` if it concerns one subscriber only.
    pub const fn topic(&self) -> Option<Topic> {
        match &self.about {
            PageEventKind::Report(_) => Some(Topic::Reports),
            PageEventKind::Maintenance(_) => Some(Topic::Maintenance),
            PageEventKind::Incident(_) => Some(Topic::Incidents),
            PageEventKind::ConfirmationRequested(_) | PageEventKind::AlreadySubscribed(_) => None,
        }
    }

    /// Returns the affected components, for matching subscriptions; empty means all.
    pub fn affected_components(&self) -> Vec<ComponentId> {
        match &self.about {
            PageEventKind::Report(report) => report.concerns.clone(),
            PageEventKind::Maintenance(_)
            | PageEventKind::Incident(_)
            | PageEventKind::ConfirmationRequested(_)
            | PageEventKind::AlreadySubscribed(_) => {
                self.components.iter().map(|component| component.id).collect()
            }
        }
    }

    /// Returns whether only recipients of the opening are notified.
    pub const fn is_end(&self) -> bool {
        match &self.about {
            PageEventKind::Incident(incident) => incident.is_over,
            // An update and the end of a maintenance are useful without earlier messages.
            PageEventKind::Report(_)
            | PageEventKind::Maintenance(_)
            | PageEventKind::ConfirmationRequested(_)
            | PageEventKind::AlreadySubscribed(_) => false,
        }
    }

    /// Returns the key of the event among all page events: letters, digits, `_` and `-`.
    pub fn name(&self) -> String {
        let page = self.page.id;
        match &self.about {
            PageEventKind::Report(report) => format!("{page}-{}-{}", report.report, report.update),
            PageEventKind::Maintenance(it) => {
                let (stage, from) = (it.stage.as_str(), it.from.as_millis());
                // Only an announcement is sent again if the end moves.
                let until = match it.stage {
                    MaintenancePhase::Scheduled => format!("-{}", it.until.as_millis()),
                    MaintenancePhase::Started | MaintenancePhase::Completed => String::new(),
                };
                format!("{page}-{}-{from}{until}-{stage}", it.maintenance)
            }
            PageEventKind::Incident(it) => format!("{page}-{}-{}", it.incident, it.kind_name()),
            PageEventKind::ConfirmationRequested(subscriber) => {
                format!("{page}-{subscriber}-{}-asked", self.at.as_millis())
            }
            PageEventKind::AlreadySubscribed(subscriber) => {
                format!("{page}-{subscriber}-{}-known", self.at.as_millis())
            }
        }
    }

    /// Returns the key of the thread that keeps its order: the report, the window or the incident.
    pub fn thread(&self) -> String {
        match &self.about {
            PageEventKind::Report(report) => report.report.to_string(),
            PageEventKind::Maintenance(it) => format!("{}-{}", it.maintenance, it.from.as_millis()),
            PageEventKind::Incident(it) => it.incident.to_string(),
            PageEventKind::ConfirmationRequested(subscriber)
            | PageEventKind::AlreadySubscribed(subscriber) => subscriber.to_string(),
        }
    }

    /// Returns the name used in storage and webhooks.
    pub const fn word(&self) -> &'static str {
        match &self.about {
            PageEventKind::Report(ReportEvent { status: ReportStatus::Resolved, .. }) => {
                "page.report.resolved"
            }
            PageEventKind::Report(ReportEvent { is_first: true, .. }) => "page.report.opened",
            PageEventKind::Report(_) => "page.report.updated",
            PageEventKind::Maintenance(it) => match it.stage {
                MaintenancePhase::Scheduled => "page.maintenance.scheduled",
                MaintenancePhase::Started => "page.maintenance.started",
                MaintenancePhase::Completed => "page.maintenance.completed",
            },
            PageEventKind::Incident(it) if it.is_over => "page.incident.closed",
            PageEventKind::Incident(_) => "page.incident.opened",
            PageEventKind::ConfirmationRequested(_) => "subscriber.confirmation_requested",
            PageEventKind::AlreadySubscribed(_) => "subscriber.already_subscribed",
        }
    }

    /// Returns the start of the reported occurrence.
    pub const fn began_at(&self) -> Timestamp {
        match &self.about {
            PageEventKind::Maintenance(it) => it.from,
            PageEventKind::Incident(it) => it.began_at,
            PageEventKind::Report(_)
            | PageEventKind::ConfirmationRequested(_)
            | PageEventKind::AlreadySubscribed(_) => self.at,
        }
    }
}

impl MaintenancePhase {
    /// Returns the name used in storage and the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "announced",
            Self::Started => "begun",
            Self::Completed => "over",
        }
    }
}

impl IncidentEvent {
    const fn kind_name(&self) -> &'static str {
        if self.is_over { "closed" } else { "opened" }
    }
}

/// Returns the key of `page_event` for one subscriber: the same in every attempt.
pub fn page_event_key(subscriber: SubscriberId, page_event: &PageEvent) -> String {
    format!("{}-{subscriber}", page_event.name())
}
