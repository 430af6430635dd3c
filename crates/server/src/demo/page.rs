//! The demo's status page. Its reports belong to `announcements`.

use rules::monitor::Monitor;
use rules::status_page::{ComponentDraft, PageDraft};
use rules::{ComponentType, WorkspaceId};
use store::{AuditContext, NewComponent, NewPage, StoreError};

use super::DemoState;
use super::announcements;

/// Slug of the page.
const SLUG: &str = "demo";

/// Publishes a page with all monitors, in their order. Does nothing if another page has its slug.
pub(super) async fn publish(
    state: &DemoState,
    workspace: WorkspaceId,
    monitors: &[Monitor],
    change: AuditContext,
) -> Result<(), StoreError> {
    let draft = PageDraft {
        title: Some("Demo".to_owned()),
        slug: Some(SLUG.to_owned()),
        description: Some("Example targets served by this server".to_owned()),
        ..PageDraft::default()
    };
    let settings = draft.parse().expect("the demo's page is valid");
    let new = NewPage { id: state.ctx.new_id(), workspace, settings, idempotency: None };
    let page = match state.store.pages().create(new, change).await {
        Err(StoreError::Taken(_)) => return Ok(()),
        created => created?.into_inner(),
    };
    let mut components = Vec::new();
    for (monitor, order) in monitors.iter().zip(0..) {
        let draft = ComponentDraft {
            page_id: Some(page.id.to_string()),
            kind: Some(ComponentType::Monitor.to_string()),
            monitor_id: Some(monitor.id.to_string()),
            description: monitor.settings.description.clone(),
            order: Some(order),
            ..ComponentDraft::default()
        };
        let settings = draft.parse().expect("the demo's components are valid");
        let new = NewComponent { id: state.ctx.new_id(), workspace, settings, idempotency: None };
        let component = state.store.components().create(new, change).await?.into_inner();
        components.push((monitor.settings.name.clone(), component.id));
    }
    announcements::publish(state, (workspace, page.id), &components, change).await
}
