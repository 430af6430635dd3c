//! demo: what `aloft serve --demo` begins with, so that a newcomer sees statuses change within a
//! minute: a workspace, a key that is printed once, and monitors of targets served on loopback.

mod targets;
mod zone;

use std::net::SocketAddr;

use rules::monitor::{
    CheckDraft, DnsDraft, HttpDraft, MonitorDraft, RecordAssertionDraft, TcpDraft,
    TextAssertionDraft,
};
use rules::{
    KeyId, Periodicity, RecordComparator, RecordKind, Region, Scope, Secret, TextComparator,
};
use store::{
    Actor, ApiKey, Change, FREE_PLAN, KeyHash, NewMonitor, Page, Store, StoreError, Workspace,
};

use self::targets::Targets;
use crate::auth::key;
use crate::context::Context;

/// Slug of the demo's workspace.
const WORKSPACE: &str = "demo";
/// The slow page is above this, in milliseconds.
const SLOW_ABOVE_MS: i32 = 500;
/// The monitors of a demo; there are fewer.
const PAGE: Page = Page { limit: 100, offset: 0, after: None };

/// What a demo begins with.
#[derive(Debug)]
pub(crate) struct Demo {
    /// The new key; `None` where the folder had its demo already, whose key was shown then.
    pub(crate) key: Option<Secret<String>>,
    /// Names of the demo's zone are asked for here.
    pub(crate) nameserver: SocketAddr,
}

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The targets have no port.
    #[error("the demo's targets cannot listen on loopback: {0}")]
    Listen(#[from] std::io::Error),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The zone whose names only the demo's name server knows.
pub(crate) const ZONE: &str = zone::ZONE;

/// Serves the targets, and stores what is not there yet. The server must not be up: what is stored
/// is taken up when it starts.
pub(crate) async fn prepare(ctx: &Context, store: &Store) -> Result<Demo, DemoError> {
    let targets = targets::serve(ctx).await?;
    let nameserver = targets.dns;
    let change = Change { actor: Actor::Server, at: ctx.now() };
    let known = match store.workspaces().by_slug(WORKSPACE).await {
        Ok(workspace) => Some(workspace),
        Err(StoreError::NotFound { .. }) => None,
        Err(why) => return Err(why.into()),
    };
    if let Some(workspace) = known {
        repoint(store, &workspace, &targets, change).await?;
        return Ok(Demo { key: None, nameserver });
    }
    let workspace = Workspace {
        id: ctx.new_id(),
        slug: WORKSPACE.to_owned(),
        name: "Demo".to_owned(),
        plan: FREE_PLAN.to_owned(),
        created_at: change.at,
    };
    store.workspaces().create(workspace.clone(), change).await?;
    for (_, draft) in monitors(&targets) {
        let settings = draft.parse().expect("the demo's monitors keep every rule");
        let new =
            NewMonitor { id: ctx.new_id(), workspace: workspace.id, settings, idempotency: None };
        store.monitors().create(new, change).await?;
    }
    let key = new_key(ctx, store, &workspace, change).await?;
    Ok(Demo { key: Some(key), nameserver })
}

async fn new_key(
    ctx: &Context,
    store: &Store,
    workspace: &Workspace,
    change: Change,
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
    store.keys().create(key, KeyHash::of(text.expose()), change).await?;
    Ok(text)
}

/// Where the targets got other ports this time, the demo's monitors follow them.
async fn repoint(
    store: &Store,
    workspace: &Workspace,
    targets: &Targets,
    change: Change,
) -> Result<(), StoreError> {
    let stored = store.monitors().list(workspace.id, PAGE).await?.monitors;
    for (name, draft) in monitors(targets) {
        let wanted = draft.parse().expect("the demo's monitors keep every rule");
        let moved = stored.iter().map(|stored| &stored.monitor).find(|monitor| {
            monitor.settings.name == name && monitor.settings.check != wanted.check
        });
        if let Some(monitor) = moved {
            let settings =
                rules::monitor::MonitorSettings { check: wanted.check, ..monitor.settings.clone() };
            store.monitors().update(monitor.clone(), settings, change).await?;
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
    let tcp = TcpDraft { uri: Some(targets.tcp.to_string()) };
    vec![
        monitor("Healthy page", "Answers at once", CheckDraft::Http(healthy)),
        monitor(
            "Slow page",
            "Answers after 900 ms, and more than 500 ms is slow",
            CheckDraft::Http(page("/slow")),
        ),
        monitor("Failing page", "Answers 503", CheckDraft::Http(page("/failing"))),
        monitor(
            "Flapping page",
            "Well for 75 seconds, failing for 75 seconds",
            CheckDraft::Http(page("/flapping")),
        ),
        monitor("TCP port", "Accepts connections", CheckDraft::Tcp(tcp)),
        monitor("DNS records", "The demo's own zone", CheckDraft::Dns(records)),
    ]
}

fn monitor(
    name: &'static str,
    description: &str,
    check: CheckDraft,
) -> (&'static str, MonitorDraft) {
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name.to_owned());
    draft.description = Some(description.to_owned());
    draft.periodicity = Some(Periodicity::ThirtySeconds.to_string());
    draft.degraded_at = Some(SLOW_ABOVE_MS);
    draft.retry = Some(0);
    draft.active = Some(true);
    draft.public = Some(true);
    draft.regions =
        [Region::FlyAms, Region::FlyIad, Region::FlySin].iter().map(ToString::to_string).collect();
    (name, draft)
}
