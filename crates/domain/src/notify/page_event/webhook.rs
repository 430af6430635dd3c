//! Webhooks for subscribers: versioned JSON, signed like the webhooks of channels. Within a
//! version, fields may be added but never removed or redefined; see
//! `docs/reference/page-webhook.md`.

use rules::Secret;
use rules::status_page::Subscriber;
use serde::Serialize;

use super::super::alert_text::format_rfc3339;
use super::super::message::HttpMessage;
use super::super::truncate::{Unit, one_line, plain, truncate};
use super::super::webhook::signed;
use super::{ComponentNamed, PageEvent, PageEventKind, SubscriberEnvelope};

/// Version of the body.
const VERSION: u32 = 1;
/// Maximum length of a user's one-line text (our choice).
const LINE_MAX: usize = 2_048;
/// Maximum length of a user's text (our choice): that of an update.
const TEXT_MAX: usize = 16_384;

#[derive(Serialize)]
struct PageWebhookBody {
    version: u32,
    r#type: &'static str,
    timestamp: Option<String>,
    data: PageWebhookData,
}

#[derive(Serialize)]
struct PageWebhookData {
    subscriber: String,
    page: Page,
    /// Oldest first; one event or a digest.
    events: Vec<EventBody>,
}

#[derive(Serialize)]
struct Page {
    id: String,
    title: String,
    link: Option<String>,
}

#[derive(Serialize)]
struct EventBody {
    r#type: &'static str,
    at: Option<String>,
    components: Vec<Component>,
    #[serde(flatten)]
    about: EventDetails,
}

#[derive(Serialize)]
struct Component {
    id: String,
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum EventDetails {
    Report {
        id: String,
        update: String,
        title: String,
        status: &'static str,
        text: String,
    },
    Maintenance {
        id: String,
        title: String,
        description: Option<String>,
        from: Option<String>,
        until: Option<String>,
    },
    Incident {
        id: String,
        began_at: Option<String>,
    },
    Subscriber {
        id: String,
    },
}

pub(super) fn compose(
    subscriber: &Subscriber,
    url: &Secret<String>,
    page_events: &[PageEvent],
    cover: &SubscriberEnvelope<'_>,
) -> HttpMessage {
    let body = serde_json::to_value(body(subscriber, page_events, cover));
    let body = body.expect("texts and numbers always serialize");
    let message = HttpMessage::json(url.expose(), &body);
    signed(message, cover.key, cover.now, cover.signing)
}

fn body(
    subscriber: &Subscriber,
    page_events: &[PageEvent],
    cover: &SubscriberEnvelope<'_>,
) -> PageWebhookBody {
    let kind = match page_events {
        [only] => only.word(),
        _ => "page.digest",
    };
    let title =
        page_events.first().map(|page_event| line(&page_event.page.title)).unwrap_or_default();
    PageWebhookBody {
        version: VERSION,
        r#type: kind,
        timestamp: format_rfc3339(page_events.last().map_or(cover.now, |page_event| page_event.at)),
        data: PageWebhookData {
            subscriber: subscriber.id.to_string(),
            page: Page {
                id: subscriber.settings.page_id.to_string(),
                title,
                link: cover.links.as_ref().map(|links| links.page.clone()),
            },
            events: page_events.iter().map(event_body).collect(),
        },
    }
}

fn event_body(page_event: &PageEvent) -> EventBody {
    let component = |component: &ComponentNamed| Component {
        id: component.id.to_string(),
        name: line(&component.name),
    };
    EventBody {
        r#type: page_event.word(),
        at: format_rfc3339(page_event.at),
        components: page_event.components.iter().map(component).collect(),
        about: event_details(&page_event.about),
    }
}

fn event_details(about: &PageEventKind) -> EventDetails {
    match about {
        PageEventKind::Report(report) => EventDetails::Report {
            id: report.report.to_string(),
            update: report.update.to_string(),
            title: line(&report.title),
            status: report.status.as_str(),
            text: truncate(&report.text, plain, Unit::Utf16, TEXT_MAX),
        },
        PageEventKind::Maintenance(it) => EventDetails::Maintenance {
            id: it.maintenance.to_string(),
            title: line(&it.title),
            description: it
                .description
                .as_deref()
                .map(|text| truncate(text, plain, Unit::Utf16, TEXT_MAX)),
            from: format_rfc3339(it.from),
            until: format_rfc3339(it.until),
        },
        PageEventKind::Incident(it) => EventDetails::Incident {
            id: it.incident.to_string(),
            began_at: format_rfc3339(it.began_at),
        },
        PageEventKind::ConfirmationRequested(subscriber)
        | PageEventKind::AlreadySubscribed(subscriber) => {
            EventDetails::Subscriber { id: subscriber.to_string() }
        }
    }
}

fn line(text: &str) -> String {
    truncate(&one_line(text), plain, Unit::Utf16, LINE_MAX)
}
