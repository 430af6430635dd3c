//! News of a status page: what those who subscribed to it are told, its identities, and who of them
//! hears it. What it says in which words stands in `mail`, what programs are told in `hook`; who tells
//! it, and when, belongs to the outbox.

mod hook;
mod mail;
#[cfg(test)]
mod tests;
mod words;

use rules::report::ReportStatus;
use rules::status_page::{Destination, Subscriber, Topic};
use rules::{
    ComponentId, IncidentId, MaintenanceId, PageId, ProviderType, ReportId, Secret, SubscriberId,
    Timestamp, UpdateId,
};
use serde::{Deserialize, Serialize};

use super::message::Message;
use super::servers::{Servers, Unconfigured, setting};

/// Something that is told of a page. Its JSON is what the outbox keeps, sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Of which page.
    pub page: PageNamed,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub about: About,
    /// The components it is about, as they were called then; none stand for the whole page.
    pub components: Vec<ComponentNamed>,
}

/// A page, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNamed {
    /// Its identifier.
    pub id: PageId,
    /// Its title.
    pub title: String,
}

/// A component, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentNamed {
    /// Its identifier.
    pub id: ComponentId,
    /// Its name, or its monitor's.
    pub name: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// People wrote something.
    Report(ReportNews),
    /// Planned maintenance was announced, began or is over.
    Maintenance(MaintenanceNews),
    /// A monitor that a component shows is down, or no longer.
    Incident(IncidentNews),
    /// Somebody asked for emails to this address: whoever has it is asked.
    Asked(SubscriberId),
    /// The same, where the address has them already.
    Known(SubscriberId),
}

/// An update of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNews {
    /// The report.
    pub report: ReportId,
    /// Which of its updates.
    pub update: UpdateId,
    /// What the report is called.
    pub title: String,
    /// How far people have come.
    pub status: ReportStatus,
    /// Whether it is the report's first.
    pub is_first: bool,
    /// What they say, as they wrote it: Markdown.
    pub text: String,
    /// All components that the report has ever spoken of: whoever heard of one hears the rest.
    pub concerns: Vec<ComponentId>,
}

/// Where a planned maintenance stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaintenanceNews {
    /// The maintenance.
    pub maintenance: MaintenanceId,
    /// What it is called.
    pub title: String,
    /// What is done.
    pub description: Option<String>,
    /// Beginning of its window.
    pub from: Timestamp,
    /// End of its window.
    pub until: Timestamp,
    /// How far it has come.
    pub stage: Stage,
}

/// How far a window of maintenance has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is to come.
    Announced,
    /// It is on.
    Begun,
    /// It is over.
    Over,
}

/// An incident of a monitor, as visitors of a page are told of it: without what it checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncidentNews {
    /// The incident.
    pub incident: IncidentId,
    /// When it began.
    pub began_at: Timestamp,
    /// Whether it is over.
    pub is_over: bool,
}

/// What belongs to one letter to a subscriber, whatever it tells.
#[derive(Clone, Debug)]
pub struct Cover<'c> {
    /// Identity of what is told: the same in every try of it.
    pub key: &'c str,
    /// When it is sent; signatures hold for minutes around it.
    pub now: Timestamp,
    /// Secrets of the workspace that webhooks are signed with, newest first.
    pub signing: &'c [Secret<Vec<u8>>],
    /// Where the page is; `None` on a server without a public address.
    pub links: Option<Links>,
}

/// Where a subscriber can go. All but the page are for this subscriber alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The page.
    pub page: String,
    /// Where the address is confirmed.
    pub confirm: String,
    /// Where the subscription is changed.
    pub manage: String,
    /// Where it is ended, also by programs (RFC 8058).
    pub unsubscribe: String,
}

/// A message to a subscriber that tells `news`, oldest first and never empty: one, or those of a storm.
pub fn compose_news(
    subscriber: &Subscriber,
    news: &[News],
    servers: &Servers,
    cover: &Cover<'_>,
) -> Result<Message, Unconfigured> {
    let missing = |setting| Unconfigured { kind: ProviderType::Email, setting };
    match &subscriber.settings.destination {
        Destination::Webhook(url) => Ok(Message::Http(hook::compose(subscriber, url, news, cover))),
        Destination::Email(_) if !servers.has_mail => Err(missing(setting::SMTP)),
        Destination::Email(address) => {
            let links = cover.links.as_ref().ok_or_else(|| missing(setting::PUBLIC_URL))?;
            let language = subscriber.settings.language;
            Ok(Message::Mail(mail::compose(address, language, news, (cover, links))))
        }
    }
}

impl News {
    /// What a subscriber must want to hear of to be told; `None` for what concerns one alone.
    pub const fn topic(&self) -> Option<Topic> {
        match &self.about {
            About::Report(_) => Some(Topic::Reports),
            About::Maintenance(_) => Some(Topic::Maintenance),
            About::Incident(_) => Some(Topic::Incidents),
            About::Asked(_) | About::Known(_) => None,
        }
    }

    /// The components of which a subscriber must want to hear one; none stand for all.
    pub fn concerns(&self) -> Vec<ComponentId> {
        match &self.about {
            About::Report(report) => report.concerns.clone(),
            About::Maintenance(_) | About::Incident(_) | About::Asked(_) | About::Known(_) => {
                self.components.iter().map(|component| component.id).collect()
            }
        }
    }

    /// Whether only those are told who heard of its beginning.
    pub const fn is_end(&self) -> bool {
        match &self.about {
            About::Incident(incident) => incident.is_over,
            // Whoever comes in the middle understands an update, and that maintenance is over.
            About::Report(_) | About::Maintenance(_) | About::Asked(_) | About::Known(_) => false,
        }
    }

    /// Identity among all news, whoever hears of it: letters, digits, `_` and `-`.
    pub fn name(&self) -> String {
        let page = self.page.id;
        match &self.about {
            About::Report(report) => format!("{page}-{}-{}", report.report, report.update),
            About::Maintenance(it) => {
                let (stage, from) = (it.stage.as_str(), it.from.as_millis());
                // Only an announcement is told again when the end moves.
                let until = match it.stage {
                    Stage::Announced => format!("-{}", it.until.as_millis()),
                    Stage::Begun | Stage::Over => String::new(),
                };
                format!("{page}-{}-{from}{until}-{stage}", it.maintenance)
            }
            About::Incident(it) => format!("{page}-{}-{}", it.incident, it.word()),
            About::Asked(subscriber) => {
                format!("{page}-{subscriber}-{}-asked", self.at.as_millis())
            }
            About::Known(subscriber) => {
                format!("{page}-{subscriber}-{}-known", self.at.as_millis())
            }
        }
    }

    /// What stands together, and is told in order: the report, the window, the incident.
    pub fn thread(&self) -> String {
        match &self.about {
            About::Report(report) => report.report.to_string(),
            About::Maintenance(it) => format!("{}-{}", it.maintenance, it.from.as_millis()),
            About::Incident(it) => it.incident.to_string(),
            About::Asked(subscriber) | About::Known(subscriber) => subscriber.to_string(),
        }
    }

    /// The word by which it is stored, and by which programs choose.
    pub const fn word(&self) -> &'static str {
        match &self.about {
            About::Report(ReportNews { status: ReportStatus::Resolved, .. }) => {
                "page.report.resolved"
            }
            About::Report(ReportNews { is_first: true, .. }) => "page.report.opened",
            About::Report(_) => "page.report.updated",
            About::Maintenance(it) => match it.stage {
                Stage::Announced => "page.maintenance.announced",
                Stage::Begun => "page.maintenance.begun",
                Stage::Over => "page.maintenance.over",
            },
            About::Incident(it) if it.is_over => "page.incident.closed",
            About::Incident(_) => "page.incident.opened",
            About::Asked(_) => "subscriber.asked",
            About::Known(_) => "subscriber.known",
        }
    }

    /// When what it tells of began.
    pub const fn began_at(&self) -> Timestamp {
        match &self.about {
            About::Maintenance(it) => it.from,
            About::Incident(it) => it.began_at,
            About::Report(_) | About::Asked(_) | About::Known(_) => self.at,
        }
    }
}

impl Stage {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Begun => "begun",
            Self::Over => "over",
        }
    }
}

impl IncidentNews {
    const fn word(&self) -> &'static str {
        if self.is_over { "closed" } else { "opened" }
    }
}

/// Identity of `news` for one subscriber: the same in every try.
pub fn news_key(subscriber: SubscriberId, news: &News) -> String {
    format!("{}-{subscriber}", news.name())
}
