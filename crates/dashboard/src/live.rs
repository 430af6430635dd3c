//! Live updates: one stream for each open page, which says that what the page shows changed. The browser
//! then loads the page again and replaces the parts that differ. `live_topic` says what a page shows, and
//! `live_feeds` connects the streams of a workspace with one task, `live_watch`, so that a hundred open
//! pages cost one look at a number in memory. While nothing changes, they read nothing.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::stream;
use http::header::{CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use store::{Subject, SubjectWatch};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use crate::error::ScreenError;
use crate::extract::Asked;
use crate::live_feeds::{OpenFeed, PublishedVersion, WorkspaceVersion};
use crate::live_topic::{ANSWER_WITHIN, LiveTopic, TopicWatches, regions_digest};
use crate::live_watch;
use crate::region_digests::RegionsDigest;
use crate::route::{Route, VIEWER};
use crate::session::{self, Member};
use crate::state::Dashboard;

/// Minimum time between two events of a stream.
const EVENT_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum time between an event and the next for frequent changes, such as results.
const FREQUENT_INTERVAL: Duration = Duration::from_secs(15);
/// Interval at which the health of regions is read, once for all pages.
const REGIONS_INTERVAL: Duration = Duration::from_millis(500);
/// Interval at which a stream checks that its session has not expired. It learns of other ends at once.
const SESSION_INTERVAL: Duration = Duration::from_mins(5);
/// Interval of comments that keep the connection open through proxies.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
/// Seconds after which a rejected browser tries again.
const RETRY_SECONDS: &str = "30";

pub(crate) const ROUTES: &[Route] = &[Route::get("/w/{workspace}/events", VIEWER, || get(show))];

/// Topic of a page, by its name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EventsQuery {
    on: String,
}

/// A stream to one page.
struct LiveStream {
    state: Dashboard,
    feed: OpenFeed,
    topic: LiveTopic,
    watches: TopicWatches,
    /// Ends of the person's sessions.
    sessions: SubjectWatch,
    /// Version of the workspace that the page has, if it is known.
    seen: PublishedVersion,
    regions: Option<RegionsDigest>,
    regions_at: Instant,
    member: Member,
    /// Headers of the request, with the session.
    headers: HeaderMap,
    address: IpAddr,
    /// Time before which no event is sent.
    quiet_until: Instant,
    /// Time before which no event is sent for frequent changes only.
    calm_until: Instant,
    session_check_at: Instant,
}

/// Changes since the last event.
#[derive(Clone, Copy, Debug, Default)]
struct PendingChanges {
    is_prompt: bool,
    is_frequent: bool,
}

/// Streams an event named `changed` after each change of the topic, at most one a second.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ScreenError> {
    let (workspace, user) = (member.workspace(), member.signed_in.user.id);
    let topic = LiveTopic::parse(&asked.on);
    let begin = || {
        let windows = 0;
        let version = state.store.generation(workspace);
        let version = version.map(|generation| WorkspaceVersion { generation, windows });
        let (sender, receiver) = watch::channel(version);
        (sender, (receiver, state.clone()))
    };
    let Some((feed, watcher)) = state.live.open(workspace, user, begin) else {
        let refused = (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, RETRY_SECONDS)]);
        return Ok(refused.into_response());
    };
    if let Some(state) = watcher {
        tokio::spawn(live_watch::watch(state, workspace));
    }
    // Taken before the topic is read, so that a change in between is not overlooked.
    let seen = *feed.updates.borrow();
    let watches = topic.watch(&state, workspace).await?;
    let stream = LiveStream::new(state, (feed, seen), (topic, watches), (member, headers));
    let events = stream::unfold(stream, async |mut stream| {
        stream.next().await?;
        Some((Ok::<_, Infallible>(Event::default().event("changed").data("1")), stream))
    });
    let events = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL));
    Ok(([(CACHE_CONTROL, "no-store")], events).into_response())
}

impl LiveStream {
    fn new(
        state: Dashboard,
        (feed, seen): (OpenFeed, PublishedVersion),
        (topic, watches): (LiveTopic, TopicWatches),
        (member, headers): (Member, HeaderMap),
    ) -> Self {
        let (now, address) = (Instant::now(), member.signed_in.address);
        let sessions = vec![Subject::Sessions(member.signed_in.user.id)];
        let sessions = state.store.watch_subjects(sessions);
        Self {
            state,
            feed,
            topic,
            watches,
            sessions,
            seen,
            regions: None,
            regions_at: now,
            member,
            headers,
            address,
            quiet_until: now,
            calm_until: now,
            // The session may have ended before the watch began.
            session_check_at: now,
        }
    }

    /// Waits for the next change. Returns `None` when the session or the membership ended, or the
    /// server stops.
    async fn next(&mut self) -> Option<()> {
        let stop = self.state.stop.clone();
        let mut pending = PendingChanges::default();
        loop {
            let due_at = if pending.is_prompt { self.quiet_until } else { self.calm_until };
            tokio::select! {
                () = stop.cancelled() => return None,
                changed = self.feed.updates.changed(), if !pending.is_prompt => {
                    changed.ok()?;
                    let is_edit = self.take_version();
                    if is_edit && !self.is_allowed().await {
                        return None;
                    }
                    pending.is_prompt = self.is_concerned(is_edit).await;
                }
                () = changed(self.watches.prompt.as_ref()), if !pending.is_prompt => {
                    pending.is_prompt = true;
                }
                () = changed(self.watches.frequent.as_ref()), if !pending.is_frequent => {
                    pending.is_frequent = true;
                }
                () = sleep_until(self.regions_at), if self.topic == LiveTopic::Regions => {
                    self.compare_regions(&mut pending).await;
                }
                () = sleep_until(due_at), if pending.is_prompt || pending.is_frequent => {
                    let now = Instant::now();
                    self.quiet_until = now + EVENT_INTERVAL;
                    self.calm_until = now + FREQUENT_INTERVAL;
                    return Some(());
                }
                () = self.sessions.changed() => self.session_check_at = Instant::now(),
                () = sleep_until(self.session_check_at) => {
                    self.session_check_at = Instant::now() + SESSION_INTERVAL;
                    if !self.is_allowed().await {
                        return None;
                    }
                }
            }
        }
    }

    /// Takes the new version of the workspace. Returns whether more than statuses changed, such as
    /// resources or members.
    fn take_version(&mut self) -> bool {
        let version = *self.feed.updates.borrow_and_update();
        let has_same_edits =
            self.seen.zip(version).is_some_and(|(seen, now)| now.has_same_edits(seen));
        self.seen = version;
        !has_same_edits
    }

    /// Returns whether the new version concerns the topic, and watches its new subjects.
    async fn is_concerned(&mut self, is_edit: bool) -> bool {
        if is_edit && self.topic == LiveTopic::Deliveries {
            let watched = self.topic.watch(&self.state, self.feed.workspace());
            match timeout(ANSWER_WITHIN, watched).await {
                Ok(Ok(watches)) => self.watches = watches,
                // The next change tries again.
                Ok(Err(_)) | Err(_) => self.seen = None,
            }
        }
        is_edit || self.topic.has_all_statuses()
    }

    async fn compare_regions(&mut self, pending: &mut PendingChanges) {
        self.regions_at = Instant::now() + REGIONS_INTERVAL;
        let now = regions_digest(&self.state, self.member.caller()).await;
        if let Some((before, now)) = self.regions.zip(now) {
            pending.is_prompt |= before.health != now.health;
            pending.is_frequent |= before.checks != now.checks;
        }
        self.regions = now.or(self.regions);
    }

    /// Returns whether the person may still see the workspace. If the database does not answer, they
    /// may.
    async fn is_allowed(&self) -> bool {
        let workspace = self.feed.workspace();
        let found = session::find(&self.state, &self.headers, self.address);
        match timeout(ANSWER_WITHIN, found).await {
            Ok(Ok(Some(found))) => found.memberships.iter().any(|it| it.workspace.id == workspace),
            Ok(Ok(None)) => false,
            Err(_) | Ok(Err(_)) => true,
        }
    }
}

/// Waits until a subject changes, forever without a watch.
async fn changed(watch: Option<&SubjectWatch>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}
