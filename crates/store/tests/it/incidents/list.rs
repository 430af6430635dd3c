//! Incidents of a workspace: newest first, filtered by monitor, state and time, in pages.

use rules::IncidentId;
use store::{Batch, IncidentFilter, Page};

use crate::commit::{closed, opened};
use crate::harness::{Home, for_each_engine, instant, monitor_id, workspace_id};

const ALL: Page<IncidentId> = Page { limit: 100, offset: 0, after: None };

/// Commits three outages of the first monitor, the last of them open, and one of the second.
async fn outages(home: &Home) {
    let (first, second) = (home.monitor(1).await.id, home.monitor(2).await.id);
    let transitions = vec![
        (first, opened(1, 10)),
        (first, closed(1, 20)),
        (second, opened(2, 30)),
        (first, opened(3, 40)),
        (first, closed(3, 50)),
        (first, opened(4, 60)),
    ];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
}

async fn listed(home: &Home, filter: IncidentFilter, page: Page<IncidentId>) -> (Vec<u64>, u32) {
    let part = home.store.incidents().list(home.workspace, filter, page).await.unwrap();
    (part.rows.iter().map(|incident| incident.id.bits()).collect(), part.total)
}

#[tokio::test]
async fn list_is_filtered_and_newest_first() {
    for_each_engine(async |home| {
        outages(home).await;
        let any = IncidentFilter::default();
        let of = |number| IncidentFilter { monitor: Some(monitor_id(number)), ..any };
        let cases = [
            ("all", any, vec![4, 3, 2, 1]),
            ("one monitor", of(1), vec![4, 3, 1]),
            ("unknown monitor", of(9), vec![]),
            ("open", IncidentFilter { is_open: Some(true), ..any }, vec![4, 2]),
            ("closed", IncidentFilter { is_open: Some(false), ..any }, vec![3, 1]),
            ("from", IncidentFilter { from: Some(instant(30)), ..any }, vec![4, 3, 2]),
            ("to", IncidentFilter { to: Some(instant(30)), ..any }, vec![1]),
            (
                "all filters",
                IncidentFilter {
                    is_open: Some(false),
                    from: Some(instant(11)),
                    to: Some(instant(60)),
                    ..of(1)
                },
                vec![3],
            ),
        ];
        for (what, filter, expected) in cases {
            let total = expected.len() as u32;
            assert_eq!(listed(home, filter, ALL).await, (expected, total), "{what}");
        }
    })
    .await;
}

#[tokio::test]
async fn next_page_continues_after_the_cursor() {
    for_each_engine(async |home| {
        outages(home).await;
        let any = IncidentFilter::default();
        let after = |number| Some(IncidentId::from_bits(number));
        let page = |offset, after| Page { limit: 2, offset, after };
        assert_eq!(listed(home, any, page(0, None)).await, (vec![4, 3], 4));
        assert_eq!(listed(home, any, page(0, after(3))).await, (vec![2, 1], 4));
        assert_eq!(listed(home, any, page(0, after(1))).await, (vec![], 4));
        assert_eq!(listed(home, any, page(1, None)).await, (vec![3, 2], 4));
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_read_incidents() {
    for_each_engine(async |home| {
        outages(home).await;
        let other = workspace_id(2);
        let incidents = home.store.incidents();
        let part = incidents.list(other, IncidentFilter::default(), ALL).await.unwrap();
        assert_eq!((part.rows, part.total), (vec![], 0));
        for number in [1, 4, 9] {
            let error = incidents.get(other, IncidentId::from_bits(number)).await.unwrap_err();
            let id = IncidentId::from_bits(number);
            assert_eq!(error.to_string(), format!("incident `{id}` not found"));
        }
    })
    .await;
}
