//! What a change of a monitor means for one channel: what is written for it, what waits for longer and
//! why, what was held and is over before it was told. Pure: what the channel was told comes in as values.

use std::time::Duration;

use rules::notification::{WishedEvent, Wishes};
use rules::{IncidentId, Interval, MonitorStatus, ProviderType, Timestamp};

use super::grouping::{Turn, Window, group};
use super::hearing::{Hears, Opening, degraded_due, hears, superseded};
use super::quiet::held_until;
use super::reminder::next_reminder;
use crate::judge::{IncidentChange, Transition};
use crate::notify::{Ended, Event, EventKind, Grounds, Subject, keeps_alerts};

/// Why something waits without having been tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// It is told only if it lasts until then: degradations and reminders.
    Lasting,
    /// It is told when the maintenance ends, if it lasts until then.
    Maintenance,
    /// It is told when the quiet hours end, whatever happened since.
    Quiet,
    /// It is told with others of its minute.
    Storm,
}

/// A change of a monitor that people may be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// It is down: an incident opened.
    Down(IncidentId),
    /// What it was is over: an incident that was open, and a degradation unless it is one now.
    Over {
        /// The incident that closed.
        incident: Option<IncidentId>,
        /// What ended it.
        how: Ended,
    },
    /// It is slow or partly failing, and was not down before.
    Degraded,
    /// Nothing is known of it any more.
    Unsure,
}

/// What is known of the change, the same for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// When it happened: now.
    pub at: Timestamp,
    /// Name of the workspace.
    pub workspace: String,
    /// What it happened to.
    pub monitor: Subject,
    /// How often the monitor is checked.
    pub period: Duration,
    /// Why, with what each region saw.
    pub grounds: Grounds,
    /// When the maintenance ends that is on for the monitor.
    pub muted_until: Option<Timestamp>,
}

/// A channel, with what it was told of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hearer {
    /// What kind of channel.
    pub kind: ProviderType,
    /// What it wants to hear.
    pub wishes: Wishes,
    /// Whether it tells of this monitor. One that did so before only hears the end of what it heard.
    pub is_linked: bool,
    /// The minute it is in.
    pub window: Option<Window>,
    /// What it was told, or is about to be, and that is not over for it.
    pub told: Vec<Told>,
}

/// A delivery that tells of something which is not over for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The store's number of it.
    pub delivery: i64,
    /// What it tells of.
    pub matter: Matter,
    /// Since when that lasts.
    pub since: Timestamp,
    /// The number of the reminder; 0 where it is none.
    pub reminder: u32,
    /// How far it came.
    pub stands: Stands,
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// An incident.
    Incident(IncidentId),
    /// A degradation, also one that an incident ended as.
    Degradation,
}

/// How far a delivery came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// It arrived, or is being tried.
    Sent,
    /// It waits until then, untried.
    Held(Holds, Timestamp),
    /// It is a dead letter.
    Lost,
}

/// What a change means for a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// What is written for it, in this order.
    pub written: Vec<Written>,
    /// Deliveries that are never told: what they tell of is over.
    pub cancelled: Vec<i64>,
    /// Deliveries that told of something which is over now.
    pub over: Vec<i64>,
    /// The minute the channel is in, where that changed.
    pub window: Option<Window>,
}

/// A delivery that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it tells.
    pub event: Event,
    /// When, and why so late.
    pub place: Placed,
    /// Whether it tells of something that lasts, and whose end the channel is to hear.
    pub opens: bool,
}

/// When something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Not before.
    pub due_at: Timestamp,
    /// Why it waits until then; `None` where it is told at once.
    pub holds: Option<Holds>,
}

impl Holds {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Lasting, Self::Maintenance, Self::Quiet, Self::Storm];

    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lasting => "lasting",
            Self::Maintenance => "maintenance",
            Self::Quiet => "quiet",
            Self::Storm => "storm",
        }
    }

    /// The reason of this word.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|holds| holds.as_str() == word);
        known.copied().ok_or_else(|| format!("`{word}` is no reason to wait"))
    }
}

impl Occasion {
    /// What a transition is; `None` where people are told nothing, whatever they heard.
    pub fn of(transition: &Transition) -> Option<Self> {
        match (transition.incident, transition.to) {
            (IncidentChange::Opened(id), _) => Some(Self::Down(id)),
            (IncidentChange::Closed { id, how }, _) => {
                Some(Self::Over { incident: Some(id), how: how.into() })
            }
            (IncidentChange::Suspended(_) | IncidentChange::Resumed(_), _)
            | (IncidentChange::None, MonitorStatus::Error) => None,
            (IncidentChange::None, MonitorStatus::Active) => {
                Some(Self::Over { incident: None, how: Ended::Recovered })
            }
            (IncidentChange::None, MonitorStatus::Degraded) => Some(Self::Degraded),
            (IncidentChange::None, MonitorStatus::Unknown) => Some(Self::Unsure),
        }
    }
}

/// What a change means for a channel.
pub fn tell(occasion: Occasion, scene: &Scene, hearer: &Hearer) -> Telling {
    let mut teller = Teller { scene, hearer, telling: Telling::default() };
    match occasion {
        Occasion::Down(incident) => teller.down(incident),
        Occasion::Over { incident, how } => teller.over(incident, how),
        Occasion::Degraded => teller.degraded(),
        Occasion::Unsure => teller.forget_held(),
    }
    teller.telling
}

/// When an event of this kind is told that has come so far, and the minute afterwards. Ends are told
/// during a maintenance too: an alert that is never closed is worse.
pub fn place(
    kind: EventKind,
    now: Timestamp,
    muted_until: Option<Timestamp>,
    hearer: &Hearer,
) -> (Placed, Option<Window>) {
    let is_muted = matches!(kind, EventKind::Error | EventKind::Degraded);
    if let Some(due_at) = muted_until.filter(|until| is_muted && *until > now) {
        return (Placed { due_at, holds: Some(Holds::Maintenance) }, None);
    }
    let quiet = hearer.wishes.quiet_hours.as_ref();
    if let Some(due_at) = quiet.and_then(|it| held_until(it, kind, now)) {
        return (Placed { due_at, holds: Some(Holds::Quiet) }, None);
    }
    let (window, turn) = group(hearer.kind, hearer.window, now);
    let placed = match turn {
        Turn::AtOnce => Placed { due_at: now, holds: None },
        Turn::With(due_at) => Placed { due_at, holds: Some(Holds::Storm) },
    };
    (placed, Some(window))
}

/// What becomes of an event whose time to wait is over, and the minute afterwards: when it is told, or
/// `None` where it is not any more. What it tells of still lasts.
pub fn ripen(
    event: &Event,
    held: Holds,
    now: Timestamp,
    muted_until: Option<Timestamp>,
    hearer: &Hearer,
) -> (Option<Placed>, Option<Window>) {
    let opening = if event.reminder > 0 { Opening::Heard } else { Opening::NotHeard };
    let is_wished = match held {
        Holds::Lasting | Holds::Maintenance => {
            hearer.is_linked && hears(&hearer.wishes, event, opening) == Hears::Yes
        }
        Holds::Quiet | Holds::Storm => true,
    };
    if !is_wished {
        return (None, None);
    }
    // What was told to be quiet is not muted by a maintenance that began since.
    let muted_until = muted_until.filter(|_| held != Holds::Quiet);
    let (placed, window) = place(event.kind, now, muted_until, hearer);
    (Some(placed), window)
}

/// The reminder that follows when `accepted` arrived `now`, of a channel that is reminded so often.
pub fn remind(accepted: &Event, every: Interval, now: Timestamp) -> Option<Written> {
    if accepted.kind != EventKind::Error {
        return None;
    }
    let (due_at, reminder) = next_reminder(accepted.began_at, every, accepted.reminder, now);
    let event = Event { at: due_at, reminder, ..accepted.clone() };
    let place = Placed { due_at, holds: Some(Holds::Lasting) };
    Some(Written { event, place, opens: true })
}

/// The end of what `opening` told of.
pub fn end_of(opening: &Event, at: Timestamp, how: Ended) -> Event {
    Event {
        kind: EventKind::Recovered,
        at,
        closed: Some(how),
        grounds: Grounds::default(),
        reminder: 0,
        ..opening.clone()
    }
}

impl Told {
    /// Whether the channel counts as having heard it.
    fn is_heard(&self) -> bool {
        let stands = match self.stands {
            Stands::Sent | Stands::Held(Holds::Quiet | Holds::Storm, _) => true,
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) | Stands::Lost => false,
        };
        stands && self.reminder == 0
    }

    /// Whether it is never told when what it tells of is over.
    fn is_void_when_over(&self) -> bool {
        match self.stands {
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) => true,
            Stands::Held(Holds::Quiet | Holds::Storm, _) => self.reminder > 0,
            Stands::Sent | Stands::Lost => false,
        }
    }
}

struct Teller<'a> {
    scene: &'a Scene,
    hearer: &'a Hearer,
    telling: Telling,
}

impl Teller<'_> {
    fn down(&mut self, incident: IncidentId) {
        self.end_others(incident);
        let of_this = |told: &&Told| told.matter == Matter::Incident(incident);
        let error = Event { incident: Some(incident), ..self.event(EventKind::Error) };
        let is_told = self.hearer.told.iter().any(|told| of_this(&told));
        let hears = hears(&self.hearer.wishes, &error, Opening::NotHeard);
        if is_told || !self.hearer.is_linked || hears != Hears::Yes {
            return self.forget_held();
        }
        let muted = self.scene.muted_until.is_some_and(|until| until > self.scene.at);
        for told in self.degradations() {
            match told.stands {
                Stands::Held(Holds::Lasting | Holds::Maintenance, _) => {
                    self.telling.cancelled.push(told.delivery);
                }
                // The error says more, and does not wait for the morning behind it.
                Stands::Held(Holds::Quiet, _) if !muted => {
                    self.telling.cancelled.push(told.delivery);
                }
                Stands::Held(_, _) | Stands::Sent if !muted => {
                    if let Some(end) = superseded(self.hearer.kind, &error, told.since) {
                        self.telling.over.push(told.delivery);
                        self.write(end, false);
                    }
                }
                Stands::Held(_, _) | Stands::Sent | Stands::Lost => {}
            }
        }
        self.write(error, true);
    }

    /// An older incident that is still open when the next one opens ends with that.
    fn end_others(&mut self, incident: IncidentId) {
        let others = self.hearer.told.iter().filter_map(|told| match told.matter {
            Matter::Incident(id) if id != incident => Some(id),
            Matter::Incident(_) | Matter::Degradation => None,
        });
        let mut others: Vec<_> = others.collect();
        others.dedup();
        for other in others {
            self.incident_over(other, Ended::Recovered);
        }
    }

    fn over(&mut self, incident: Option<IncidentId>, how: Ended) {
        let is_told = incident.is_some_and(|incident| self.incident_over(incident, how));
        if how == Ended::Degraded {
            let knows = is_told && self.wants_degraded();
            if !knows {
                self.degraded();
            }
            return;
        }
        self.forget_held();
        let degradations = self.degradations();
        let heard: Vec<_> = degradations.iter().filter(|told| told.is_heard()).collect();
        let since = heard.iter().map(|told| told.since).min();
        let needs_end = !is_told || keeps_alerts(self.hearer.kind);
        if let Some(since) = since.filter(|_| needs_end) {
            let end = Event { incident: None, ..self.end(since, how) };
            let (placed, _) = self.place(end.kind);
            let late = |told: &&Told| matches!(told.stands, Stands::Held(Holds::Quiet, due_at) if due_at > placed.due_at);
            if heard.iter().all(|told| late(told)) {
                // It began and ended while nobody was to be disturbed by it.
                self.telling.cancelled.extend(heard.iter().map(|told| told.delivery));
                return;
            }
            self.tell_end(end);
        }
        let cancelled = &self.telling.cancelled;
        let over = degradations.iter().filter(|told| !cancelled.contains(&told.delivery));
        let over: Vec<_> = over.map(|told| told.delivery).collect();
        self.telling.over.extend(over);
    }

    /// An incident is over; says whether the channel is told so.
    fn incident_over(&mut self, incident: IncidentId, how: Ended) -> bool {
        let of_it = self.hearer.told.iter().filter(|it| it.matter == Matter::Incident(incident));
        let mut since = None;
        for told in of_it {
            if told.is_void_when_over() {
                self.telling.cancelled.push(told.delivery);
                continue;
            }
            self.telling.over.push(told.delivery);
            since = since.or(Some(told.since).filter(|_| told.is_heard()));
        }
        let Some(since) = since else { return false };
        let end = Event { incident: Some(incident), ..self.end(since, how) };
        self.tell_end(end)
    }

    fn degraded(&mut self) {
        let event = self.event(EventKind::Degraded);
        let degradations = self.degradations();
        let is_held = degradations.iter().any(Told::is_void_when_over);
        let is_heard = degradations.iter().any(Told::is_heard);
        let opening = if is_heard { Opening::Heard } else { Opening::NotHeard };
        let hears = hears(&self.hearer.wishes, &event, opening);
        if is_held || !self.hearer.is_linked || hears != Hears::Yes {
            return;
        }
        let due_at = degraded_due(self.scene.at, self.scene.period);
        let event = Event { at: due_at, ..event };
        let place = Placed { due_at, holds: Some(Holds::Lasting) };
        self.telling.written.push(Written { event, place, opens: true });
    }

    /// What was to be told of a degradation if it lasts is not told.
    fn forget_held(&mut self) {
        let held = self.degradations().into_iter().filter(Told::is_void_when_over);
        self.telling.cancelled.extend(held.map(|told| told.delivery));
    }

    fn tell_end(&mut self, end: Event) -> bool {
        let is_wished = hears(&self.hearer.wishes, &end, Opening::Heard) == Hears::Yes;
        if is_wished {
            let knows_more = end.closed == Some(Ended::Degraded) && self.wants_degraded();
            self.write(end, knows_more);
        }
        is_wished
    }

    fn write(&mut self, event: Event, opens: bool) {
        let (place, window) = self.place(event.kind);
        self.telling.window = window.or(self.telling.window);
        self.telling.written.push(Written { event, place, opens });
    }

    fn place(&self, kind: EventKind) -> (Placed, Option<Window>) {
        let window = self.telling.window.or(self.hearer.window);
        let hearer = Hearer { window, told: Vec::new(), ..self.hearer.clone() };
        place(kind, self.scene.at, self.scene.muted_until, &hearer)
    }

    fn wants_degraded(&self) -> bool {
        self.hearer.wishes.want(WishedEvent::Degraded)
    }

    fn degradations(&self) -> Vec<Told> {
        let told = self.hearer.told.iter();
        told.filter(|told| told.matter == Matter::Degradation).copied().collect()
    }

    fn end(&self, since: Timestamp, how: Ended) -> Event {
        let closed = Some(how);
        Event { began_at: since, closed, ..self.event(EventKind::Recovered) }
    }

    fn event(&self, kind: EventKind) -> Event {
        let scene = self.scene;
        Event {
            kind,
            at: scene.at,
            workspace: scene.workspace.clone(),
            monitor: scene.monitor.clone(),
            incident: None,
            began_at: scene.at,
            closed: None,
            grounds: scene.grounds.clone(),
            reminder: 0,
        }
    }
}
