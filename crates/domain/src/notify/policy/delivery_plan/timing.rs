//! Computes when to send an event: now, after a maintenance or the quiet hours, or in a digest.
//! Held events are scheduled again when their time has come.

use rules::{Interval, Timestamp};

use super::{ChannelState, DueTime, HoldReason, NewDelivery};
use crate::notify::policy::filter::{FilterDecision, PriorDelivery, filter};
use crate::notify::policy::grouping::{GroupWindow, SendTime, group};
use crate::notify::policy::quiet_hours::held_until;
use crate::notify::policy::reminder::next_reminder_time;
use crate::notify::{Event, EventKind};

/// Schedules an event of this kind, and returns the updated group window. The end of an alert is
/// sent during a maintenance, too: an alert that is never closed would be worse.
pub fn schedule(
    kind: EventKind,
    now: Timestamp,
    muted_until: Option<Timestamp>,
    channel: &ChannelState,
) -> (DueTime, Option<GroupWindow>) {
    let is_muted =
        matches!(kind, EventKind::Error | EventKind::Degraded | EventKind::StillDegraded);
    if let Some(due_at) = muted_until.filter(|until| is_muted && *until > now) {
        return (DueTime { due_at, hold_reason: Some(HoldReason::Maintenance) }, None);
    }
    let quiet = channel.preferences.quiet_hours.as_ref();
    if let Some(due_at) = quiet.and_then(|it| held_until(it, kind, now)) {
        return (DueTime { due_at, hold_reason: Some(HoldReason::QuietHours) }, None);
    }
    let (window, turn) = group(channel.kind, channel.window, now);
    let due = match turn {
        SendTime::Now => DueTime { due_at: now, hold_reason: None },
        SendTime::Grouped(due_at) => DueTime { due_at, hold_reason: Some(HoldReason::Digest) },
    };
    (due, Some(window))
}

/// Schedules an event again whose waiting time is over while its problem lasts, and returns the
/// updated group window. Returns no due time if the event is not to be sent any more.
pub fn reschedule_held(
    event: &Event,
    held: HoldReason,
    now: Timestamp,
    muted_until: Option<Timestamp>,
    channel: &ChannelState,
) -> (Option<DueTime>, Option<GroupWindow>) {
    let opening = if event.reminder > 0 { PriorDelivery::Sent } else { PriorDelivery::NotSent };
    let is_wanted = match held {
        HoldReason::MinDuration | HoldReason::Maintenance => {
            channel.is_linked
                && filter(&channel.preferences, event, opening) == FilterDecision::Send
        }
        HoldReason::QuietHours | HoldReason::Digest => true,
    };
    // A channel that received the alert must receive this too, so that its alert can end.
    let is_wanted = is_wanted || event.kind == EventKind::StillDegraded;
    if !is_wanted {
        return (None, None);
    }
    // An event held for quiet hours is not muted by a maintenance that began since.
    let muted_until = muted_until.filter(|_| held != HoldReason::QuietHours);
    let (due, window) = schedule(event.kind, now, muted_until, channel);
    (Some(due), window)
}

/// Returns the reminder that follows `accepted`, which was delivered `now`, at the channel's
/// interval.
pub fn next_reminder(accepted: &Event, every: Interval, now: Timestamp) -> Option<NewDelivery> {
    if accepted.kind != EventKind::Error {
        return None;
    }
    let (due_at, reminder) = next_reminder_time(accepted.began_at, every, accepted.reminder, now);
    let event = Event { at: due_at, reminder, ..accepted.clone() };
    let due = DueTime { due_at, hold_reason: Some(HoldReason::MinDuration) };
    Some(NewDelivery { event, due, opens: true })
}
