//! What was said already, compressed: each page and file once and as it was asked for. Nothing is made
//! before somebody asks, and all of it is let go of when nobody has asked for a while, so that a server
//! that only checks is as small as one without documentation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{Notify, Semaphore};

use super::document::Document;
use super::list::{self, File};
use super::search::Index;
use super::style::{ICON, SCRIPT};
use super::{openapi, pages};
use crate::said::{Encoding, Said};

/// For how long everything stays that nobody asks for.
const STAYS: Duration = Duration::from_mins(10);

/// How many pages and searches are made at a time.
const MAKERS: usize = 1;

/// How many wait for their turn at most: a second or two of work, by what the largest page takes. Whoever
/// comes then is asked to come again.
const WAITING_MAX: usize = 64;

/// What is the same for everybody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thing {
    /// The first page.
    Home,
    /// What is at the root of the server.
    Front,
    /// The same for programs.
    FrontText,
    /// A document, by its path, as a page.
    Document(&'static str),
    /// The same as it was written.
    Markdown(&'static str),
    /// A file beside documents.
    File(&'static str),
    /// All documents, for programs.
    List,
    /// The script.
    Script,
    /// The icon.
    Icon,
    /// The OpenAPI description.
    OpenApi,
}

/// A thing as it goes over the wire, in one encoding.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) content_type: &'static str,
    pub(super) etag: HeaderValue,
    pub(super) encoding: Encoding,
    pub(super) bytes: Bytes,
}

/// The documentation of this server.
#[derive(Debug)]
pub(super) struct Docs {
    /// Where the server is reached from outside, without a slash at the end.
    origin: Option<String>,
    /// For how long what was made stays when nobody asks.
    stays: Duration,
    made: Mutex<Weak<Made>>,
    /// Whose turn it is to make something.
    turns: Arc<Semaphore>,
    /// Who makes something or waits for the turn.
    places: Arc<Semaphore>,
}

/// So many wait already that another would wait for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// What was made. Whoever uses it holds it, and a task does as long as somebody asks.
#[derive(Debug, Default)]
struct Made {
    leaves: Mutex<HashMap<(Thing, Encoding), Leaf>>,
    index: OnceLock<Index>,
    asked: Notify,
}

impl Docs {
    /// The documentation; `origin` is where the server is reached from outside.
    pub(super) fn new(origin: Option<String>) -> Self {
        Self {
            origin,
            stays: STAYS,
            made: Mutex::default(),
            turns: Arc::new(Semaphore::new(MAKERS)),
            places: Arc::new(Semaphore::new(MAKERS + WAITING_MAX)),
        }
    }

    /// A thing in this encoding, made now where nobody asked for it before.
    pub(super) async fn leaf(&self, thing: Thing, encoding: Encoding) -> Result<Leaf, Busy> {
        let made = self.made();
        if let Some(leaf) = made.leaf(thing, encoding) {
            return Ok(leaf);
        }
        let origin = self.origin.clone();
        self.make(move || {
            // Somebody else may have had the turn before.
            made.leaf(thing, encoding).unwrap_or_else(|| {
                let leaf = Leaf::of(&thing.say(origin.as_deref()), encoding);
                made.keep(thing, &leaf);
                leaf
            })
        })
        .await
    }

    /// Does something with everything that can be found, which is read in the same turn where nobody
    /// searched before.
    pub(super) async fn look_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Index) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let made = self.made();
        self.make(move || work(made.index.get_or_init(Index::of_documents))).await
    }

    /// Does work that takes milliseconds where it holds up nobody, a few at a time: however many ask,
    /// the rest of the machine is there for checks, and nobody waits for long.
    pub(super) async fn make<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.expect("nobody closes the turns");
        let work = tokio::task::spawn_blocking(move || {
            // Held by the work: who asked may be gone, and it goes on all the same.
            let _held = (place, turn);
            work()
        });
        Ok(work.await.expect("documents are rendered without a panic"))
    }

    fn made(&self) -> Arc<Made> {
        let mut kept = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = kept.upgrade() {
            made.asked.notify_one();
            return made;
        }
        let made = Arc::new(Made::default());
        *kept = Arc::downgrade(&made);
        tokio::spawn(stay(Arc::clone(&made), self.stays));
        made
    }
}

/// Holds what was made for as long as somebody asks for it.
async fn stay(made: Arc<Made>, stays: Duration) {
    while tokio::time::timeout(stays, made.asked.notified()).await.is_ok() {}
}

impl Made {
    fn leaf(&self, thing: Thing, encoding: Encoding) -> Option<Leaf> {
        let leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        leaves.get(&(thing, encoding)).cloned()
    }

    fn keep(&self, thing: Thing, leaf: &Leaf) {
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        leaves.insert((thing, leaf.encoding), leaf.clone());
    }
}

impl Leaf {
    /// What was said, in this encoding.
    pub(super) fn of(said: &Said, encoding: Encoding) -> Self {
        Self {
            content_type: said.content_type,
            etag: said.etag.clone(),
            encoding,
            bytes: said.bytes(encoding),
        }
    }
}

pub(super) const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

impl Thing {
    fn say(self, origin: Option<&str>) -> Said {
        match self {
            Self::Home => Said::of(HTML, pages::home()),
            Self::Front => Said::of(HTML, pages::front()),
            Self::FrontText => Said::of(TEXT, pages::front_text(origin.unwrap_or_default())),
            Self::Document(path) => Said::of(HTML, pages::document(document(path), origin)),
            Self::Markdown(path) => Said::of(MARKDOWN, document(path).text()),
            Self::File(path) => {
                let File { content_type, bytes, .. } = file(path);
                Said::of(content_type, *bytes)
            }
            Self::List => Said::of(MARKDOWN, pages::markdown_list(origin.unwrap_or_default())),
            Self::Script => Said::of("text/javascript; charset=utf-8", SCRIPT),
            Self::Icon => Said::of("image/svg+xml", ICON),
            Self::OpenApi => Said::of(super::JSON, openapi::description()),
        }
    }
}

fn document(path: &str) -> &'static Document {
    list::documents().find(|it| it.path == path).expect("things name what is in the list")
}

fn file(path: &str) -> &'static File {
    list::FILES.iter().find(|it| it.path == path).expect("things name what is in the list")
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Longer than anything here takes on a busy machine.
    const PATIENCE: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn what_was_made_is_said_again_and_compressed_once() {
        let docs = Docs::new(None);
        assert!(docs.made.lock().unwrap().upgrade().is_none(), "nothing is made at the start");
        for encoding in Encoding::ALL {
            let leaf = docs.leaf(Thing::Home, encoding).await.unwrap();
            let again = docs.leaf(Thing::Home, encoding).await.unwrap();
            assert_eq!(leaf.bytes.as_ptr(), again.bytes.as_ptr(), "{encoding:?}");
        }
    }

    #[tokio::test]
    async fn what_nobody_asks_for_any_more_is_let_go_of() {
        let docs = Docs { stays: Duration::ZERO, ..Docs::new(None) };
        let leaf = docs.leaf(Thing::Home, Encoding::Brotli).await.unwrap();
        let made = docs.made.lock().unwrap().clone();
        let gone = async {
            while made.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, gone).await.expect("it is let go of");
        assert_eq!(docs.leaf(Thing::Home, Encoding::Brotli).await.unwrap().etag, leaf.etag);
    }

    #[tokio::test]
    async fn who_comes_when_too_many_wait_is_asked_to_come_again_and_what_is_made_is_said() {
        let docs = Docs::new(None);
        let kept = docs.leaf(Thing::Home, Encoding::Brotli).await.unwrap();
        let turn = docs.turns.acquire().await.unwrap();
        let places = docs.places.available_permits();
        let wait = |_| {
            let mut one = Box::pin(docs.make(|| ()));
            let mut nobody = std::task::Context::from_waker(Waker::noop());
            assert!(one.as_mut().poll(&mut nobody).is_pending());
            one
        };
        let mut waiting: Vec<_> = (0..places).map(wait).collect();
        assert_eq!(docs.make(|| ()).await, Err(Busy));
        let other = docs.leaf(Thing::Front, Encoding::Brotli).await;
        assert_eq!(other.map(|leaf| leaf.etag), Err(Busy));
        let again = docs.leaf(Thing::Home, Encoding::Brotli).await.unwrap();
        assert_eq!(again.etag, kept.etag, "what is there needs no turn");
        // Who gives up makes room.
        drop(waiting.pop());
        waiting.push(wait(0));
        drop(turn);
        for one in waiting {
            one.await.unwrap();
        }
    }
}
