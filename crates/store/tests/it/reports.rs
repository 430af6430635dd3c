//! Status reports: stored values read back equal, concurrent edits conflict, workspaces are
//! isolated. Updates apply from their time on, and deleted objects are removed from reports.

mod templates;

use rules::report::{
    ComponentImpact, Impact, Report, ReportDraft, ReportSettings, ReportState, ReportStatus,
    UpdateSettings,
};
use rules::status_page::ComponentDraft;
use rules::{ComponentId, PageId, ReportId, UpdateId};
use store::{
    Created, Idempotency, NewComponent, NewReport, NewUpdate, Page, ReportFilter, StoreError,
};

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, workspace_id};
use crate::pages::{a_page, page_id};

const ALL: Page<ReportId> = Page { limit: 50, offset: 0, after: None };

const fn report_id(number: u64) -> ReportId {
    ReportId::from_bits(number)
}

const fn update_id(number: u64) -> UpdateId {
    UpdateId::from_bits(number)
}

/// Creates a static component of this page.
async fn a_component(home: &Home, number: u64, page: PageId) -> ComponentId {
    let draft = ComponentDraft {
        page_id: Some(page.to_string()),
        kind: Some("static".to_owned()),
        name: Some("Mail".to_owned()),
        ..ComponentDraft::default()
    };
    let (id, workspace) = (ComponentId::from_bits(number), home.workspace);
    let settings = draft.parse().unwrap();
    let new = NewComponent { id, workspace, settings, idempotency: None };
    home.store.components().create(new, at(0)).await.unwrap();
    id
}

const fn down(component: ComponentId) -> ComponentImpact {
    ComponentImpact { component, impact: Impact::Down }
}

fn settings(page: PageId) -> ReportSettings {
    let draft = ReportDraft {
        page_id: Some(page.to_string()),
        title: Some("Disks".to_owned()),
        components: Vec::new(),
    };
    draft.parse().unwrap()
}

fn an_update(millis: i64, status: ReportStatus, components: &[ComponentImpact]) -> UpdateSettings {
    let (at, components) = (instant(millis), components.to_vec());
    UpdateSettings { status, text: format!("at {millis}"), at, components }
}

fn new(number: u64, page: PageId, first: UpdateSettings) -> NewReport {
    NewReport {
        id: report_id(number),
        workspace: workspace_id(1),
        settings: settings(page),
        update: update_id(number * 100),
        first,
        notify: false,
        idempotency: None,
    }
}

async fn create(home: &Home, number: u64, page: PageId, first: UpdateSettings) -> Report {
    let created = home.store.reports().create(new(number, page, first), at(10)).await;
    created.unwrap().into_inner()
}

/// Creates a report about this component, and a template.
pub(crate) async fn a_full_one(home: &Home, page: PageId, component: ComponentId) {
    create(home, 1, page, an_update(5, ReportStatus::Investigating, &[down(component)])).await;
    templates::a_full_one(home, component).await;
}

async fn add(home: &Home, number: u64, update: UpdateSettings) -> Result<Report, StoreError> {
    let new = NewUpdate {
        id: update_id(number),
        workspace: home.workspace,
        report: report_id(number / 100),
        settings: update,
        notify: false,
        idempotency: None,
    };
    home.store.reports().add(new, at(20)).await.map(Created::into_inner)
}

async fn read(home: &Home, number: u64) -> Result<Report, StoreError> {
    home.store.reports().get(home.workspace, report_id(number)).await
}

#[tokio::test]
async fn report_reads_back_with_updates_in_time_order() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let (first, second) = (a_component(home, 1, page).await, a_component(home, 2, page).await);
        let opened =
            create(home, 1, page, an_update(5, ReportStatus::Investigating, &[down(first)])).await;
        assert_eq!(read(home, 1).await.unwrap(), opened);
        assert_eq!((opened.started_at, opened.status()), (instant(5), ReportStatus::Investigating));
        add(home, 101, an_update(9, ReportStatus::Resolved, &[])).await.unwrap();
        let report =
            add(home, 102, an_update(3, ReportStatus::Monitoring, &[down(second)])).await.unwrap();
        let updates: Vec<_> =
            report.updates.iter().map(|it| (it.id, it.components.clone())).collect();
        assert_eq!(
            updates,
            [
                (update_id(101), vec![down(first)]),
                (update_id(100), vec![down(first)]),
                (update_id(102), vec![down(second)]),
            ],
            "an update without impacts inherits the earlier ones"
        );
        let report = read(home, 1).await.unwrap();
        assert_eq!(report.started_at, instant(3));
        assert_eq!(
            (report.status(), report.resolved_at()),
            (ReportStatus::Resolved, Some(instant(9)))
        );
        let of_update = home.store.reports().by_update(home.workspace, update_id(102)).await;
        assert_eq!(of_update.unwrap(), report);
        let left = home.store.reports().delete_update(home.workspace, update_id(101), at(30)).await;
        assert_eq!(left.unwrap().status(), ReportStatus::Investigating);
    })
    .await;
}

#[tokio::test]
async fn later_written_update_of_same_time_counts() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        create(home, 1, page, an_update(5, ReportStatus::Investigating, &[])).await;
        add(home, 109, an_update(5, ReportStatus::Identified, &[])).await.unwrap();
        let report = add(home, 103, an_update(5, ReportStatus::Resolved, &[])).await.unwrap();
        assert_eq!(
            (report.status(), report.updates[0].id),
            (ReportStatus::Resolved, update_id(110))
        );
        assert_eq!(read(home, 1).await.unwrap(), report);
    })
    .await;
}

#[tokio::test]
async fn unknown_pages_and_components_are_rejected() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let elsewhere = a_component(home, 1, other).await;
        let looks =
            |components: &[ComponentImpact]| an_update(5, ReportStatus::Investigating, components);
        let missing = ComponentId::from_bits(9);
        let cases = [
            ("page_id", new(1, page_id(9), looks(&[]))),
            ("components", new(1, page, looks(&[down(elsewhere)]))),
            ("components", new(1, page, looks(&[down(missing)]))),
            ("page_id", NewReport { workspace: workspace_id(2), ..new(1, page, looks(&[])) }),
        ];
        for (field, new) in cases {
            let refusal = home.store.reports().create(new, at(10)).await;
            let is_named = matches!(&refusal, Err(StoreError::Refused(it)) if it.field == field);
            assert!(is_named, "{field}: {refusal:?}");
        }
        assert_eq!(home.count("reports").await, 0, "rejected requests store nothing");
        create(home, 1, page, looks(&[])).await;
        let refusal = add(home, 101, looks(&[down(elsewhere)])).await;
        assert!(matches!(refusal, Err(StoreError::Refused(_))), "{refusal:?}");
        assert_eq!(home.count("report_updates").await, 1);
    })
    .await;
}

#[tokio::test]
async fn stale_edit_conflicts_and_changes_are_audited() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let component = a_component(home, 1, page).await;
        let seen = create(home, 1, page, an_update(5, ReportStatus::Investigating, &[])).await;
        let reports = home.store.reports();
        let renamed = ReportSettings {
            title: "On".to_owned(),
            components: vec![down(component)],
            ..seen.settings()
        };
        let edited = reports.update(seen.clone(), renamed.clone(), at(0)).await.unwrap();
        assert_eq!(edited.settings(), renamed);
        assert_eq!(edited.updated_at, instant(11), "later than the seen version");
        let conflict = reports.update(seen.clone(), renamed, at(20)).await;
        assert!(matches!(conflict, Err(StoreError::Conflict { .. })), "{conflict:?}");
        let rewritten = an_update(4, ReportStatus::Resolved, &[]);
        let conflict = reports.edit(seen.clone(), update_id(100), rewritten.clone(), at(20)).await;
        assert!(matches!(conflict, Err(StoreError::Conflict { .. })), "{conflict:?}");
        let edited = reports.edit(edited, update_id(100), rewritten, at(20)).await.unwrap();
        assert_eq!((edited.status(), edited.started_at), (ReportStatus::Resolved, instant(4)));
        assert_eq!(edited.settings().components, []);
        let other =
            reports.edit(edited, update_id(9), an_update(4, ReportStatus::Resolved, &[]), at(30));
        assert!(matches!(other.await, Err(StoreError::NotFound { .. })));
        reports.delete(home.workspace, seen.id, at(40)).await.unwrap();
        assert!(matches!(read(home, 1).await, Err(StoreError::NotFound { .. })));
        let noted = home.store.audit().newest(home.workspace, 4).await.unwrap();
        let noted: Vec<_> = noted.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(
            noted,
            ["report.delete", "report.edit_update", "report.update", "report.create"]
        );
        assert_eq!(home.count("report_updates").await, 0);
    })
    .await;
}

#[tokio::test]
async fn repeated_requests_return_first_result_until_deletion() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let once = |method| Some(Idempotency { method, key: "k".to_owned(), request: [7; 32] });
        let call = |number| NewReport {
            idempotency: once("CreateStatusReport"),
            ..new(number, page, an_update(5, ReportStatus::Investigating, &[]))
        };
        let reports = home.store.reports();
        let Created::Now(first) = reports.create(call(1), at(10)).await.unwrap() else {
            panic!("the create is not repeated")
        };
        assert_eq!(reports.create(call(2), at(11)).await.unwrap(), Created::Before(first));
        let update = |number| NewUpdate {
            id: update_id(number),
            workspace: home.workspace,
            report: report_id(1),
            settings: an_update(6, ReportStatus::Monitoring, &[]),
            notify: false,
            idempotency: once("AddStatusReportUpdate"),
        };
        let Created::Now(added) = reports.add(update(101), at(12)).await.unwrap() else {
            panic!("the create is not repeated")
        };
        assert_eq!(reports.add(update(102), at(13)).await.unwrap(), Created::Before(added));
        reports.delete(home.workspace, report_id(1), at(14)).await.unwrap();
        assert!(matches!(reports.create(call(3), at(15)).await, Err(StoreError::Gone { .. })));
        assert!(matches!(reports.add(update(103), at(15)).await, Err(StoreError::Gone { .. })));
    })
    .await;
}

#[tokio::test]
async fn lists_have_latest_updates_and_pages_recent_reports() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (page, other) = (a_page(home, 1).await, a_page(home, 2).await);
        let looks = an_update(5, ReportStatus::Investigating, &[]);
        create(home, 1, page.id, looks.clone()).await;
        create(home, 2, other.id, looks.clone()).await;
        create(home, 3, page.id, looks).await;
        add(home, 101, an_update(7, ReportStatus::Resolved, &[])).await.unwrap();
        let listed = async |workspace, page, state| {
            let filter = ReportFilter { page, state };
            let found = home.store.reports().list(workspace, filter, ALL).await.unwrap();
            assert!(found.rows.iter().all(|report| report.updates.len() == 1));
            assert_eq!(found.total as usize, found.rows.len());
            found.rows.iter().map(|report| report.id.bits()).collect::<Vec<_>>()
        };
        let ours = home.workspace;
        assert_eq!(listed(ours, None, None).await, [3, 2, 1]);
        assert_eq!(listed(ours, Some(page.id), None).await, [3, 1]);
        assert_eq!(listed(ours, None, Some(ReportState::Open)).await, [3, 2]);
        assert_eq!(listed(ours, Some(page.id), Some(ReportState::Resolved)).await, [1]);
        assert_eq!(listed(workspace_id(2), None, None).await, [0; 0]);
        let later = instant(7) + std::time::Duration::from_hours(24 * 90);
        let shown = async |now| {
            let facts = home.store.public_pages().facts(page.clone(), now).await.unwrap();
            let mut reports: Vec<_> =
                facts.reports.iter().map(|it| (it.id.bits(), it.updates.len())).collect();
            reports.sort_unstable();
            reports
        };
        assert_eq!(shown(later).await, [(1, 2), (3, 1)]);
        let past = later + std::time::Duration::from_millis(1);
        assert_eq!(shown(past).await, [(3, 1)], "resolved reports are shown for 90 days");
        let old = home.store.public_pages().report(page.id, report_id(1)).await.unwrap();
        assert_eq!(old.unwrap().id, report_id(1), "a report keeps its page for good");
        assert_eq!(home.store.public_pages().report(other.id, report_id(1)).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn deleting_component_or_page_updates_reports() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let (first, second) = (a_component(home, 1, page).await, a_component(home, 2, page).await);
        let both = an_update(5, ReportStatus::Investigating, &[down(first), down(second)]);
        let seen = create(home, 1, page, both).await;
        home.store.components().delete(home.workspace, first, at(20)).await.unwrap();
        let left = read(home, 1).await.unwrap();
        assert_eq!(left.settings().components, [down(second)]);
        assert!(left.updated_at > seen.updated_at);
        home.store.pages().delete(home.workspace, page, at(30)).await.unwrap();
        assert!(matches!(read(home, 1).await, Err(StoreError::NotFound { .. })));
        assert_eq!(home.count("report_impacts").await, 0);
        assert_eq!(home.count("audit WHERE action = 'report.delete'").await, 1);
    })
    .await;
}
