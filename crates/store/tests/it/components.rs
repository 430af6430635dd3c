//! Components and groups of status pages: referenced objects must exist, and their deletion updates
//! the components.

use rules::status_page::{
    Component, ComponentDraft, ComponentGroup, ComponentSettings, GroupDraft,
};
use rules::{ComponentId, GroupId, MonitorId, PageId};
use store::{
    Created, Database, Idempotency, MasterKeySource, NewComponent, NewGroup, Page, Settings,
    StoreError, transfer,
};

use crate::harness::{
    Engine, Home, a_workspace, at, for_each_engine, instant, monitor_id, open, workspace_id,
};
use crate::pages::{a_full_page, a_page, page_id};

const COMPONENTS: Page<ComponentId> = Page { limit: 50, offset: 0, after: None };
const GROUPS: Page<GroupId> = Page { limit: 50, offset: 0, after: None };

/// Returns settings of a component that shows this monitor, or none.
pub(crate) fn settings(
    page: PageId,
    monitor: Option<MonitorId>,
    change: impl FnOnce(&mut ComponentDraft),
) -> ComponentSettings {
    let kind = if monitor.is_some() { "monitor" } else { "static" };
    let mut draft = ComponentDraft {
        page_id: Some(page.to_string()),
        kind: Some(kind.to_owned()),
        monitor_id: monitor.map(|id| id.to_string()),
        name: monitor.is_none().then(|| "Mail".to_owned()),
        ..ComponentDraft::default()
    };
    change(&mut draft);
    draft.parse().unwrap()
}

pub(crate) async fn create(
    home: &Home,
    number: u64,
    settings: ComponentSettings,
) -> Result<Component, StoreError> {
    let (id, workspace) = (ComponentId::from_bits(number), home.workspace);
    let new = NewComponent { id, workspace, settings, idempotency: None };
    home.store.components().create(new, at(number as i64)).await.map(Created::into_inner)
}

async fn a_group(home: &Home, number: u64, page: PageId) -> ComponentGroup {
    let draft = GroupDraft { page_id: Some(page.to_string()), name: Some("Core".to_owned()) };
    let (id, workspace) = (GroupId::from_bits(number), home.workspace);
    let new = NewGroup { id, workspace, settings: draft.parse().unwrap(), idempotency: None };
    home.store.groups().create(new, at(number as i64)).await.unwrap().into_inner()
}

/// Creates a page with all fields, a group, and a component of this monitor in it.
pub(crate) async fn a_full_page_with_one(home: &Home, monitor: MonitorId) -> Component {
    let page = a_full_page(home, 1).await.id;
    let group = a_group(home, 1, page).await.id;
    let shown = settings(page, Some(monitor), |draft| draft.group_id = Some(group.to_string()));
    create(home, 1, shown).await.unwrap()
}

async fn read(home: &Home, component: &Component) -> Component {
    home.store.components().get(home.workspace, component.id).await.unwrap()
}

#[tokio::test]
async fn components_and_groups_read_back_equal() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let monitor = home.monitor(1).await.id;
        let group = a_group(home, 1, page).await;
        let full = settings(page, Some(monitor), |draft| {
            draft.name = Some(String::new());
            draft.description = Some("d".to_owned());
            draft.order = Some(0);
            draft.group_id = Some(group.id.to_string());
            draft.group_order = Some(i32::MIN);
        });
        let bare = settings(page, None, |_| {});
        for (number, settings) in [(1, full), (2, bare)] {
            let written = create(home, number, settings.clone()).await.unwrap();
            assert_eq!(written.settings, settings);
            assert_eq!(read(home, &written).await, written);
        }
        assert_eq!(home.store.groups().get(home.workspace, group.id).await.unwrap(), group);
    })
    .await;
}

#[tokio::test]
async fn component_with_unknown_reference_is_rejected() {
    // spec: §2.6
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let elsewhere = a_group(home, 1, other).await.id;
        let monitor = home.monitor(1).await.id;
        let deleted = home.monitor(2).await.id;
        home.store.monitors().delete(home.workspace, deleted, at(3)).await.unwrap();
        let cases = [
            ("page_id", settings(page_id(9), None, |_| {})),
            ("monitor_id", settings(page, Some(monitor_id(9)), |_| {})),
            ("monitor_id", settings(page, Some(deleted), |_| {})),
            ("group_id", settings(page, None, |it| it.group_id = Some(elsewhere.to_string()))),
        ];
        let stored = create(home, 1, settings(page, Some(monitor), |_| {})).await.unwrap();
        for (field, wanted) in cases {
            let created = create(home, 2, wanted.clone()).await;
            let updated = home.store.components().update(stored.clone(), wanted, at(9)).await;
            for refusal in [created, updated] {
                let is_refused =
                    matches!(&refusal, Err(StoreError::Refused(it)) if it.field == field);
                assert!(is_refused, "{field}: {refusal:?}");
            }
        }
        assert_eq!(read(home, &stored).await, stored);
        // Objects of another workspace do not exist for it.
        let new = NewComponent {
            id: ComponentId::from_bits(3),
            workspace: workspace_id(2),
            settings: settings(page, None, |_| {}),
            idempotency: None,
        };
        let refusal = home.store.components().create(new, at(9)).await;
        assert!(matches!(refusal, Err(StoreError::Refused(_))), "{refusal:?}");
    })
    .await;
}

#[tokio::test]
async fn monitor_appears_on_a_page_once() {
    // issue 5
    for_each_engine(async |home| {
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let (first, second) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let shown = create(home, 1, settings(page, Some(first), |_| {})).await.unwrap();
        let beside = create(home, 2, settings(page, Some(second), |_| {})).await.unwrap();
        let again = create(home, 3, settings(page, Some(first), |_| {})).await;
        let repointed = settings(page, Some(first), |_| {});
        let repointed = home.store.components().update(beside, repointed, at(9)).await;
        for refusal in [again, repointed] {
            let is_refused =
                matches!(&refusal, Err(StoreError::Taken(it)) if it.field == "monitor_id");
            assert!(is_refused, "{refusal:?}");
        }
        create(home, 4, settings(other, Some(first), |_| {})).await.unwrap();
        let renamed = settings(page, Some(first), |draft| draft.name = Some("API".to_owned()));
        home.store.components().update(shown, renamed, at(10)).await.unwrap();
        for number in [5, 6] {
            create(home, number, settings(page, None, |_| {})).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn deleted_monitor_is_removed_from_its_components() {
    // design: §4
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let (monitor, next) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let seen = create(home, 1, settings(page, Some(monitor), |_| {})).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor, at(20)).await.unwrap();
        let left = read(home, &seen).await;
        let due = ComponentSettings { monitor_id: None, ..seen.settings.clone() };
        assert_eq!((&left.settings, left.updated_at), (&due, instant(20)));
        // A stale edit is a conflict. A current one may change other fields, and select another
        // monitor.
        let renamed = ComponentSettings { name: Some("API".to_owned()), ..due };
        let components = home.store.components();
        let stale = components.update(seen, renamed.clone(), at(21)).await;
        assert!(matches!(stale, Err(StoreError::Conflict { .. })));
        let left = components.update(left, renamed.clone(), at(21)).await.unwrap();
        assert_eq!(read(home, &left).await.settings, renamed);
        let known = home.count("components WHERE monitor IS NOT NULL").await;
        assert_eq!(known, 1, "the row ID stays for its history");
        let repointed = ComponentSettings { monitor_id: Some(next), ..renamed };
        let left = components.update(left, repointed.clone(), at(22)).await.unwrap();
        assert_eq!(read(home, &left).await.settings, repointed);
        let audit = home.store.audit().newest(home.workspace, 4).await.unwrap();
        let lost = audit.iter().find(|it| it.detail == "its monitor was deleted").unwrap();
        assert_eq!((&*lost.action, &lost.resource_id), ("component.update", &left.id.to_string()));
    })
    .await;
}

#[tokio::test]
async fn deleted_group_keeps_its_components_on_the_page() {
    // issue 5
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let group = a_group(home, 1, page).await.id;
        let grouped = settings(page, None, |draft| {
            draft.group_id = Some(group.to_string());
            draft.group_order = Some(7);
        });
        let seen = create(home, 1, grouped.clone()).await.unwrap();
        home.store.groups().delete(home.workspace, group, at(20)).await.unwrap();
        let left = read(home, &seen).await;
        assert_eq!(left.settings, ComponentSettings { group_id: None, ..grouped });
        assert_eq!(left.updated_at, instant(20));
        let gone = home.store.groups().get(home.workspace, group).await;
        assert!(matches!(gone, Err(StoreError::NotFound { what: "component group", .. })));
    })
    .await;
}

#[tokio::test]
async fn deleted_page_deletes_its_components_and_groups() {
    // issue 5
    for_each_engine(async |home| {
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let group = a_group(home, 1, page).await.id;
        a_group(home, 2, other).await;
        let monitor = home.monitor(1).await.id;
        let grouped =
            settings(page, Some(monitor), |draft| draft.group_id = Some(group.to_string()));
        create(home, 1, grouped).await.unwrap();
        create(home, 2, settings(other, Some(monitor), |_| {})).await.unwrap();
        home.store.pages().delete(home.workspace, page, at(20)).await.unwrap();
        let (components, groups) = (home.store.components(), home.store.groups());
        assert_eq!(components.list(home.workspace, None, COMPONENTS).await.unwrap().total, 1);
        assert_eq!(groups.list(home.workspace, None, GROUPS).await.unwrap().total, 1);
        assert!(home.store.monitors().get(home.workspace, monitor).await.is_ok());
        let audit = home.store.audit().newest(home.workspace, 3).await.unwrap();
        let recorded: Vec<_> = audit.iter().map(|it| (&*it.action, &*it.detail)).collect();
        let due = [
            ("page.delete", ""),
            ("group.delete", "with its page"),
            ("component.delete", "with its page"),
        ];
        assert_eq!(recorded, due);
    })
    .await;
}

#[tokio::test]
async fn component_lists_return_newest_first() {
    for_each_engine(async |home| {
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        for (number, of) in [(3, page), (1, page), (2, other), (4, page)] {
            create(home, number, settings(of, None, |_| {})).await.unwrap();
            a_group(home, number, of).await;
        }
        let cases = [
            (None, COMPONENTS, vec![4, 3, 2, 1], 4),
            (Some(page), COMPONENTS, vec![4, 3, 1], 3),
            (Some(page), Page { limit: 1, offset: 1, ..COMPONENTS }, vec![3], 3),
            (
                Some(page),
                Page { after: Some(ComponentId::from_bits(4)), ..COMPONENTS },
                vec![3, 1],
                3,
            ),
        ];
        for (of, part, ids, total) in cases {
            let found = home.store.components().list(home.workspace, of, part).await.unwrap();
            let found_ids: Vec<u64> = found.rows.iter().map(|row| row.id.bits()).collect();
            assert_eq!((&found_ids, found.total), (&ids, total), "{part:?}");
            let part = Page {
                limit: part.limit,
                offset: part.offset,
                after: part.after.map(|id| GroupId::from_bits(id.bits())),
            };
            let found = home.store.groups().list(home.workspace, of, part).await.unwrap();
            let found_ids: Vec<u64> = found.rows.iter().map(|row| row.id.bits()).collect();
            assert_eq!((&found_ids, found.total), (&ids, total), "{part:?}");
        }
        let nowhere = Some(page_id(9));
        let refusal = home.store.components().list(home.workspace, nowhere, COMPONENTS).await;
        assert!(matches!(refusal, Err(StoreError::NotFound { what: "status page", .. })));
        let refusal = home.store.groups().list(home.workspace, nowhere, GROUPS).await;
        assert!(matches!(refusal, Err(StoreError::NotFound { what: "status page", .. })));
    })
    .await;
}

#[tokio::test]
async fn names_of_a_page_omit_other_pages() {
    for_each_engine(async |home| {
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let monitor = home.monitor(1).await;
        create(home, 1, settings(page, Some(monitor.id), |_| {})).await.unwrap();
        create(home, 2, settings(other, None, |_| {})).await.unwrap();
        let components = home.store.components();
        let names = components.names_on_page(home.workspace, page).await.unwrap();
        let names: Vec<_> = names.into_iter().map(|it| (it.page, it.name)).collect();
        assert_eq!(names, [(page, monitor.settings.name)]);
        assert_eq!(components.names(home.workspace).await.unwrap().len(), 2);
        assert_eq!(components.names_on_page(workspace_id(2), page).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn idempotency_key_creates_components_and_groups_once() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let call = |method| Some(Idempotency { method, key: "a".to_owned(), request: [7; 32] });
        let mut made = Vec::new();
        for number in [1, 2] {
            let new = NewComponent {
                id: ComponentId::from_bits(number),
                workspace: home.workspace,
                settings: settings(page, None, |_| {}),
                idempotency: call("CreateComponent"),
            };
            made.push(home.store.components().create(new, at(0)).await.unwrap());
        }
        let first = made[0].clone().into_inner();
        assert_eq!(made, [Created::Now(first.clone()), Created::Before(first.clone())]);
        let mut made = Vec::new();
        for number in [1, 2] {
            let draft = GroupDraft { page_id: Some(page.to_string()), name: Some("a".to_owned()) };
            let new = NewGroup {
                id: GroupId::from_bits(number),
                workspace: home.workspace,
                settings: draft.parse().unwrap(),
                idempotency: call("CreateComponentGroup"),
            };
            made.push(home.store.groups().create(new, at(0)).await.unwrap());
        }
        let group = made[0].clone().into_inner();
        assert_eq!(made, [Created::Now(group.clone()), Created::Before(group)]);
        home.store.components().delete(home.workspace, first.id, at(1)).await.unwrap();
        let new = NewComponent {
            id: ComponentId::from_bits(3),
            workspace: home.workspace,
            settings: settings(page, None, |_| {}),
            idempotency: call("CreateComponent"),
        };
        let gone = home.store.components().create(new, at(2)).await;
        assert!(matches!(gone, Err(StoreError::Gone { .. })), "{gone:?}");
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_access_components_or_groups() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let other = workspace_id(2);
        let page = a_page(home, 1).await.id;
        let component = create(home, 1, settings(page, None, |_| {})).await.unwrap();
        let group = a_group(home, 1, page).await;
        let (components, groups) = (home.store.components(), home.store.groups());
        let foreign = Component { workspace: other, ..component.clone() };
        let foreign_group = ComponentGroup { workspace: other, ..group.clone() };
        let refusals = [
            components.get(other, component.id).await.map(drop),
            components.update(foreign, component.settings.clone(), at(2)).await.map(drop),
            components.delete(other, component.id, at(2)).await,
            components.list(other, Some(page), COMPONENTS).await.map(drop),
            groups.get(other, group.id).await.map(drop),
            groups.update(foreign_group, group.settings.clone(), at(2)).await.map(drop),
            groups.delete(other, group.id, at(2)).await,
            groups.list(other, Some(page), GROUPS).await.map(drop),
        ];
        for refusal in refusals {
            assert!(matches!(refusal, Err(StoreError::NotFound { .. })), "{refusal:?}");
        }
        assert_eq!(read(home, &component).await, component);
        assert_eq!(groups.get(home.workspace, group.id).await.unwrap(), group);
    })
    .await;
}

#[tokio::test]
async fn transfer_to_postgresql_keeps_pages_unchanged() {
    let home = Home::new(Engine::Sqlite).await;
    let page = crate::pages::a_full_page(&home, 1).await.id;
    let page = home.store.pages().set_published(home.workspace, page, false, at(5)).await.unwrap();
    let group = a_group(&home, 1, page.id).await;
    let monitor = home.monitor(1).await.id;
    let grouped = |draft: &mut ComponentDraft| draft.group_id = Some(group.id.to_string());
    create(&home, 1, settings(page.id, Some(monitor), grouped)).await.unwrap();
    // A component keeps the row ID of a deleted monitor.
    home.store.monitors().delete(home.workspace, monitor, at(9)).await.unwrap();
    let shown = home.store.components().list(home.workspace, None, COMPONENTS).await.unwrap();
    home.store.clone().close().await.unwrap();
    let postgres = Engine::Postgres.database();
    let (folder, key) = (home.folder.path(), MasterKeySource::File);
    transfer(folder, &key, Database::Embedded, postgres.clone()).await.unwrap();
    let store = open(Settings { database: postgres, ..home.settings() }).await;
    assert_eq!(store.pages().get(home.workspace, page.id).await.unwrap(), page);
    assert_eq!(store.groups().get(home.workspace, group.id).await.unwrap(), group);
    let there = store.components().list(home.workspace, None, COMPONENTS).await.unwrap();
    assert_eq!((there.total, there), (1, shown));
    store.close().await.unwrap();
}
