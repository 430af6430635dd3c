//! Tests of the cache of pages with a store.

use std::path::Path;

use domain::notify::Mail;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rules::status_page::PageDraft;
use rules::{MonitorId, Region};
use store::{
    Actor, AuditContext, Database, FREE_PLAN, MasterKeySource, NewPage, Settings, Store, Workspace,
};
use web::context::Context;

use super::*;
use crate::source::{Backend, BoxFuture};

const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
const PAGE: PageId = PageId::from_bits(1);
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Server without monitors and mail.
#[derive(Debug)]
struct IdleServer;

impl Backend for IdleServer {
    fn last_checks(&self, _: Vec<MonitorId>) -> BoxFuture<'_, HashMap<MonitorId, Timestamp>> {
        Box::pin(async { HashMap::new() })
    }

    fn places(&self, _: WorkspaceId, _: &[Region]) -> usize {
        1
    }

    fn can_send_emails(&self) -> bool {
        false
    }

    fn send_email(&self, _: WorkspaceId, _: Mail) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(async { Err("this server sends no emails".to_owned()) })
    }
}

/// Opens a store with a page.
async fn open(folder: &Path) -> Store {
    let (folder, database) = (folder.to_owned(), Database::Embedded);
    let settings = Settings { folder, database, master_key: MasterKeySource::File };
    let store = Store::open(settings).await.unwrap();
    let change = AuditContext::new(Actor::CommandLine, START);
    let workspace = Workspace {
        id: WORKSPACE,
        slug: "acme".to_owned(),
        name: "Acme".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: START,
        deletes_at: None,
    };
    store.workspaces().create(workspace, change).await.unwrap();
    let draft = PageDraft {
        title: Some("Acme".to_owned()),
        slug: Some("acme".to_owned()),
        ..PageDraft::default()
    };
    let settings = draft.parse().unwrap();
    let new = NewPage { id: PAGE, workspace: WORKSPACE, settings, idempotency: None };
    store.pages().create(new, change).await.unwrap();
    store
}

fn cache() -> Arc<PageCache> {
    let metrics = PageMetrics {
        build_seconds: Histogram::new([1.0]),
        render_seconds: Histogram::new([1.0]),
        streams: Gauge::default(),
    };
    Arc::new(PageCache::new(None, String::new(), metrics, &CacheMetrics::default()))
}

#[tokio::test]
async fn expired_entry_shows_its_age_after_a_wait() {
    let folder = tempfile::tempdir().unwrap();
    let (ctx, clock) = Context::manual(START);
    let source = Source { ctx, store: open(folder.path()).await, backend: Arc::new(IdleServer) };
    let (cache, ids) = (cache(), PageIds { page: PAGE, workspace: WORKSPACE });
    let fresh = cache.current(&source, ids, START).await.unwrap().unwrap();
    assert!(!fresh.snapshot.is_outdated);
    let _renewal = cache.renewal_lock(PAGE).lock().await;
    clock.advance(STALE_AGE_MAX);
    let late = cache.current(&source, ids, source.ctx.now()).await.unwrap().unwrap();
    assert!(late.snapshot.is_outdated);
}
