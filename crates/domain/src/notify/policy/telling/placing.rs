//! Computes when to send an event: now, after a maintenance or the quiet hours, or in a digest.
//! Held events are scheduled again when their time has come.

use rules::{Interval, Timestamp};

use super::{Hearer, Holds, Placed, Written};
use crate::notify::policy::grouping::{Turn, Window, group};
use crate::notify::policy::hearing::{Hears, Opening, hears};
use crate::notify::policy::quiet::held_until;
use crate::notify::policy::reminder::next_reminder;
use crate::notify::{Event, EventKind};

/// Schedules an event of this kind, and returns the updated group window. The end of an alert is
/// sent during a maintenance, too: an alert that is never closed would be worse.
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

/// Schedules an event again whose waiting time is over while its problem lasts, and returns the
/// updated group window. Returns no due time if the event is not to be sent any more.
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
    // A channel that received the alert must receive this too, so that its alert can end.
    let is_wished = is_wished || event.kind == EventKind::StillDegraded;
    if !is_wished {
        return (None, None);
    }
    // An event held for quiet hours is not muted by a maintenance that began since.
    let muted_until = muted_until.filter(|_| held != Holds::Quiet);
    let (placed, window) = place(event.kind, now, muted_until, hearer);
    (Some(placed), window)
}

/// Returns the reminder that follows `accepted`, which was delivered `now`, at the channel's
/// interval.
pub fn remind(accepted: &Event, every: Interval, now: Timestamp) -> Option<Written> {
    if accepted.kind != EventKind::Error {
        return None;
    }
    let (due_at, reminder) = next_reminder(accepted.began_at, every, accepted.reminder, now);
    let event = Event { at: due_at, reminder, ..accepted.clone() };
    let place = Placed { due_at, holds: Some(Holds::Lasting) };
    Some(Written { event, place, opens: true })
}
