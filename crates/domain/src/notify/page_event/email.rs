//! Emails to subscribers: text and HTML with the same content, in the subscriber's language. All
//! emails of one report form a thread. Texts of users are shown verbatim, not as markup.

use std::fmt::Write as _;

use rules::status_page::Language;

use super::super::alert_text::format_time;
use super::super::email::style::{BODY, BUTTON, CARD, HEADING, LIGHT, SMALL};
use super::super::email::{SUBJECT_MAX, id, subject};
use super::super::message::{ListLinks, Mail};
use super::super::truncate::{Unit, escaped, html, one_line, plain, truncate};
use super::i18n::{self, EmailStrings};
use super::{Links, MaintenancePhase, PageEvent, PageEventKind, SubscriberEnvelope};

/// Maximum length of one event's text (our choice): that of an update.
const TEXT_MAX: usize = 16_384;
/// Maximum length of the list of components (our choice).
const NAMES_MAX: usize = 1_000;
/// Maximum size of all events of one email (our choice): Gmail shows the first 102 KB of a message.
const EVENTS_BYTES_MAX: usize = 40_000;

/// The unescaped texts of one event.
struct EventText {
    title: String,
    /// Paragraphs, which may have several lines.
    parts: Vec<String>,
}

/// The button of an email.
struct Button<'b> {
    label: &'static str,
    link: &'b str,
}

pub(super) fn compose(
    address: &str,
    language: Language,
    page_events: &[PageEvent],
    (cover, links): (&SubscriberEnvelope<'_>, &Links),
) -> Mail {
    let words = i18n::for_language(language);
    let texts = event_texts(words, page_events);
    let title = match texts.as_slice() {
        [only] => only.title.clone(),
        several => fill(words.several, &several.len().to_string()),
    };
    let page =
        page_events.first().map(|page_event| one_line(&page_event.page.title)).unwrap_or_default();
    let is_asked =
        matches!(page_events, [PageEvent { about: PageEventKind::ConfirmationRequested(_), .. }]);
    let button = if is_asked {
        Button { label: words.confirm, link: &links.confirm }
    } else {
        Button { label: words.open_page, link: &links.page }
    };
    // A recipient without a confirmed subscription has nothing to unsubscribe from.
    let ways = (!is_asked).then_some(links);
    let head = if is_asked { title.clone() } else { format!("{page}: {title}") };
    let thread = page_events.first().map(PageEvent::thread).unwrap_or_default();
    Mail {
        to: address.to_owned(),
        subject: truncate(&head, subject, Unit::Utf16, SUBJECT_MAX),
        text: text(words, (&page, &title), &texts, (&button, ways)),
        html: html_of((words, language), (&page, &title), &texts, (&button, ways)),
        id: id(cover.key),
        thread: id(&format!("{thread}-{page_id}", page_id = page_id(page_events))),
        list: match ways {
            Some(links) => ListLinks::OneClick(links.unsubscribe.clone()),
            None => ListLinks::None,
        },
    }
}

fn page_id(page_events: &[PageEvent]) -> String {
    page_events.first().map(|page_event| page_event.page.id.to_string()).unwrap_or_default()
}

/// Returns the texts of as many events as fit; a very long digest may be cut.
fn event_texts(words: &EmailStrings, page_events: &[PageEvent]) -> Vec<EventText> {
    let mut room = EVENTS_BYTES_MAX;
    let texts = page_events.iter().map(|page_event| event_text(words, page_event));
    let fits = texts.enumerate().take_while(|(index, text)| {
        let length = text.title.len() + text.parts.iter().map(String::len).sum::<usize>();
        room = room.saturating_sub(length);
        *index == 0 || room > 0
    });
    fits.map(|(_, text)| text).collect()
}

fn event_text(words: &EmailStrings, page_event: &PageEvent) -> EventText {
    let names: Vec<String> = page_event.components.iter().map(|it| one_line(&it.name)).collect();
    let all = truncate(&names.join(", "), plain, Unit::Utf16, NAMES_MAX);
    let about =
        |[one, several]: [&str; 2]| fill(if names.len() == 1 { one } else { several }, &all);
    let listed = (!all.is_empty()).then(|| format!("{}: {all}", words.components));
    let page = one_line(&page_event.page.title);
    let (title, mut parts) = match &page_event.about {
        PageEventKind::Report(report) => {
            let title = format!("{}: {}", words.status(report.status), one_line(&report.title));
            (title, vec![prose(&report.text)])
        }
        PageEventKind::Maintenance(it) => {
            let template = match it.stage {
                MaintenancePhase::Scheduled => words.scheduled,
                MaintenancePhase::Started => words.started,
                MaintenancePhase::Completed => words.completed,
            };
            let when = fill(words.from_to, &format_time(it.from));
            let when = fill(&when, &format_time(it.until));
            let description = it.description.as_deref().map(prose);
            let parts = [Some(when), description].into_iter().flatten().collect();
            (fill(template, &one_line(&it.title)), parts)
        }
        PageEventKind::Incident(it) => {
            (about(if it.is_over { words.up } else { words.down }), Vec::new())
        }
        PageEventKind::ConfirmationRequested(_) => {
            (fill(words.confirm_title, &page), vec![fill(words.confirm_text, &page)])
        }
        PageEventKind::AlreadySubscribed(_) => (
            fill(words.already_subscribed_title, &page),
            vec![fill(words.already_subscribed_text, &page)],
        ),
    };
    match &page_event.about {
        PageEventKind::Report(_) | PageEventKind::Maintenance(_) => parts.extend(listed),
        PageEventKind::Incident(_)
        | PageEventKind::ConfirmationRequested(_)
        | PageEventKind::AlreadySubscribed(_) => {}
    }
    parts.push(format_time(page_event.at));
    parts.retain(|part| !part.is_empty());
    EventText { title, parts }
}

/// Returns a user's text with its line breaks.
fn prose(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(one_line).collect();
    truncate(lines.join("\n").trim(), plain, Unit::Utf16, TEXT_MAX)
}

/// Replaces the first placeholder of a template.
fn fill(template: &str, value: &str) -> String {
    template.replacen("{}", value, 1)
}

fn text(
    words: &EmailStrings,
    (page, title): (&str, &str),
    texts: &[EventText],
    (button, ways): (&Button<'_>, Option<&Links>),
) -> String {
    let mut text = format!("{title}\n");
    for one in texts {
        if texts.len() > 1 {
            let _ = write!(text, "\n• {}\n", one.title);
        }
        for part in &one.parts {
            let _ = write!(text, "\n{part}\n");
        }
    }
    let _ = write!(text, "\n{}: {}\n", button.label, button.link);
    if let Some(links) = ways {
        let _ = write!(
            text,
            "\n-- \n{}\n{}: {}\n{}: {}\n",
            fill(words.why, page),
            words.manage,
            links.manage,
            words.unsubscribe,
            links.unsubscribe
        );
    }
    text
}

fn html_of(
    (words, language): (&EmailStrings, Language),
    (page, title): (&str, &str),
    texts: &[EventText],
    (button, ways): (&Button<'_>, Option<&Links>),
) -> String {
    let safe = |text: &str| escaped(text, html);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"{language}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title></head>\n\
         <body style=\"{BODY}\"><div style=\"{CARD}\">\n\
         <p style=\"{LIGHT}\">{page}</p>\n\
         <h1 style=\"{HEADING}\">{title}</h1>\n",
        title = safe(title),
        page = safe(page),
    );
    for one in texts {
        if texts.len() > 1 {
            let _ = writeln!(
                out,
                "<h2 style=\"margin:16px 0 0;font-size:16px\">{}</h2>",
                safe(&one.title)
            );
        }
        for part in &one.parts {
            let part = safe(part).replace('\n', "<br>");
            let _ = writeln!(out, "<p style=\"overflow-wrap:anywhere\">{part}</p>");
        }
    }
    let _ = writeln!(
        out,
        "<p><a style=\"{BUTTON}\" href=\"{}\">{}</a></p>",
        safe(button.link),
        safe(button.label)
    );
    if let Some(links) = ways {
        let _ = writeln!(
            out,
            "<p style=\"{SMALL}\">{}<br><a href=\"{}\">{}</a> · <a href=\"{}\">{}</a></p>",
            safe(&fill(words.why, page)),
            safe(&links.manage),
            safe(words.manage),
            safe(&links.unsubscribe),
            safe(words.unsubscribe)
        );
    }
    out.push_str("</div></body></html>\n");
    out
}
