//! Bulk changes that can still be taken back. They are in memory: a pause or a resume has happened, and
//! its undo does the opposite, as that of a tag does. A deletion happens only at its end. If the server stops before, the
//! monitors stay.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{MonitorId, MonitorKind, Tag, Timestamp, UserId, WorkspaceId};

/// Time in which a change that happened can be taken back.
const UNDO_WINDOW: Duration = Duration::from_mins(1);
/// Time before monitors are deleted.
pub(crate) const DELETION_WINDOW: Duration = Duration::from_secs(10);
/// Maximum number of a person's changes that can be taken back, over all workspaces. A change names up to
/// all monitors of a fleet. The oldest that happened make room.
const OF_PERSON_MAX: usize = 20;
/// Maximum number of a workspace's changes that can be taken back.
const OF_WORKSPACE_MAX: usize = 100;

/// Bulk changes of all workspaces, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Undos(Mutex<Vec<BulkChange>>);

/// Effect of a bulk change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BulkAction {
    Pause,
    Resume,
    AddTag(Tag),
    RemoveTag(Tag),
    Delete,
}

/// A monitor of a bulk change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenMonitor {
    pub(crate) id: MonitorId,
    pub(crate) kind: MonitorKind,
    /// Removed tag, in the case in which the monitor had it.
    pub(crate) removed: Option<Tag>,
}

/// A bulk change of one person.
#[derive(Clone, Debug)]
pub(crate) struct BulkChange {
    /// Name of the change in forms.
    pub(crate) token: String,
    pub(crate) workspace: WorkspaceId,
    pub(crate) user: UserId,
    pub(crate) action: BulkAction,
    pub(crate) monitors: Arc<[ChosenMonitor]>,
    /// End of the time in which it can be taken back.
    pub(crate) until: Timestamp,
}

impl BulkAction {
    pub(crate) const fn window(&self) -> Duration {
        match self {
            Self::Pause | Self::Resume | Self::AddTag(_) | Self::RemoveTag(_) => UNDO_WINDOW,
            Self::Delete => DELETION_WINDOW,
        }
    }
}

impl BulkChange {
    /// Returns a sentence about the change.
    pub(crate) fn text(&self) -> String {
        let count = self.monitors.len();
        let monitors = if count == 1 { "monitor" } else { "monitors" };
        match &self.action {
            BulkAction::Pause => format!("{count} {monitors} paused."),
            BulkAction::Resume => format!("{count} {monitors} resumed."),
            BulkAction::AddTag(tag) => format!("{count} {monitors} got the tag “{tag}”."),
            BulkAction::RemoveTag(tag) => format!("{count} {monitors} lost the tag “{tag}”."),
            BulkAction::Delete => {
                let seconds = DELETION_WINDOW.as_secs();
                format!("{count} {monitors} will be deleted within {seconds} seconds.")
            }
        }
    }
}

impl BulkChange {
    /// Returns whether it is a deletion that did not happen yet. It stays until its task takes it.
    fn is_waiting(&self) -> bool {
        self.action == BulkAction::Delete
    }
}

/// Removes the oldest of these changes that happened, if there are `most`. Returns whether there is room.
fn make_room(
    changes: &mut Vec<BulkChange>,
    most: usize,
    is_counted: impl Fn(&BulkChange) -> bool,
) -> bool {
    if changes.iter().filter(|known| is_counted(known)).count() < most {
        return true;
    }
    let oldest = changes.iter().position(|known| is_counted(known) && !known.is_waiting());
    oldest.map(|oldest| changes.remove(oldest)).is_some()
}

impl Undos {
    /// Adds a change. Returns false if too many deletions of the person or the workspace are waiting.
    /// Those of others do not count.
    pub(crate) fn add(&self, change: BulkChange, now: Timestamp) -> bool {
        let mut changes = self.lock();
        changes.retain(|known| known.until > now || known.is_waiting());
        let of_person = |known: &BulkChange| known.user == change.user;
        let of_workspace = |known: &BulkChange| known.workspace == change.workspace;
        let has_room = make_room(&mut changes, OF_PERSON_MAX, of_person)
            && make_room(&mut changes, OF_WORKSPACE_MAX, of_workspace);
        if has_room {
            changes.push(change);
        }
        has_room
    }

    /// Removes and returns a change of this workspace. Returns `None` if it was taken before.
    pub(crate) fn take(&self, workspace: WorkspaceId, token: &str) -> Option<BulkChange> {
        let mut changes = self.lock();
        let place = changes.iter().position(|it| it.workspace == workspace && it.token == token)?;
        Some(changes.remove(place))
    }

    /// Returns the changes that a person can take back.
    pub(crate) fn of_user(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        now: Timestamp,
    ) -> Vec<BulkChange> {
        let is_theirs =
            |it: &&BulkChange| it.workspace == workspace && it.user == user && it.until > now;
        self.lock().iter().filter(is_theirs).cloned().collect()
    }

    /// Returns the monitors of a workspace that are about to be deleted.
    pub(crate) fn leaving(&self, workspace: WorkspaceId) -> HashSet<MonitorId> {
        let changes = self.lock();
        let deletions = changes
            .iter()
            .filter(|it| it.workspace == workspace && it.action == BulkAction::Delete);
        deletions.flat_map(|it| it.monitors.iter().map(|monitor| monitor.id)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<BulkChange>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: WorkspaceId = WorkspaceId::from_bits(1);
    const THEIRS: WorkspaceId = WorkspaceId::from_bits(2);
    const ADA: UserId = UserId::from_bits(1);
    const BOB: UserId = UserId::from_bits(2);

    fn change(token: &str, action: BulkAction, until: i64) -> BulkChange {
        let id = MonitorId::from_bits(7);
        let monitor = ChosenMonitor { id, kind: MonitorKind::Http, removed: None };
        BulkChange {
            token: token.to_owned(),
            workspace: OURS,
            user: ADA,
            action,
            monitors: Arc::new([monitor]),
            until: Timestamp::from_millis(until),
        }
    }

    #[test]
    fn change_is_taken_once_in_its_workspace() {
        let undos = Undos::default();
        assert!(undos.add(change("one", BulkAction::Delete, 9), Timestamp::from_millis(0)));
        assert!(undos.leaving(OURS).contains(&MonitorId::from_bits(7)));
        assert!(undos.leaving(THEIRS).is_empty() && undos.take(THEIRS, "one").is_none());
        assert_eq!(undos.take(OURS, "one").unwrap().token, "one");
        assert!(undos.take(OURS, "one").is_none() && undos.leaving(OURS).is_empty());
    }

    #[test]
    fn change_is_offered_to_its_author_in_time() {
        let undos = Undos::default();
        assert!(undos.add(change("one", BulkAction::Pause, 9), Timestamp::from_millis(0)));
        let offered = |user, at| undos.of_user(OURS, user, Timestamp::from_millis(at)).len();
        assert_eq!([offered(ADA, 8), offered(ADA, 9), offered(BOB, 8)], [1, 0, 0]);
    }

    #[test]
    fn oldest_pause_makes_room_and_deletions_stay() {
        let (undos, now) = (Undos::default(), Timestamp::from_millis(0));
        assert!(undos.add(change("pause", BulkAction::Pause, 9), now));
        let delete = |number: usize| change(&number.to_string(), BulkAction::Delete, 9);
        assert!((1..=OF_PERSON_MAX).all(|number| undos.add(delete(number), now)));
        assert!(undos.take(OURS, "pause").is_none());
        assert!(!undos.add(change("late", BulkAction::Pause, 99), Timestamp::from_millis(50)));
        assert_eq!(undos.leaving(OURS).len(), 1);
        assert!(undos.take(OURS, "1").is_some());
    }

    #[test]
    fn changes_of_others_leave_room() {
        let (undos, now) = (Undos::default(), Timestamp::from_millis(0));
        let by = |workspace: u64, user: u64, number: usize| BulkChange {
            workspace: WorkspaceId::from_bits(workspace),
            user: UserId::from_bits(user),
            ..change(&number.to_string(), BulkAction::Delete, 9)
        };
        // One person in many workspaces has the places of one person.
        for number in 0..OF_PERSON_MAX {
            assert!(undos.add(by(number as u64 + 10, 1, number), now));
        }
        assert!(!undos.add(by(1, 1, 99), now));
        let people = OF_WORKSPACE_MAX / OF_PERSON_MAX;
        for number in 0..OF_WORKSPACE_MAX {
            assert!(undos.add(by(1, (number % people) as u64 + 2, number), now));
        }
        assert!(!undos.add(by(1, 99, 100), now) && undos.add(by(2, 99, 100), now));
    }
}
