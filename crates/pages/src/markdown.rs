//! A page as plain Markdown (`CommonMark`), for chats, tickets and programs: the summary, open
//! events, the components, planned maintenance and the history. Text of owners is escaped and never
//! markup.

use std::fmt::Write as _;

use domain::markdown::plain;
use domain::page::{
    ComponentView, HistoryDay, IncidentView, MaintenanceView, PageView, ReportView, Section,
};

use super::event_text::{incident_time, incident_title, time_span};
use super::events::{self, Ongoing};
use super::i18n::Strings;
use super::report::{affected, status as status_name};
use super::snapshot::PageSnapshot;

/// Renders the page at this URL.
pub(super) fn status(snapshot: &PageSnapshot, words: &Strings, url: &str) -> String {
    let (settings, view) = (&snapshot.page.settings, &snapshot.view);
    let mut text = format!("# {}\n", escaped(&settings.title));
    if let Some(about) = &settings.description {
        let _ = write!(text, "\n{}\n", escaped(about));
    }
    let _ = write!(text, "\n**{}**\n", escaped(&words.summary(&view.overall_status.summary)));
    let data_age = &view.overall_status.data_age;
    if let Some(at) = data_age.checked_at {
        let _ = write!(text, "\n{}\n", words.checked.replace("{}", &words.time(at)));
    }
    if snapshot.is_outdated {
        let _ = write!(text, "\n> {}\n", words.old.replace("{}", &words.time(view.at)));
    }
    if !data_age.stale.is_empty() {
        let _ = write!(text, "\n> {}\n", escaped(&words.stale(&data_age.stale)));
    }
    let open = ongoing(view, words);
    if !open.is_empty() {
        write_section(&mut text, (2, words.open), open.into_iter());
    }
    components(&mut text, &view.sections, words);
    if !view.planned.is_empty() {
        let planned = view.planned.iter().map(|it| maintenance(it, words));
        write_section(&mut text, (2, words.planned), planned);
    }
    history(&mut text, &view.history, words);
    let _ = write!(text, "\n<{url}>\n");
    text
}

/// Renders the open reports, each above its incidents, and then the incidents without a report.
fn ongoing(view: &PageView, words: &Strings) -> Vec<String> {
    let Ongoing { reports, incidents } = events::ongoing(view);
    let lines = reports.iter().map(|(it, explained)| {
        let below = explained.iter().map(|it| format!("\n  - {}", incident(it, words)));
        std::iter::once(report(it, words)).chain(below).collect()
    });
    lines.chain(incidents.into_iter().map(|it| incident(it, words))).collect()
}

/// Writes the finished events of the last days. Omits the heading if all events are ongoing.
fn history(text: &mut String, days: &[HistoryDay], words: &Strings) {
    let (mut past, mut is_ongoing) = (String::new(), false);
    for day in days {
        let (day, has_ongoing) = events::past(day);
        is_ongoing |= has_ongoing;
        let reports = day.reports.iter().map(|it| report(it, words));
        let incidents = day.incidents.iter().map(|it| incident(it, words));
        let windows = day.maintenances.iter().map(|it| maintenance(it, words));
        let all: Vec<_> = reports.chain(incidents).chain(windows).collect();
        if !all.is_empty() {
            write_section(&mut past, (3, &words.date(day.begins)), all.into_iter());
        }
    }
    if past.is_empty() && is_ongoing {
        return;
    }
    let _ = write!(text, "\n## {}\n{past}", words.history);
    if past.is_empty() {
        let _ = write!(text, "\n{}\n", words.nothing_happened);
    }
}

/// Writes the ungrouped components first, then the groups below their names, because a Markdown
/// heading cannot be closed.
fn components(text: &mut String, sections: &[Section], words: &Strings) {
    let single = |section: &Section| match section {
        Section::Single(it) => Some(component(it, words)),
        Section::Group(_) => None,
    };
    write_section(text, (2, words.components), sections.iter().filter_map(single));
    for section in sections {
        match section {
            Section::Single(_) => {}
            Section::Group(group) => {
                let name = format!("{}: {}", escaped(&group.name), words.state(group.state));
                write_section(
                    text,
                    (3, &name),
                    group.components.iter().map(|it| component(it, words)),
                );
            }
        }
    }
}

/// Writes a heading of this level with a list below it.
fn write_section(
    text: &mut String,
    (level, heading): (usize, &str),
    lines: impl Iterator<Item = String>,
) {
    let _ = write!(text, "\n{} {heading}\n\n", "#".repeat(level));
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}

fn component(it: &ComponentView, words: &Strings) -> String {
    let mut line = format!("**{}**: {}", escaped(&it.name), words.state(it.state));
    if let Some(uptime) = it.uptime {
        let _ = write!(line, " · {}", words.uptime.replace("{}", &uptime.to_string()));
    }
    line
}

/// Renders a report with its latest update.
fn report(it: &ReportView, words: &Strings) -> String {
    let mut line = format!("**{}**: {}", escaped(&it.title), status_name(it.status, words));
    if let Some(affected) = affected(it, words) {
        let _ = write!(line, " · {}", escaped(&affected));
    }
    if let Some(latest) = it.updates.first() {
        let (at, update_text) = (words.time(latest.at), plain(&latest.text));
        let _ = write!(line, " · {at}. {}", escaped(&update_text));
    }
    line
}

fn incident(it: &IncidentView, words: &Strings) -> String {
    let mut line =
        format!("**{}**: {}", escaped(&incident_title(it, words)), incident_time(it, words));
    if it.closed.is_none() && it.acknowledged_at.is_some() {
        let _ = write!(line, ". {}", words.being_worked_on);
    }
    line
}

fn maintenance(it: &MaintenanceView, words: &Strings) -> String {
    let when = time_span(it.window, words);
    let mut line = format!("**{}**: {when}", escaped(&it.title));
    if !it.components.is_empty() {
        let _ = write!(line, " · {}", escaped(&words.names(&it.names())));
    }
    if let Some(about) = &it.description {
        let _ = write!(line, ". {}", escaped(about));
    }
    line
}

/// Escapes a text as one line of Markdown without marks, links or HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    let one_line = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    for word in one_line.filter(|word| !word.is_empty()) {
        if !escaped.is_empty() {
            escaped.push(' ');
        }
        for letter in word.chars() {
            if letter.is_ascii_punctuation() && !is_harmless(letter) {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
    }
    escaped
}

/// Returns whether this punctuation has no meaning in any flavour of Markdown. A full stop has one:
/// after a digit it begins a list, and in host names a link.
const fn is_harmless(letter: char) -> bool {
    matches!(letter, ',' | ';' | '\'' | '"' | '?' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_owners_wrote_is_markup() {
        for (written, expected) in [
            ("API, v2; \"fine\"?", "API, v2; \"fine\"?"),
            ("*bold* _it_ `code`", r"\*bold\* \_it\_ \`code\`"),
            ("[a](http://b)", r"\[a\]\(http\:\/\/b\)"),
            ("<img src=x>", r"\<img src\=x\>"),
            ("1. one\n\n# two", r"1\. one \# two"),
            (" \t- x\u{85}+ y", r"\- x \+ y"),
            (r"a\b|c", r"a\\b\|c"),
            ("", ""),
        ] {
            assert_eq!(escaped(written), expected, "{written}");
        }
    }
}
