//! Decides about events of status pages: which maintenance is announced, when an event is passed
//! on, which subscribers get it, and whether it joins a digest. The outbox fetches the inputs, and
//! stores the outputs.

use std::time::Duration;

use rules::status_page::{StatusPage, Topic};
use rules::{ComponentId, IncidentId, ProviderType, Timestamp};

use super::page_event::{
    ComponentNamed, MaintenancePhase, PageEvent, PageEventKind, PageNamed, ReportEvent,
};
use super::policy::{DueTime, GroupWindow, HoldReason, SendTime, group};
use crate::history::Span;
use crate::report::{AnnouncedComponent, ReportAnnouncement};

/// Lead time for announcing a maintenance window that was not announced when it was planned.
pub const MAINTENANCE_LEAD_TIME: Duration = Duration::from_hours(24);
/// Minimum distance of windows of one maintenance for their announcements. Daily announcements of
/// daily windows would be ignored.
pub const MAINTENANCE_DISTANCE_MIN: Duration = Duration::from_hours(36);
/// Maximum age of an announcement. Older ones are dropped after a long downtime of the server.
const ANNOUNCEMENT_AGE_MAX: Duration = Duration::from_hours(24);

/// Decision about an event that is due at its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanOutDecision<'p> {
    /// The subscribers of this page get it.
    Now(&'p StatusPage),
    /// It waits until the maintenance of its monitor ends.
    Later(Timestamp),
    /// Nobody gets it: the page is hidden or deleted, or the incident was over before its opening
    /// was passed on.
    Drop,
}

/// State of the incident whose opening is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningState {
    Open {
        /// End of the maintenance that covers its monitor now.
        muted_until: Option<Timestamp>,
    },
    /// It is closed or deleted.
    Over,
}

/// Condition on the subscriptions that get an event. They were confirmed before it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    /// Topic of the subscription.
    pub topic: Topic,
    /// The subscription is for one of these components. Empty: for any.
    pub components: Vec<ComponentId>,
    /// Whether the subscriber must have got an earlier event of the same thread.
    pub is_end: bool,
}

/// Decides about an event that is due at its `page`, which may be deleted. `opening` is the state of
/// the incident that it opens ([`PageEvent::opened_incident`]), if it opens one.
pub fn decide_fan_out(
    page: Option<&StatusPage>,
    opening: Option<OpeningState>,
) -> FanOutDecision<'_> {
    let Some(page) = page.filter(|page| page.published) else { return FanOutDecision::Drop };
    match opening {
        None | Some(OpeningState::Open { muted_until: None }) => FanOutDecision::Now(page),
        Some(OpeningState::Open { muted_until: Some(end) }) => FanOutDecision::Later(end),
        Some(OpeningState::Over) => FanOutDecision::Drop,
    }
}

/// Decides when the subscribers of a page get an event. Only incidents are grouped: returns the
/// updated window of the page for them.
pub fn schedule_page_event(
    event: &PageEvent,
    window: Option<GroupWindow>,
    now: Timestamp,
) -> (Option<GroupWindow>, DueTime) {
    let at_once = DueTime { due_at: now, hold_reason: None };
    match &event.about {
        PageEventKind::Incident(_) => {
            let (window, send_time) = group(ProviderType::Email, window, now);
            let due = match send_time {
                SendTime::Now => at_once,
                SendTime::Grouped(due_at) => {
                    DueTime { due_at, hold_reason: Some(HoldReason::Digest) }
                }
            };
            (Some(window), due)
        }
        PageEventKind::Report(_)
        | PageEventKind::Maintenance(_)
        | PageEventKind::ConfirmationRequested(_)
        | PageEventKind::AlreadySubscribed(_) => (None, at_once),
    }
}

/// Returns when the opening of an incident is due at its pages: during maintenance of the monitor,
/// at its end.
pub fn opening_due_at(muted_until: Option<Timestamp>, now: Timestamp) -> Timestamp {
    muted_until.map_or(now, |end| end.max(now))
}

/// Returns the time from which changes of maintenance windows are announced. `announced_until` is
/// the end of the previous announcements; `None` if there were none.
pub fn announced_since(announced_until: Option<Timestamp>, now: Timestamp) -> Timestamp {
    announced_until.unwrap_or(now).max(now - ANNOUNCEMENT_AGE_MAX)
}

/// Returns the window that is announced after an edit of its maintenance. The start of a `current`
/// window is announced separately.
pub fn window_to_announce(current: Option<Span>, next: Option<Span>) -> Option<Span> {
    next.filter(|_| current.is_none())
}

impl MaintenancePhase {
    /// Returns the phase of a window.
    pub fn from_window(window: Span, now: Timestamp) -> Self {
        if window.to <= now {
            Self::Completed
        } else if window.from <= now {
            Self::Started
        } else {
            Self::Scheduled
        }
    }
}

impl PageEvent {
    /// Creates the event of an update of a status report.
    pub fn from_report(page: PageNamed, update: &ReportAnnouncement) -> Self {
        let named = |it: &AnnouncedComponent| ComponentNamed { id: it.id, name: it.name.clone() };
        Self {
            page,
            at: update.at,
            about: PageEventKind::Report(ReportEvent {
                report: update.report,
                update: update.update,
                title: update.title.clone(),
                status: update.status,
                is_first: update.is_first,
                text: update.text.clone(),
                concerns: update.concerns.clone(),
            }),
            components: update.components.iter().map(named).collect(),
        }
    }

    /// Returns the condition on the subscriptions that get the event, or `None` if it is for one
    /// subscriber only.
    pub fn audience(&self) -> Option<Audience> {
        let topic = self.topic()?;
        Some(Audience { topic, components: self.affected_components(), is_end: self.is_end() })
    }

    /// Returns the incident that the event opens, if it opens one.
    pub const fn opened_incident(&self) -> Option<IncidentId> {
        match &self.about {
            PageEventKind::Incident(incident) if !incident.is_over => Some(incident.incident),
            PageEventKind::Incident(_)
            | PageEventKind::Report(_)
            | PageEventKind::Maintenance(_)
            | PageEventKind::ConfirmationRequested(_)
            | PageEventKind::AlreadySubscribed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use rules::status_page::PageDraft;
    use rules::{PageId, Theme, WorkspaceId};

    use super::super::page_event::IncidentEvent;
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);
    const LATER: Timestamp = Timestamp::from_millis(1_000_003_600);

    fn page(published: bool) -> StatusPage {
        let draft = PageDraft {
            title: Some("Acme".to_owned()),
            slug: Some("acme".to_owned()),
            ..PageDraft::default()
        };
        StatusPage {
            id: PageId::from_bits(1),
            workspace: WorkspaceId::from_bits(1),
            settings: draft.parse().unwrap(),
            published,
            theme: Theme::System,
            allow_indexing: true,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    fn incident(is_over: bool) -> PageEvent {
        let incident = IncidentId::from_bits(7);
        PageEvent {
            page: PageNamed { id: PageId::from_bits(1), title: "Acme".to_owned() },
            at: NOW,
            about: PageEventKind::Incident(IncidentEvent { incident, began_at: NOW, is_over }),
            components: vec![ComponentNamed { id: ComponentId::from_bits(3), name: String::new() }],
        }
    }

    #[test]
    fn hidden_page_and_ended_incident_drop_events() {
        let open = Some(OpeningState::Open { muted_until: None });
        let muted = Some(OpeningState::Open { muted_until: Some(LATER) });
        let (shown, hidden) = (page(true), page(false));
        for (page, opening, expected) in [
            (None, None, FanOutDecision::Drop),
            (Some(&hidden), open, FanOutDecision::Drop),
            (Some(&shown), None, FanOutDecision::Now(&shown)),
            (Some(&shown), open, FanOutDecision::Now(&shown)),
            (Some(&shown), muted, FanOutDecision::Later(LATER)),
            (Some(&shown), Some(OpeningState::Over), FanOutDecision::Drop),
        ] {
            assert_eq!(decide_fan_out(page, opening), expected, "{opening:?}");
        }
    }

    #[test]
    fn fourth_incident_of_a_minute_joins_a_digest() {
        let mut window = None;
        let mut reasons = Vec::new();
        for _ in 0..4 {
            let (next, due) = schedule_page_event(&incident(false), window, NOW);
            window = next;
            reasons.push(due.hold_reason);
        }
        assert_eq!(reasons, [None, None, None, Some(HoldReason::Digest)]);
    }

    #[test]
    fn incident_end_reaches_recipients_of_its_start() {
        let (opening, end) = (incident(false), incident(true));
        assert_eq!(opening.opened_incident(), Some(IncidentId::from_bits(7)));
        assert_eq!(end.opened_incident(), None);
        let components = vec![ComponentId::from_bits(3)];
        let audience = Audience { topic: Topic::Incidents, components, is_end: true };
        assert_eq!(end.audience(), Some(audience.clone()));
        assert_eq!(opening.audience(), Some(Audience { is_end: false, ..audience }));
    }

    #[test]
    fn opening_waits_for_the_end_of_maintenance() {
        assert_eq!(opening_due_at(None, NOW), NOW);
        assert_eq!(opening_due_at(Some(LATER), NOW), LATER);
        assert_eq!(opening_due_at(Some(NOW), LATER), LATER, "it was stored after the end");
    }

    #[test]
    fn announcements_are_at_most_a_day_old() {
        let day = Duration::from_hours(24);
        assert_eq!(announced_since(None, NOW), NOW);
        assert_eq!(
            announced_since(Some(NOW - Duration::from_hours(1)), NOW),
            NOW - Duration::from_hours(1)
        );
        assert_eq!(announced_since(Some(NOW - 3 * day), NOW), NOW - day);
    }

    #[test]
    fn window_has_one_phase_at_each_time() {
        let window = Span { from: NOW, to: LATER };
        let early = NOW - Duration::from_millis(1);
        assert_eq!(MaintenancePhase::from_window(window, early), MaintenancePhase::Scheduled);
        assert_eq!(MaintenancePhase::from_window(window, NOW), MaintenancePhase::Started);
        assert_eq!(MaintenancePhase::from_window(window, LATER), MaintenancePhase::Completed);
        assert_eq!(window_to_announce(None, Some(window)), Some(window));
        assert_eq!(window_to_announce(Some(window), Some(window)), None);
    }
}
