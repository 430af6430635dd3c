//! demo: the data of `aloft serve --demo`, so that a new user sees statuses change within a minute.
//!
//! It creates a workspace, a key that is printed once, monitors of targets on loopback, and a status
//! page with reports.

mod announcements;
mod page;
mod past;
mod targets;
mod zone;

use std::sync::Arc;

use rules::monitor::{
    CheckDraft, DnsDraft, HttpDraft, MonitorDraft, RecordAssertionDraft, TcpDraft,
    TextAssertionDraft,
};
use rules::{
    KeyId, Periodicity, RecordComparator, RecordKind, Region, Scope, Secret, TextComparator,
};
use store::{
    Actor, ApiKey, AuditContext, Created, FREE_PLAN, KeyHash, MonitorWithStatus, NewMonitor, Page,
    Store, StoreError, Workspace,
};
use web::context::Context;

pub(crate) use self::targets::Targets;
use crate::auth::key;
use crate::pipeline::{Pipeline, PipelineError};

/// Slug of the demo's workspace.
const WORKSPACE: &str = "demo";
/// Names of the monitors, which the reports and the seeded history also use.
const SLOW_PAGE: &str = "Slow page";
const FAILING_PAGE: &str = "Failing page";
const HEALTHY_PAGE: &str = "Healthy page";
const FLAPPING_PAGE: &str = "Flapping page";
const TCP_PORT: &str = "TCP port";
const DNS_RECORDS: &str = "DNS records";
/// Tags of the monitors: by area, and by environment.
const WEB: &str = "web";
const NETWORK: &str = "network";
const PROD: &str = "prod";
const STAGING: &str = "staging";
/// Threshold of the slow page, in milliseconds.
const SLOW_ABOVE_MS: i32 = 500;
/// Page that fits all monitors of the demo.
const PAGE: Page = Page { limit: 100, offset: 0, after: None };

/// Parts of a running server that the demo fills.
#[derive(Clone, Debug)]
pub(crate) struct DemoState {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) pipeline: Pipeline,
    /// Regions of the demo's monitors, which name none.
    pub(crate) default_regions: Arc<[Region]>,
}

/// A failure to create the demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// No port is available for the targets.
    #[error("the demo's targets cannot listen on loopback: {0}")]
    Listen(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pipeline rejected a monitor.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
}

/// Zone that only the demo's name server knows.
pub(crate) const ZONE: &str = zone::ZONE;

/// Creates missing data and adds new monitors to the running pipeline, which checks them at once.
/// Returns the new key, or `None` if the demo already existed.
pub(crate) async fn fill(
    state: &DemoState,
    targets: &Targets,
) -> Result<Option<Secret<String>>, DemoError> {
    let DemoState { ctx, store, .. } = state;
    let change = AuditContext::new(Actor::Server, ctx.now());
    let workspace = workspace(state, change).await?;
    let stored = store.monitors().list(workspace.id, PAGE).await?.rows;
    if !store.keys().list(workspace.id).await?.is_empty() {
        update_targets(state, &stored, targets, change).await?;
        return Ok(None);
    }
    let mut shown = Vec::new();
    for (name, draft) in monitors(targets) {
        if stored.iter().any(|stored| stored.monitor.settings.name == name) {
            continue;
        }
        let settings = draft.parse().expect("the demo's monitors are valid");
        let new =
            NewMonitor { id: ctx.new_id(), workspace: workspace.id, settings, idempotency: None };
        let (Created::Now(monitor) | Created::Before(monitor)) =
            store.monitors().create(new, change).await?;
        past::store(state, &monitor, change.at).await?;
        state.pipeline.apply_change(&monitor).await?;
        shown.push(monitor);
    }
    page::publish(state, workspace.id, &shown, change).await?;
    // The key comes last: without one, the next start completes the demo.
    Ok(Some(new_key(ctx, store, &workspace, change).await?))
}

/// Returns the demo's workspace, and creates it if necessary.
async fn workspace(state: &DemoState, change: AuditContext) -> Result<Workspace, StoreError> {
    match state.store.workspaces().by_slug(WORKSPACE).await {
        Err(StoreError::NotFound { .. }) => {}
        known => return known,
    }
    let workspace = Workspace {
        id: state.ctx.new_id(),
        slug: WORKSPACE.to_owned(),
        name: "Demo".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: change.at,
        deletes_at: None,
    };
    state.store.workspaces().create(workspace.clone(), change).await?;
    Ok(workspace)
}

async fn new_key(
    ctx: &Context,
    store: &Store,
    workspace: &Workspace,
    change: AuditContext,
) -> Result<Secret<String>, StoreError> {
    let id: KeyId = ctx.new_id();
    let text = key::compose(id, &ctx.secret_bytes());
    let key = ApiKey {
        id,
        workspace: workspace.id,
        name: "demo".to_owned(),
        scope: Some(Scope::Write),
        created_at: change.at,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    store.keys().create(key, KeyHash::new(text.expose()), change).await?;
    Ok(text)
}

/// Updates the demo's monitors if the targets have other ports than before.
async fn update_targets(
    state: &DemoState,
    stored: &[MonitorWithStatus],
    targets: &Targets,
    change: AuditContext,
) -> Result<(), DemoError> {
    for (name, draft) in monitors(targets) {
        let wanted = draft.parse().expect("the demo's monitors are valid");
        let moved = stored.iter().map(|stored| &stored.monitor).find(|monitor| {
            monitor.settings.name == name && monitor.settings.check != wanted.check
        });
        if let Some(monitor) = moved {
            let settings =
                rules::monitor::MonitorSettings { check: wanted.check, ..monitor.settings.clone() };
            let moved = state.store.monitors().update(monitor.clone(), settings, change).await?;
            state.pipeline.apply_change(&moved).await?;
        }
    }
    Ok(())
}

fn monitors(targets: &Targets) -> Vec<(&'static str, MonitorDraft)> {
    let page = |path: &str| HttpDraft {
        url: Some(format!("http://{}{path}", targets.http)),
        ..HttpDraft::default()
    };
    let healthy = HttpDraft {
        body_assertions: vec![TextAssertionDraft {
            target: Some("all is well".to_owned()),
            comparator: Some(TextComparator::Contains.to_string()),
        }],
        ..page("/healthy")
    };
    let records = DnsDraft {
        uri: Some(ZONE.to_owned()),
        record_assertions: vec![RecordAssertionDraft {
            record: Some(RecordKind::Mx.to_string()),
            target: Some(format!("10 mail.{ZONE}")),
            comparator: Some(RecordComparator::Eq.to_string()),
        }],
    };
    let tcp = TcpDraft { uri: Some(targets.tcp.to_string()), ..TcpDraft::default() };
    vec![
        monitor(HEALTHY_PAGE, "Answers at once", (&[WEB, PROD], CheckDraft::Http(healthy))),
        monitor(
            SLOW_PAGE,
            "Answers after 900 ms, and more than 500 ms is slow",
            (&[WEB, PROD], CheckDraft::Http(page("/slow"))),
        ),
        monitor(FAILING_PAGE, "Answers 503", (&[WEB, STAGING], CheckDraft::Http(page("/failing")))),
        monitor(
            FLAPPING_PAGE,
            "Up for 75 seconds, then down for 75 seconds",
            (&[WEB, STAGING], CheckDraft::Http(page("/flapping"))),
        ),
        monitor(TCP_PORT, "Accepts connections", (&[NETWORK, PROD], CheckDraft::Tcp(tcp))),
        monitor(
            DNS_RECORDS,
            "A DNS zone served by the demo",
            (&[NETWORK, PROD], CheckDraft::Dns(records)),
        ),
    ]
}

fn monitor(
    name: &'static str,
    description: &str,
    (tags, check): (&[&str], CheckDraft),
) -> (&'static str, MonitorDraft) {
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name.to_owned());
    draft.description = Some(description.to_owned());
    draft.tags = tags.iter().map(ToString::to_string).collect();
    draft.periodicity = Some(Periodicity::ThirtySeconds.to_string());
    draft.degraded_at = Some(SLOW_ABOVE_MS);
    draft.retry = Some(0);
    draft.active = Some(true);
    draft.public = Some(true);
    (name, draft)
}
