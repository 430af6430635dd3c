//! When something is told, and why so late: now, once the maintenance or the quiet hours are over, or with
//! the others of its minute. What waited for its time is placed anew when that has come.

use rules::{Interval, Timestamp};

use super::{Hearer, Holds, Placed, Written};
use crate::notify::policy::grouping::{Turn, Window, group};
use crate::notify::policy::hearing::{Hears, Opening, hears};
use crate::notify::policy::quiet::held_until;
use crate::notify::policy::reminder::next_reminder;
use crate::notify::{Event, EventKind};

/// When an event of this kind is told that has come so far, and the minute afterwards. Ends are told
/// during a maintenance too: an alert that is never closed is worse.
pub fn place(
    kind: EventKind,
    now: Timestamp,
    muted_until: Option<Timestamp>,
    hearer: &Hearer,
) -> (Placed, Option<Window>) {
    let is_muted =
        matches!(kind, EventKind::Error | EventKind::Degraded | EventKind::StillDegraded);
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
    // A channel that received the alert receives this too, so that its alert can end.
    let is_wished = is_wished || event.kind == EventKind::StillDegraded;
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
