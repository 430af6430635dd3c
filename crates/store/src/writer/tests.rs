//! Tests which thread writes to the embedded database, how its connection commits, and how panics
//! are handled.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::thread::{self, ThreadId};
use std::time::Duration;

use domain::notify::GroupWindow;
use futures_util::FutureExt as _;
use rules::{ChannelId, Timestamp};

use super::*;
use crate::db::query;
use crate::{Database, MasterKeySource, Settings, Store};

/// Longer than any step takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Values of `PRAGMA synchronous` for a connection that syncs each commit, and for one that does
/// not.
const FULL: i64 = 2;
const NORMAL: i64 = 1;

const SOON: Begin = Begin::ByWork(Durability::Soon);
const AT_ONCE: Begin = Begin::ByWork(Durability::AtOnce);

const CREATE: &str = "CREATE TABLE words (word TEXT)";
const ADD: &str = "INSERT INTO words VALUES ('one')";
const CHANGE_NOTHING: &str = "UPDATE words SET word = 'two' WHERE word = 'none'";
/// Limits the database to its current size. SQLite reports more as a full disk.
const LIMIT: &str = "PRAGMA max_page_count = 1";
const UNLIMIT: &str = "PRAGMA max_page_count = 1000000";
const ADD_MANY: &str = "INSERT INTO words VALUES (hex(zeroblob(100000)))";
const FAIL: &str = "INSERT INTO nowhere VALUES (1)";

/// Opens a store with a table to write to.
async fn a_store(folder: &Path) -> Store {
    let (database, master_key) = (Database::Embedded, MasterKeySource::File);
    let settings = Settings { folder: folder.join("data"), database, master_key };
    let store = Store::open(settings).await.unwrap();
    store.writer().write(Begin::First, |session| run(session, CREATE)).await.unwrap();
    store
}

/// Runs a statement and returns the thread it ran on.
fn run<'s>(session: &'s mut Session, statement: &'static str) -> Work<'s, ThreadId> {
    Box::pin(async move {
        query(statement).execute(&mut session.db).await?;
        Ok(thread::current().id())
    })
}

/// Returns the sync mode of the connection.
fn how_it_commits(session: &mut Session) -> Work<'_, Option<i64>> {
    Box::pin(async { Ok(query("PRAGMA synchronous").scalar(&mut session.db).await?) })
}

/// Creates a task and the receiver of its reply.
fn task<T: Send + 'static>(
    begin: Begin,
    work: impl for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
) -> (Box<dyn Task>, ReplyReceiver<T>) {
    let (task, reply) = Pending::new(begin, work);
    (Box::new(task), reply)
}

/// Returns the committed words.
async fn words(store: &Store) -> Vec<String> {
    let rows = query("SELECT word FROM words ORDER BY word");
    let rows = rows.fetch_all(&mut store.read().await.unwrap()).await.unwrap();
    rows.iter().map(|row| row.try_get("word").unwrap()).collect()
}

/// Retries until the writer is idle, because work is only done in place then.
async fn once<T>(mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let attempts = async {
        loop {
            if let Some(done) = attempt().await {
                return done;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, attempts).await.expect("the attempt succeeds in time")
}

async fn thread_of(writer: &Writer, begin: Begin) -> ThreadId {
    let work = writer.write_inline(begin, |_| Box::pin(async { Ok(thread::current().id()) }));
    work.await.unwrap()
}

#[tokio::test]
async fn caller_writes_unless_writer_is_busy_or_slow() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let (writer, here) = (store.writer(), thread::current().id());
    let alone = async || Some(thread_of(writer, SOON).await).filter(|it| *it == here);
    once(alone).await;

    let session = writer.session.lock().await;
    let work = thread_of(writer, SOON);
    let (there, ()) = tokio::join!(work, async { drop(session) });
    assert_ne!(there, here, "another thread held the session");

    // Pretends that commits take an hour. Reads do not change that.
    for (durable, begin) in [(Durability::AtOnce, AT_ONCE), (Durability::Soon, SOON)] {
        writer
            .session
            .lock()
            .await
            .as_mut()
            .unwrap()
            .record_commit(durable, Duration::from_hours(1));
        assert_ne!(thread_of(writer, begin).await, here, "{durable:?}");
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn plain_results_are_committed_without_sync() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let mut session = store.writer().session.lock().await;
    let session = session.as_mut().unwrap();
    for (group, synchronous) in [
        (&[SOON][..], NORMAL),
        (&[AT_ONCE], FULL),
        (&[SOON, SOON], NORMAL),
        (&[SOON, AT_ONCE], FULL),
        (&[SOON], NORMAL),
        (&[Begin::First], FULL),
    ] {
        let works = group.iter().map(|begin| task(*begin, how_it_commits));
        let (tasks, replies): (Vec<_>, Vec<_>) = works.unzip();
        session.run_group(tasks).await;
        for reply in replies {
            assert_eq!(reply.await.unwrap().unwrap(), Some(synchronous), "{group:?}");
        }
    }
}

#[tokio::test]
async fn empty_commit_leaves_earlier_commits_unsynced() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let mut session = store.writer().session.lock().await;
    let session = session.as_mut().unwrap();
    for (what, statements, waits) in [
        ("results", &[(SOON, ADD)][..], true),
        ("a change of nothing", &[(AT_ONCE, CHANGE_NOTHING)], true),
        ("a refusal", &[(AT_ONCE, FAIL)], true),
        ("refusals", &[(AT_ONCE, FAIL), (AT_ONCE, FAIL)], true),
        ("a change", &[(AT_ONCE, ADD)], false),
        ("nothing of results", &[(SOON, CHANGE_NOTHING)], false),
        ("results and a change", &[(SOON, ADD), (AT_ONCE, ADD)], false),
    ] {
        let tasks = statements.iter().map(|&(begin, statement)| {
            let (task, _) = task(begin, move |session| run(session, statement));
            task
        });
        session.run_group(tasks.collect()).await;
        assert_eq!(session.is_unsynced(), waits, "{what}");
    }
}

/// Changes the outbox's cache for a channel, then runs a statement.
fn enqueue(channel: ChannelId, sent: u32, statement: &'static str) -> Box<dyn Task> {
    let (task, _) = task(AT_ONCE, move |session| {
        let window = GroupWindow { began: Timestamp::default(), sent };
        session.outbox.set_window(channel, Some(window));
        session.outbox.wake(channel);
        run(session, statement)
    });
    task
}

#[tokio::test]
async fn failed_task_of_group_changes_no_outbox_cache() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let mut wakeups = store.outbox().listen();
    let mut session = store.writer().session.lock().await;
    let session = session.as_mut().unwrap();
    let [kept, failed] = [1, 2].map(ChannelId::from_bits);
    let tasks = [(kept, 1, ADD), (failed, 1, FAIL), (kept, 2, FAIL)];
    session.run_group(tasks.map(|(channel, sent, end)| enqueue(channel, sent, end)).into()).await;
    assert_eq!(session.outbox.window(kept).map(|window| window.sent), Some(1));
    assert_eq!(session.outbox.window(failed), None);
    assert_eq!(wakeups.try_recv(), Ok(kept.into()));
    assert!(wakeups.try_recv().is_err(), "one channel has something due");
}

#[tokio::test]
async fn writer_syncs_work_stored_by_callers() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let (writer, here) = (store.writer(), thread::current().id());
    let stored = async || {
        let thread = writer.write_inline(SOON, |session| run(session, ADD)).await.unwrap();
        (thread == here).then_some(())
    };
    once(stored).await;
    let synced = async || {
        let session = writer.session.lock().await;
        (!session.as_ref().unwrap().is_unsynced()).then_some(())
    };
    once(synced).await;
}

#[tokio::test]
async fn panic_on_calling_thread_rolls_back_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let (writer, here) = (store.writer(), thread::current().id());
    let panics = async || {
        let work = writer.write_inline(SOON, move |session| {
            Box::pin(async move {
                session.begin().await?;
                query("INSERT INTO words VALUES ('half')").execute(&mut session.db).await?;
                // The writer's own thread must not panic.
                assert!(thread::current().id() != here, "work fails");
                Err::<(), _>(StoreError::Closed)
            })
        });
        AssertUnwindSafe(work).catch_unwind().await.err().map(drop)
    };
    once(panics).await;
    writer.write_inline(SOON, |session| run(session, ADD)).await.unwrap();
    assert_eq!(
        words(&store).await,
        ["one"],
        "work with a reply is committed without the failed work"
    );
    writer.write(AT_ONCE, |session| run(session, ADD)).await.unwrap();
    assert_eq!(words(&store).await, ["one", "one"]);
}

#[tokio::test]
async fn panic_in_writer_closes_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let writer = store.writer();
    let broken = writer.write::<(), _>(Begin::First, |_| panic!("work fails")).await;
    assert!(matches!(broken, Err(StoreError::Closed)));
    once(async || writer.queue.is_closed().then_some(())).await;
    for begin in [SOON, AT_ONCE] {
        let late = writer.write_inline(begin, |session| run(session, ADD)).await;
        assert!(matches!(late, Err(StoreError::Closed)));
    }
    assert_eq!(words(&store).await, [""; 0]);
}

#[tokio::test]
async fn checkpointed_log_is_reused() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let log = folder.path().join("data/aloft.db-wal");
    let length = || std::fs::metadata(&log).unwrap().len();
    let mut checkpointer = Checkpointer::default();
    let mut lengths = Vec::new();
    for _ in 0..3 {
        for _ in 0..20 {
            store.writer().write(AT_ONCE, |session| run(session, ADD)).await.unwrap();
        }
        checkpointer.checkpoint(&log).unwrap();
        lengths.push(length());
    }
    assert!(lengths[0] > 0 && lengths[1..] == [lengths[0]; 2], "{lengths:?}");
    assert_eq!(words(&store).await.len(), 60);
}

#[tokio::test]
async fn store_closes_after_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    store.writer().write(SOON, |session| run(session, ADD)).await.unwrap();
    let database = folder.path().join("data/aloft.db");
    let before = std::fs::read(&database).unwrap();
    // The writer checkpoints at its check, a second later.
    once(async || (std::fs::read(&database).unwrap() != before).then_some(())).await;
    store.close().await.unwrap();
    assert!(!folder.path().join("data/aloft.db-wal").exists(), "the last connection removes it");
}

#[tokio::test]
async fn full_disk_is_known_until_a_write_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let store = a_store(folder.path()).await;
    let writer = store.writer();
    assert!(!writer.has_disk_fault().unwrap());
    for begin in [Begin::First, AT_ONCE] {
        writer.write(AT_ONCE, |session| run(session, LIMIT)).await.unwrap();
        let refused = writer.write(begin, |session| run(session, ADD_MANY)).await;
        assert!(
            matches!(refused, Err(StoreError::NoSpace { disk: "the data folder's disk" })),
            "{refused:?}"
        );
        assert!(writer.has_disk_fault().unwrap());
        writer.write(AT_ONCE, |session| run(session, UNLIMIT)).await.unwrap();
        writer.write(begin, |session| run(session, CHANGE_NOTHING)).await.unwrap();
        assert!(writer.has_disk_fault().unwrap(), "nothing was written");
        store.ready().await.unwrap();
        assert!(!writer.has_disk_fault().unwrap(), "checking wrote");
    }
    assert_eq!(words(&store).await, [""; 0]);
}
