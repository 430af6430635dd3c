//! Reports, incidents and maintenance as feeds, newest first: Atom (RFC 4287), RSS 2.0 and JSON
//! Feed 1.1 (<https://www.jsonfeed.org/version/1.1/>). An entry changes only if its event does.

use std::fmt::Write as _;
use std::time::Duration;

use domain::page::{IncidentView, MaintenanceView};
use rules::Timestamp;
use serde_json::json;
use web::escape::escaped;

use super::event_text::{incident_time, incident_title, time_span};
use super::i18n::Strings;
use super::report;
use super::snapshot::PageSnapshot;

/// Maximum number of entries. The newest are kept.
const ENTRIES_MAX: usize = 50;
/// Time before the start of a maintenance window at which it appears in feeds, if it is planned by
/// then.
const AHEAD: Duration = Duration::from_hours(7 * 24);

/// An entry of a feed.
struct FeedEntry {
    id: String,
    title: String,
    text: String,
    /// URL of the details.
    link: String,
    published: Timestamp,
    changed: Timestamp,
}

/// Renders the Atom feed of the page at this URL.
pub(super) fn atom(snapshot: &PageSnapshot, words: &Strings, url: &str) -> String {
    let title = escaped(&snapshot.page.settings.title);
    let (url, updated) = (escaped(url), last_change(snapshot));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\"><title>{title}</title>\
         <id>urn:aloft:{}</id><updated>{updated}</updated><author><name>{title}</name></author>\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{url}/feed.atom\"/>\
         <link rel=\"alternate\" type=\"text/html\" href=\"{url}\"/>",
        words.lang, snapshot.page.id
    );
    for it in entries(snapshot, words, &url) {
        let _ = write!(
            xml,
            "<entry><id>urn:aloft:{}</id><title>{}</title><published>{}</published>\
             <updated>{}</updated><link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\
             <content type=\"text\">{}</content></entry>",
            it.id,
            escaped(&it.title),
            it.published,
            it.changed,
            it.link,
            escaped(&it.text)
        );
    }
    xml + "</feed>\n"
}

/// Renders the RSS feed of the page at this URL.
pub(super) fn rss(snapshot: &PageSnapshot, words: &Strings, url: &str) -> String {
    let settings = &snapshot.page.settings;
    let title = escaped(&settings.title);
    let about = escaped(settings.description.as_deref().unwrap_or(&settings.title));
    let (url, built) = (escaped(url), rfc_2822(last_change(snapshot)));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>\
         <title>{title}</title><link>{url}</link><description>{about}</description>\
         <language>{}</language><lastBuildDate>{built}</lastBuildDate>\
         <atom:link rel=\"self\" type=\"application/rss+xml\" href=\"{url}/feed.rss\"/>",
        words.lang
    );
    for it in entries(snapshot, words, &url) {
        let _ = write!(
            xml,
            "<item><guid isPermaLink=\"false\">urn:aloft:{}</guid><title>{}</title>\
             <link>{}</link><pubDate>{}</pubDate><description>{}</description></item>",
            it.id,
            escaped(&it.title),
            it.link,
            rfc_2822(it.published),
            escaped(&html(&it.text))
        );
    }
    xml + "</channel></rss>\n"
}

/// Renders the JSON Feed of the page at this URL.
pub(super) fn json(snapshot: &PageSnapshot, words: &Strings, url: &str) -> String {
    let settings = &snapshot.page.settings;
    let items = entries(snapshot, words, url).into_iter().map(|it| {
        json!({
            "id": format!("urn:aloft:{}", it.id), "url": it.link, "title": it.title,
            "content_text": it.text, "date_published": it.published.to_string(),
            "date_modified": it.changed.to_string(),
        })
    });
    let mut feed = json!({
        "version": "https://jsonfeed.org/version/1.1", "title": settings.title,
        "home_page_url": url, "feed_url": format!("{url}/feed.json"), "language": words.lang,
        "items": items.collect::<Vec<_>>(),
    });
    if let Some(about) = &settings.description {
        feed["description"] = json!(about);
    }
    feed.to_string()
}

/// Returns the time of the last change that feeds and the calendar contain: of the page, a report,
/// an incident or maintenance.
pub(super) fn last_change(snapshot: &PageSnapshot) -> Timestamp {
    let incident_changes = snapshot.incidents().map(incident_changed);
    let planned = snapshot.maintenance_windows().map(|it| it.updated_at.max(announced_at(it)));
    let past = planned.filter(|at| *at <= snapshot.view.at);
    let reports = snapshot.view.reports.iter().map(|it| it.last_update_at);
    incident_changes.chain(past).chain(reports).fold(snapshot.page.updated_at, Timestamp::max)
}

fn entries(snapshot: &PageSnapshot, words: &Strings, url: &str) -> Vec<FeedEntry> {
    let incidents = snapshot.incidents().map(|it| FeedEntry {
        id: it.id.to_string(),
        title: incident_title(it, words),
        text: incident_time(it, words),
        link: format!("{url}/incident/{}", it.id),
        published: it.opened_at,
        changed: incident_changed(it),
    });
    let windows = snapshot
        .maintenance_windows()
        .filter(|it| announced_at(it) <= snapshot.view.at)
        .map(|it| FeedEntry {
            id: format!("{}:{}", it.id, it.window.from.as_millis()),
            title: format!("{}: {}", words.maintenance, it.title),
            text: maintenance_text(it, words),
            link: url.to_owned(),
            published: announced_at(it),
            changed: announced_at(it).max(it.updated_at),
        });
    let reports = snapshot.view.reports.iter().map(|it| FeedEntry {
        id: it.id.to_string(),
        title: it.title.clone(),
        text: report::text(it, words),
        link: format!("{url}/report/{}", it.id),
        published: it.started_at,
        changed: it.last_update_at,
    });
    let mut entries: Vec<FeedEntry> = reports.chain(incidents).chain(windows).collect();
    entries.sort_by(|one, other| (other.published, &other.id).cmp(&(one.published, &one.id)));
    entries.truncate(ENTRIES_MAX);
    entries
}

fn incident_changed(it: &IncidentView) -> Timestamp {
    let closed = it.closed.map(|(at, _)| at);
    closed.or(it.acknowledged_at).unwrap_or(it.opened_at)
}

/// Returns the time at which a window appears in feeds.
fn announced_at(it: &MaintenanceView) -> Timestamp {
    it.created_at.max(it.window.from - AHEAD)
}

fn maintenance_text(it: &MaintenanceView, words: &Strings) -> String {
    let mut lines = vec![time_span(it.window, words)];
    lines.extend((!it.components.is_empty()).then(|| words.names(&it.names())));
    lines.extend(it.description.clone());
    lines.join("\n")
}

/// Converts text to HTML, because readers parse the description of an item as HTML (RSS 2.0).
/// Without escaping, part of a title could become an element.
fn html(text: &str) -> String {
    escaped(text).replace('\n', "<br>")
}

fn rfc_2822(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    instant.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}
