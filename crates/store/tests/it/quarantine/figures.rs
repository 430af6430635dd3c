//! Figures and names over many rows: an unreadable row takes neither a report nor a list away.

use std::time::Duration;

use domain::history::{Span, Uptime};
use rules::{MonitorStatus, SigningSecretId};

use super::named;
use crate::components;
use crate::fleets::number;
use crate::harness::{at, for_each_engine, instant, monitor_id};
use crate::maintenances::HOUR;
use crate::pages::a_page;
use crate::uptime_reports::{figures, outage};

const DAY: Span = Span { from: instant(HOUR), to: instant(20 * HOUR) };

// issue 16, point 7: "Treat unreadable data the same way everywhere"
#[tokio::test]
async fn figures_omit_unreadable_rows() {
    for_each_engine(async |home| {
        let [damaged, monitor] = [1, 2].map(monitor_id);
        for it in [1, 2] {
            home.monitor(it).await;
            outage(home, monitor_id(it), 10 * HOUR).await;
        }
        let numbers = [number(home, damaged).await, number(home, monitor).await];
        let fleet = async || home.store.fleets().figures(home.workspace, &numbers, DAY).await;
        assert_eq!(fleet().await.unwrap()[&monitor].uptime, figures(home, DAY).await[1].uptime);

        home.execute("UPDATE monitors SET tags = 'a,' WHERE number = 1").await;
        home.execute(
            "UPDATE status_changes SET to_status = 'lost' WHERE monitor = 2 AND from_status <> 'unknown'",
        )
        .await;
        // Nothing is known after the first unreadable change.
        let readable = Some(Uptime { known_ms: u64::try_from(9 * HOUR).unwrap(), error_ms: 0 });
        let found = figures(home, DAY).await;
        assert_eq!((found.len(), found[0].uptime), (1, readable), "only what is readable counts");
        assert_eq!(fleet().await.unwrap()[&monitor].uptime, readable);
        home.execute("UPDATE status_changes SET to_status = 'lost' WHERE monitor = 2").await;
        assert_eq!(figures(home, DAY).await[0].uptime, None);
        assert_eq!(fleet().await.unwrap()[&monitor].uptime, None);
        let unreadable = named(home);
        assert_eq!(unreadable.len(), 4, "{unreadable:?}");
        assert_eq!(unreadable[0], format!("monitors/{damaged}"));
    })
    .await;
}

#[tokio::test]
async fn unreadable_status_reads_as_unknown() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        let state = crate::harness::a_history(MonitorStatus::Active, 12 * HOUR);
        let judge_states = vec![(monitor, state)];
        home.commit(store::Batch { judge_states, ..store::Batch::default() }).await.unwrap();
        home.execute("UPDATE judge_states SET status = 'lost'").await;
        let read = home.store.monitors().get(home.workspace, monitor).await.unwrap();
        assert_eq!((read.status, read.since), (MonitorStatus::Unknown, None));
        let listed = home.store.monitors().list(home.workspace, super::FIRST).await.unwrap();
        assert_eq!((listed.rows.len(), listed.omitted.len()), (1, 0));
        assert_eq!(named(home), [format!("judge_states/{monitor}")]);
    })
    .await;
}

#[tokio::test]
async fn names_omit_unreadable_rows() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let page = a_page(home, 1).await.id;
        let whole = components::settings(page, Some(monitor), |_| ());
        let whole = components::create(home, 1, whole).await.unwrap();
        let other = components::settings(page, None, |_| ());
        let other = components::create(home, 2, other).await.unwrap().id;
        home.execute_owned(format!("UPDATE components SET id = 'lost' WHERE id = '{other}'")).await;
        let names = home.store.components().names(home.workspace).await.unwrap();
        assert_eq!(names.iter().map(|it| it.id).collect::<Vec<_>>(), [whole.id]);
        let open = home.store.public_pages().open_page(home.workspace, &[monitor]).await.unwrap();
        assert_eq!(open.unwrap().component, whole.id);
        assert_eq!(named(home), ["components/lost"]);
    })
    .await;
}

#[tokio::test]
async fn rotation_returns_its_secret_beside_damage() {
    for_each_engine(async |home| {
        let secrets = home.store.signing_secrets();
        let overlap = Duration::from_hours(1);
        home.execute("UPDATE signing_secrets SET id = 'lost'").await;
        let new = SigningSecretId::from_bits(9);
        let rotated = secrets.rotate(home.workspace, new, overlap, at(5)).await.unwrap();
        assert_eq!(rotated.signing.iter().map(|it| it.id).collect::<Vec<_>>(), [new]);
        assert_eq!(secrets.list(home.workspace, instant(5)).await.unwrap().len(), 1);
        assert_eq!(named(home), ["signing_secrets/lost"]);
    })
    .await;
}
