//! Partitions of the compacted results: one for each day, dropped as a whole.

use std::time::Duration;

use rules::{MonitorId, Region, Timestamp};
use sqlx::{AssertSqlSafe, PgConnection};

use crate::harness::{Engine, Home, a_result, a_workspace, at, instant};
use crate::history::{an_hour, batch_of, compact_all};
use crate::upgrade::{migrated_to, written};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Retention of all results.
const KEPT: Duration = Duration::from_hours(24);

/// Lists the partitions with their keys, in order.
const PARTITIONS: &str = "SELECT c.relname::TEXT FROM pg_inherits i \
    JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'result_blocks'::regclass \
    ORDER BY c.relname";

/// Opens a home whose monitor has an hour of compacted results from the first day (15 January
/// 2027, 08:00) and from the third.
async fn home_of_two_days() -> (Home, MonitorId) {
    let home = Home::new(Engine::Postgres).await;
    let monitor = home.monitor(1).await.id;
    for day in [0, 2] {
        home.commit(batch_of(an_hour(monitor, day * DAY, 60))).await.unwrap();
    }
    compact_all(&home).await;
    (home, monitor)
}

async fn partitions(db: &mut PgConnection) -> Vec<String> {
    sqlx::query_scalar(PARTITIONS).fetch_all(db).await.unwrap()
}

// issue 19, point 6: "daily partitions, retention by dropping partitions"
#[tokio::test]
async fn expired_days_are_dropped_whole() {
    let (home, monitor) = home_of_two_days().await;
    let mut db = home.beside().await;
    assert_eq!(partitions(&mut db).await, ["result_blocks_20270115", "result_blocks_20270117"]);
    // In the evening of the second day, part of the first one is still kept.
    let pruned = home.store.history().prune(KEPT, instant(DAY)).await.unwrap();
    assert_eq!((pruned.days, pruned.blocks), (0, 0));
    let pruned = home.store.history().prune(KEPT, instant(DAY + 30 * MINUTE)).await.unwrap();
    assert_eq!((pruned.days, pruned.blocks), (0, 3), "the rows of half an hour");
    let pruned = home.store.history().prune(KEPT, instant(2 * DAY)).await.unwrap();
    assert_eq!((pruned.days, pruned.blocks), (1, 0));
    // The days around now exist ahead.
    let ahead = ["20270116", "20270117", "20270118", "20270119"];
    let ahead = ahead.map(|day| format!("result_blocks_{day}"));
    assert_eq!(partitions(&mut db).await, ahead);
    let since = home.store.history().rollups(home.workspace, monitor, instant(0)).await.unwrap();
    assert_eq!(since[&Region::FlyAms].success, 2 * 54, "rollups stay");
}

#[tokio::test]
async fn day_stays_while_a_workspace_keeps_it() {
    let (home, _) = home_of_two_days().await;
    let history = home.store.history();
    let long = a_workspace(2);
    home.store.workspaces().create(long.clone(), at(0)).await.unwrap();
    history.set_retention(long.id, Some(30), at(0)).await.unwrap();
    let pruned = history.prune(KEPT, instant(2 * DAY)).await.unwrap();
    assert_eq!((pruned.days, pruned.blocks), (0, 6), "only the rows of the other workspace");
    let pruned = history.prune(KEPT, instant(40 * DAY)).await.unwrap();
    assert_eq!(pruned.days, 4, "both days, and the two that were created around them");
}

#[tokio::test]
async fn late_result_creates_its_expired_day_again() {
    let (home, monitor) = home_of_two_days().await;
    home.store.history().prune(KEPT, instant(2 * DAY)).await.unwrap();
    home.commit(batch_of(vec![a_result(monitor, Region::FlyAms, 5)])).await.unwrap();
    assert_eq!(compact_all(&home).await.added, 1);
    let mut db = home.beside().await;
    assert!(partitions(&mut db).await.contains(&"result_blocks_20270115".to_owned()));
    let pruned = home.store.history().prune(KEPT, instant(2 * DAY)).await.unwrap();
    assert_eq!(pruned.days, 1);
}

// A backup reads all tables for hours. Waiting for it would block every reader.
#[tokio::test]
async fn backup_delays_the_drop_and_nothing_else() {
    let (home, monitor) = home_of_two_days().await;
    let mut backup = home.beside().await;
    sqlx::raw_sql("BEGIN; SELECT COUNT(*) FROM result_blocks").execute(&mut backup).await.unwrap();
    let pruned = home.store.history().prune(KEPT, instant(2 * DAY)).await.unwrap();
    assert_eq!(pruned.days, 0);
    home.commit(batch_of(an_hour(monitor, 6 * DAY, 30))).await.unwrap();
    assert!(compact_all(&home).await.added > 0, "a day is created meanwhile");
    home.store.ready().await.unwrap();
    sqlx::raw_sql("COMMIT").execute(&mut backup).await.unwrap();
    let pruned = home.store.history().prune(KEPT, instant(2 * DAY)).await.unwrap();
    assert_eq!(pruned.days, 1);
}

#[tokio::test]
async fn blocks_of_a_day_use_one_index() {
    let (home, _) = home_of_two_days().await;
    let mut db = home.beside().await;
    let bucket = instant(0).as_millis() / (10 * MINUTE);
    let keys: Vec<String> = (bucket..bucket + 6).map(|it| ((it << 32) | 1).to_string()).collect();
    // Tables of a test are so small that a scan costs least.
    sqlx::raw_sql("SET enable_seqscan = off").execute(&mut db).await.unwrap();
    for mode in ["force_custom_plan", "force_generic_plan"] {
        let prepared = format!(
            "SET plan_cache_mode = {mode}; DEALLOCATE ALL; \
             PREPARE blocks (BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT) AS \
             SELECT key, body FROM result_blocks WHERE key IN ($1, $2, $3, $4, $5, $6)"
        );
        sqlx::raw_sql(AssertSqlSafe(prepared)).execute(&mut db).await.unwrap();
        let explain = format!("EXPLAIN (ANALYZE, COSTS OFF) EXECUTE blocks ({})", keys.join(", "));
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(explain))
            .persistent(false)
            .fetch_all(&mut db)
            .await
            .unwrap();
        let scans: Vec<&String> =
            plan.iter().filter(|line| line.contains("result_blocks_")).collect();
        let is_one = !scans.is_empty() && scans.iter().all(|line| line.contains("20270115"));
        assert!(is_one && plan.iter().any(|line| line.contains("Index")), "{mode}: {plan:#?}");
    }
    let first = "EXPLAIN (COSTS OFF) SELECT MIN(key) FROM result_blocks";
    let plan: Vec<String> = sqlx::query_scalar(first).fetch_all(&mut db).await.unwrap();
    assert!(plan.iter().all(|line| !line.contains("Seq Scan")), "{plan:#?}");
}

#[tokio::test]
async fn earlier_blocks_become_one_partition() {
    // The first and the last ten minutes of 15 January 2027, and the next ones, of monitor 1.
    let keys = [2_999_952_i64, 3_000_095, 3_000_096].map(|bucket| (bucket << 32) | 1);
    let next_day = Timestamp::from_millis((keys[2] >> 32) * 10 * MINUTE);
    let insert = |keys: &[i64]| {
        let row = |key: &i64| format!("INSERT INTO result_blocks VALUES ({key}, '\\x00');");
        keys.iter().map(row).collect::<String>()
    };
    for (stored, earlier) in [(&keys[..0], vec![]), (&keys[..2], vec!["result_blocks_earlier"])] {
        let folder = tempfile::tempdir().unwrap();
        let dump = migrated_to(Engine::Postgres, 42) + &insert(stored);
        let database = written(Engine::Postgres, folder.path(), dump).await;
        let home = Home::at(Engine::Postgres, folder, database).await;
        assert_eq!(home.count("result_blocks").await, stored.len() as i64);
        let mut db = home.beside().await;
        assert_eq!(partitions(&mut db).await, earlier);
        // Later days are created beside it, and it is dropped with its last day.
        let history = home.store.history();
        assert_eq!(history.prune(KEPT, next_day).await.unwrap().days, 0);
        home.execute_owned(insert(&keys[2..])).await;
        assert_eq!(partitions(&mut db).await.len(), earlier.len() + 3);
        let dropped = history.prune(KEPT, next_day + KEPT).await.unwrap().days;
        assert_eq!(dropped, earlier.len() as u64);
        assert_eq!(home.count("result_blocks").await, 1);
    }
}
