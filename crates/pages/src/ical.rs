//! Planned maintenance as a calendar (RFC 5545): an event for each past window in the history, and
//! each active or planned one. Calendars identify an event by its `UID`, so that a rescheduled
//! window moves there, too.

use domain::page::MaintenanceView;
use rules::Timestamp;

use super::i18n::Strings;
use super::snapshot::PageSnapshot;

/// Refresh interval of calendars (RFC 7986 §5.7).
const REFRESH_INTERVAL: &str = "PT1H";
/// Maximum length of a line in octets, without its end (RFC 5545 §3.1).
const LINE_MAX: usize = 75;

/// Renders the calendar of the page at this URL.
pub(super) fn calendar(snapshot: &PageSnapshot, words: &Strings, url: &str) -> String {
    let mut windows: Vec<&MaintenanceView> = snapshot.maintenance_windows().collect();
    windows.sort_by_key(|it| (it.window.from, it.id));
    let title = text(&snapshot.page.settings.title);
    let mut lines = String::new();
    let head: [(&str, &str); 8] = [
        ("BEGIN", "VCALENDAR"),
        ("VERSION", "2.0"),
        ("PRODID", "-//Aloft//Status page//EN"),
        ("METHOD", "PUBLISH"),
        ("NAME", &title),
        // Older programs read these properties instead.
        ("X-WR-CALNAME", &title),
        ("REFRESH-INTERVAL;VALUE=DURATION", REFRESH_INTERVAL),
        ("X-PUBLISHED-TTL", REFRESH_INTERVAL),
    ];
    write(&mut lines, &head);
    for it in windows {
        event(&mut lines, it, words, url);
    }
    write(&mut lines, &[("END", "VCALENDAR")]);
    lines
}

fn event(lines: &mut String, it: &MaintenanceView, words: &Strings, url: &str) {
    let mut about: Vec<String> = it.description.clone().into_iter().collect();
    if !it.components.is_empty() {
        about.push(format!("{}: {}", words.components, it.names().join(words.comma)));
    }
    let changed = instant(it.updated_at);
    let properties: [(&str, &str); 15] = [
        ("BEGIN", "VEVENT"),
        ("UID", &uid(it)),
        // For a published event, this is the time of the last change (RFC 5545 §3.8.7.2).
        ("DTSTAMP", &changed),
        ("CREATED", &instant(it.created_at)),
        ("LAST-MODIFIED", &changed),
        ("SEQUENCE", &sequence(it).to_string()),
        ("DTSTART", &instant(it.window.from)),
        ("DTEND", &instant(it.window.to)),
        ("SUMMARY", &text(&it.title)),
        ("DESCRIPTION", &text(&about.join("\n\n"))),
        ("STATUS", "CONFIRMED"),
        ("CATEGORIES", &text(words.maintenance)),
        // The event does not make subscribers appear busy.
        ("TRANSP", "TRANSPARENT"),
        ("URL", url),
        ("END", "VEVENT"),
    ];
    write(lines, &properties);
}

fn write(lines: &mut String, properties: &[(&str, &str)]) {
    for (name, value) in properties {
        line(lines, name, value);
    }
}

/// Writes a line. A long line is folded, never within a character.
fn line(lines: &mut String, name: &str, value: &str) {
    let mut room = LINE_MAX;
    for letter in format!("{name}:{value}").chars() {
        if room < letter.len_utf8() {
            lines.push_str("\r\n ");
            room = LINE_MAX - 1;
        }
        room -= letter.len_utf8();
        lines.push(letter);
    }
    lines.push_str("\r\n");
}

/// Escapes a text as a value (RFC 5545 §3.3.11).
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' | '\r' => escaped.push_str("\\n"),
            // Other control characters are invalid in a value.
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Returns the permanent ID of an event. A single window keeps its ID when it is rescheduled. Each
/// window of a recurring maintenance has its own ID.
fn uid(it: &MaintenanceView) -> String {
    if it.is_recurring {
        format!("{}-{}@aloft", it.id, it.window.from.as_millis())
    } else {
        format!("{}@aloft", it.id)
    }
}

/// Returns a number that grows with each change (RFC 5545 §3.8.7.4): the seconds since the
/// creation.
fn sequence(it: &MaintenanceView) -> u32 {
    let since = it.updated_at.since(it.created_at).as_secs();
    u32::try_from(since).unwrap_or(u32::MAX)
}

/// Formats an instant in UTC, such as `20261121T000000Z`.
fn instant(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    instant.strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins folded lines, as a reader does.
    fn unfolded(lines: &str) -> String {
        lines.replace("\r\n ", "")
    }

    // RFC 5545 §3.1 "Lines of text SHOULD NOT be longer than 75 octets, excluding the line break"
    #[test]
    fn lines_fold_at_75_octets_between_characters() {
        for letter in ["a", "é", "界", "🚀", "a界"] {
            for count in 0..200 {
                let (value, mut lines) = (letter.repeat(count), String::new());
                line(&mut lines, "SUMMARY", &value);
                assert!(lines.ends_with("\r\n"));
                for one in lines.split_terminator("\r\n") {
                    assert!(one.len() <= LINE_MAX, "{} octets: {one}", one.len());
                }
                assert_eq!(unfolded(&lines), format!("SUMMARY:{value}\r\n"));
            }
        }
    }

    #[test]
    fn texts_are_escaped_as_the_standard_says() {
        for (written, value) in [
            (r"a\b; c, d: e", r"a\\b\; c\, d: e"),
            ("one\ntwo\r\nthree\rfour", r"one\ntwo\nthree\nfour"),
            ("tab\tbell\u{7}", "tab bell "),
        ] {
            assert_eq!(text(written), value);
        }
    }
}
