//! Incidents and maintenance as feeds, newest first: Atom (RFC 4287) and RSS 2.0.

use std::fmt::Write as _;

use rules::Timestamp;

use super::bars::escaped;
use super::html::{between, incident_time, incident_title};
use super::shelf::Shown;
use super::words::{Words, iso_date};

/// One entry of a feed.
struct Entry {
    id: String,
    title: String,
    text: String,
    began: Timestamp,
    changed: Timestamp,
}

pub(super) fn atom(shown: &Shown, words: &Words, base: &str) -> String {
    let title = escaped(&shown.page.settings.title);
    let entries = entries(shown, words);
    let updated = entries.iter().map(|it| it.changed).max().unwrap_or(shown.page.updated_at);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"{}\"><title>{title}</title>\
         <id>urn:aloft:{}</id><updated>{updated}</updated><author><name>{title}</name></author>\
         <link rel=\"self\" href=\"{base}/feed.atom\"/><link href=\"{base}\"/>",
        words.lang, shown.page.id
    );
    for it in entries {
        let _ = write!(
            xml,
            "<entry><id>urn:aloft:{}</id><title>{}</title><published>{}</published>\
             <updated>{}</updated><link href=\"{base}/day/{}\"/>\
             <content type=\"text\">{}</content></entry>",
            it.id,
            escaped(&it.title),
            it.began,
            it.changed,
            iso_date(it.began),
            escaped(&it.text)
        );
    }
    xml + "</feed>\n"
}

pub(super) fn rss(shown: &Shown, words: &Words, base: &str) -> String {
    let settings = &shown.page.settings;
    let title = escaped(&settings.title);
    let about = escaped(settings.description.as_deref().unwrap_or(&settings.title));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>{title}</title><link>{base}</link><description>{about}</description>\
         <language>{}</language>",
        words.lang
    );
    for it in entries(shown, words) {
        let _ = write!(
            xml,
            "<item><guid isPermaLink=\"false\">urn:aloft:{}</guid><title>{}</title>\
             <link>{base}/day/{}</link><pubDate>{}</pubDate><description>{}</description></item>",
            it.id,
            escaped(&it.title),
            iso_date(it.began),
            rfc_2822(it.began),
            escaped(&it.text)
        );
    }
    xml + "</channel></rss>\n"
}

/// Open incidents first, then what the history tells.
fn entries(shown: &Shown, words: &Words) -> Vec<Entry> {
    let view = &shown.view;
    let past = view.history.iter().flat_map(|day| &day.incidents);
    let past = past.filter(|it| it.closed.is_some());
    let incidents = view.open.iter().chain(past).map(|it| Entry {
        id: it.id.to_string(),
        title: incident_title(it, words),
        text: incident_time(it, words),
        began: it.opened_at,
        changed: it.closed.map_or(it.acknowledged_at.unwrap_or(it.opened_at), |(at, _)| at),
    });
    let windows = view.planned.iter().chain(view.history.iter().flat_map(|day| &day.maintenances));
    let windows = windows.map(|it| Entry {
        id: format!("{}:{}", it.id, it.window.from.as_millis()),
        title: format!("{}: {}", words.maintenance, it.title),
        text: between(it.window.from, it.window.to, words),
        began: it.window.from,
        changed: it.window.from.min(view.at),
    });
    let mut entries: Vec<Entry> = incidents.chain(windows).collect();
    entries.sort_by_key(|it| std::cmp::Reverse(it.began));
    entries
}

fn rfc_2822(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    instant.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}
