//! Workspaces that open pages watch, each with its last known version, and the limits of streams.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rules::{UserId, WorkspaceId};
use store::Generation;
use tokio::sync::watch::{Receiver, Sender};

/// Maximum number of streams of a person over all workspaces: one for each open tab.
const STREAMS_PER_PERSON_MAX: usize = 50;
/// Maximum number of streams of a workspace.
const STREAMS_PER_WORKSPACE_MAX: usize = 1_000;

/// Version of a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkspaceVersion {
    pub(crate) generation: Generation,
    /// Number of windows of maintenance that began or ended while the workspace was watched.
    pub(crate) windows: u64,
}

/// Published version of a workspace. `None` until one is known.
pub(crate) type PublishedVersion = Option<WorkspaceVersion>;

impl WorkspaceVersion {
    /// Returns whether only statuses of monitors, with their incidents, changed since `before`.
    pub(crate) const fn has_same_edits(self, before: Self) -> bool {
        self.windows == before.windows && self.generation.has_same_edits(before.generation)
    }
}

/// Watched workspaces.
#[derive(Debug, Default)]
pub(crate) struct LiveFeeds(Mutex<Feeds>);

#[derive(Debug, Default)]
struct Feeds {
    workspaces: HashMap<WorkspaceId, Feed>,
    /// Number of streams of each person. People without streams are removed.
    people: HashMap<UserId, usize>,
}

/// A watched workspace.
#[derive(Debug)]
struct Feed {
    sender: Sender<PublishedVersion>,
    /// Number of streams.
    streams: usize,
}

/// Place of a stream. Dropping it frees the place.
#[derive(Debug)]
pub(crate) struct OpenFeed {
    feeds: Arc<LiveFeeds>,
    workspace: WorkspaceId,
    user: UserId,
    pub(crate) updates: Receiver<PublishedVersion>,
}

impl LiveFeeds {
    /// Opens a stream of a person. Returns `None` if there are too many. Calls `begin` if nothing
    /// watches the workspace yet, and returns what the caller needs to watch it.
    pub(crate) fn open<W>(
        self: &Arc<Self>,
        workspace: WorkspaceId,
        user: UserId,
        begin: impl FnOnce() -> (Sender<PublishedVersion>, (Receiver<PublishedVersion>, W)),
    ) -> Option<(OpenFeed, Option<W>)> {
        let mut feeds = self.lock();
        let of_person = feeds.people.get(&user).copied().unwrap_or_default();
        let of_workspace = feeds.workspaces.get(&workspace).map_or(0, |feed| feed.streams);
        if of_person >= STREAMS_PER_PERSON_MAX || of_workspace >= STREAMS_PER_WORKSPACE_MAX {
            return None;
        }
        let (updates, watcher) = if let Some(feed) = feeds.workspaces.get_mut(&workspace) {
            feed.streams += 1;
            (feed.sender.subscribe(), None)
        } else {
            let (sender, (receiver, watcher)) = begin();
            feeds.workspaces.insert(workspace, Feed { sender, streams: 1 });
            (receiver, Some(watcher))
        };
        *feeds.people.entry(user).or_default() += 1;
        Some((OpenFeed { feeds: Arc::clone(self), workspace, user, updates }, watcher))
    }

    /// Publishes the version of a workspace and returns whether any stream is open. If none is, the
    /// workspace is no longer watched.
    pub(crate) fn publish(&self, workspace: WorkspaceId, version: PublishedVersion) -> bool {
        let mut feeds = self.lock();
        let Some(feed) = feeds.workspaces.get(&workspace) else { return false };
        if feed.streams == 0 {
            feeds.workspaces.remove(&workspace);
            return false;
        }
        feed.sender.send_if_modified(|last| {
            let is_changed = version.is_some() && *last != version;
            if is_changed {
                *last = version;
            }
            is_changed
        });
        true
    }

    fn close(&self, workspace: WorkspaceId, user: UserId) {
        let mut feeds = self.lock();
        if let Some(feed) = feeds.workspaces.get_mut(&workspace) {
            feed.streams -= 1;
        }
        if let Some(streams) = feeds.people.get_mut(&user) {
            *streams -= 1;
            if *streams == 0 {
                feeds.people.remove(&user);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Feeds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenFeed {
    pub(crate) const fn workspace(&self) -> WorkspaceId {
        self.workspace
    }
}

impl Drop for OpenFeed {
    fn drop(&mut self) {
        self.feeds.close(self.workspace, self.user);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch::channel;

    use super::*;

    const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);

    fn open(feeds: &Arc<LiveFeeds>, user: u64) -> Option<(OpenFeed, bool)> {
        open_in(feeds, WORKSPACE, user)
    }

    fn open_in(
        feeds: &Arc<LiveFeeds>,
        workspace: WorkspaceId,
        user: u64,
    ) -> Option<(OpenFeed, bool)> {
        let begin = || {
            let (sender, receiver) = channel(None);
            (sender, (receiver, ()))
        };
        let opened = feeds.open(workspace, UserId::from_bits(user), begin);
        opened.map(|(feed, watcher)| (feed, watcher.is_some()))
    }

    #[test]
    fn workspace_is_watched_once_while_streams_are_open() {
        let feeds = Arc::<LiveFeeds>::default();
        let (first, begins) = open(&feeds, 1).unwrap();
        let (second, begins_again) = open(&feeds, 2).unwrap();
        assert!(begins && !begins_again);
        drop(first);
        assert!(feeds.publish(WORKSPACE, None));
        drop(second);
        assert!(!feeds.publish(WORKSPACE, None));
        assert!(open(&feeds, 1).unwrap().1);
    }

    #[test]
    fn streams_of_a_person_are_limited_over_workspaces() {
        let feeds = Arc::<LiveFeeds>::default();
        let workspace = |number: usize| WorkspaceId::from_bits(number as u64 % 7 + 1);
        let mut streams: Vec<_> = (0..STREAMS_PER_PERSON_MAX)
            .map(|number| open_in(&feeds, workspace(number), 1).unwrap())
            .collect();
        assert!(open(&feeds, 1).is_none());
        assert!(open_in(&feeds, WorkspaceId::from_bits(9), 1).is_none());
        assert!(open(&feeds, 2).is_some());
        streams.pop();
        assert!(open(&feeds, 1).is_some());
    }

    #[test]
    fn streams_are_limited_per_workspace() {
        let feeds = Arc::<LiveFeeds>::default();
        let streams: Vec<_> = (0..STREAMS_PER_WORKSPACE_MAX)
            .map(|number| open(&feeds, (number / STREAMS_PER_PERSON_MAX) as u64).unwrap())
            .collect();
        assert!(open(&feeds, 9_999).is_none());
        drop(streams);
        assert!(open(&feeds, 9_999).is_some());
    }

    #[test]
    fn unknown_version_is_not_published() {
        let feeds = Arc::<LiveFeeds>::default();
        let (mut stream, _) = open(&feeds, 1).unwrap();
        assert!(feeds.publish(WORKSPACE, None) && !stream.updates.has_changed().unwrap());
        stream.updates.borrow_and_update();
    }
}
