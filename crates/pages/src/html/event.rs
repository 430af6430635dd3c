//! Events as pages and feeds show them: incidents and maintenance.

use askama::Template;
use domain::page::{HistoryDay, IncidentView, MaintenanceView, State};
use web::escape::escaped;

use super::super::event_text::incident_title;
use super::super::i18n::Strings;
use super::time::{incident_time_html, time_span_html};
use super::{render, report};

#[derive(Template)]
#[template(path = "event.html")]
struct EventCard {
    state: State,
    title: String,
    link: Option<String>,
    /// Lines of HTML.
    lines: Vec<String>,
}

/// Renders all events of a day: reports, incidents and maintenance.
pub(super) fn render_events(day: &HistoryDay, words: &'static Strings, base: &str) -> Vec<String> {
    let reports = report::cards(&day.reports, words, base);
    let incidents = day.incidents.iter().map(|it| incident(it, words, base));
    let windows = day.maintenances.iter().map(|it| maintenance(it, words));
    reports.into_iter().chain(incidents).chain(windows).collect()
}

pub(super) fn incident(it: &IncidentView, words: &'static Strings, base: &str) -> String {
    let title = incident_title(it, words);
    let mut lines = vec![incident_time_html(it, words)];
    if it.closed.is_none() && it.acknowledged_at.is_some() {
        lines.push(words.being_worked_on.to_owned());
    }
    let state = match it.closed {
        None => State::Down,
        Some((_, how)) => State::after_close(how),
    };
    let link = Some(format!("{base}/incident/{}", it.id));
    render(&EventCard { state, title, link, lines })
}

pub(super) fn maintenance(it: &MaintenanceView, words: &'static Strings) -> String {
    let mut lines = vec![time_span_html(it.window, words)];
    lines.extend(it.description.as_deref().map(escaped));
    if !it.components.is_empty() {
        lines.push(escaped(&words.names(&it.names())));
    }
    let (state, title) = (State::Maintenance, it.title.clone());
    render(&EventCard { state, title, link: None, lines })
}

#[cfg(test)]
mod tests {
    use domain::judge::CloseReason;
    use rules::{IncidentId, Timestamp};

    use super::super::super::i18n;
    use super::*;

    fn closed(how: CloseReason) -> IncidentView {
        let at = Timestamp::from_millis;
        IncidentView {
            id: IncidentId::from_bits(1),
            components: Vec::new(),
            opened_at: at(0),
            closed: Some((at(1), how)),
            acknowledged_at: None,
        }
    }

    // An incident of a paused or deleted monitor was shown as operational.
    #[test]
    fn closed_incident_shows_the_state_after_it() {
        for how in CloseReason::ALL {
            let card = incident(&closed(how), i18n::choose(None), "/status/acme");
            let class = format!("class=\"event {}\"", State::after_close(how));
            assert!(card.contains(&class), "{how:?}: {card}");
        }
    }
}
