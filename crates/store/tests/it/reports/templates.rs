//! Templates of reports: stored values read back equal, concurrent edits conflict, workspaces are
//! isolated.

use rules::report::{ImpactDraft, ReportTemplate, TemplateDraft, TemplateSettings};
use rules::{ComponentId, TemplateId};
use store::{Created, NewTemplate, Page, StoreError};

use super::{a_component, down};
use crate::harness::{Home, a_workspace, at, for_each_engine, instant, workspace_id};
use crate::pages::a_page;

const ALL: Page<TemplateId> = Page { limit: 50, offset: 0, after: None };

fn settings(components: &[rules::report::ComponentImpact]) -> TemplateSettings {
    let draft = TemplateDraft {
        name: Some("Disks".to_owned()),
        title: Some("Disks fail".to_owned()),
        status: Some("identified".to_owned()),
        text: None,
        components: components.iter().map(ImpactDraft::from).collect(),
    };
    draft.parse().unwrap()
}

async fn create(
    home: &Home,
    number: u64,
    settings: TemplateSettings,
) -> Result<ReportTemplate, StoreError> {
    let (id, workspace) = (TemplateId::from_bits(number), home.workspace);
    let new = NewTemplate { id, workspace, settings, idempotency: None };
    home.store.report_templates().create(new, at(10)).await.map(Created::into_inner)
}

/// Creates a template about this component.
pub(super) async fn a_full_one(home: &Home, component: ComponentId) {
    create(home, 1, settings(&[down(component)])).await.unwrap();
}

#[tokio::test]
async fn template_reads_back_and_stale_edit_conflicts() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let page = a_page(home, 1).await.id;
        let component = a_component(home, 1, page).await;
        let seen = create(home, 1, settings(&[down(component)])).await.unwrap();
        assert_eq!(seen.settings, settings(&[down(component)]));
        let templates = home.store.report_templates();
        assert_eq!(templates.get(home.workspace, seen.id).await.unwrap(), seen);
        let list = templates.list(home.workspace, ALL).await.unwrap();
        assert_eq!((list.rows, list.total), (vec![seen.clone()], 1));
        assert_eq!(templates.list(workspace_id(2), ALL).await.unwrap().total, 0);
        let renamed = TemplateSettings { name: "More".to_owned(), ..settings(&[]) };
        let edited = templates.update(seen.clone(), renamed.clone(), at(0)).await.unwrap();
        assert_eq!((&edited.settings, edited.updated_at), (&renamed, instant(11)));
        let conflict = templates.update(seen.clone(), renamed, at(20)).await;
        assert!(matches!(conflict, Err(StoreError::Conflict { .. })), "{conflict:?}");
        templates.delete(home.workspace, seen.id, at(30)).await.unwrap();
        let gone = templates.get(home.workspace, seen.id).await;
        assert!(matches!(gone, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn template_components_must_exist_and_follow_deletions() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let (first, second) = (a_component(home, 1, page).await, a_component(home, 2, page).await);
        let missing = down(rules::ComponentId::from_bits(9));
        let refusal = create(home, 1, settings(&[missing])).await;
        let is_refused =
            matches!(&refusal, Err(StoreError::Refused(it)) if it.field == "components");
        assert!(is_refused, "{refusal:?}");
        assert_eq!(home.count("report_templates").await, 0);
        let seen = create(home, 1, settings(&[down(first), down(second)])).await.unwrap();
        home.store.components().delete(home.workspace, first, at(20)).await.unwrap();
        let left = home.store.report_templates().get(home.workspace, seen.id).await.unwrap();
        assert_eq!(left.settings.components, [down(second)]);
        home.store.pages().delete(home.workspace, page, at(30)).await.unwrap();
        let left = home.store.report_templates().get(home.workspace, seen.id).await.unwrap();
        assert_eq!(left.settings.components, []);
    })
    .await;
}
