//! Results of probes whose connection breaks before the server answers.

use std::time::Duration;

use domain::check::Outcome;
use rules::MonitorStatus;

use super::faults::{BehindProxy, HeldTarget};
use super::{monitor, wait_for_health};
use crate::pipeline::{Watched, until};

// docs/decisions/0067-probes.md: "The results of the last second are lost if their probe is
// killed"
#[tokio::test]
async fn unanswered_results_are_on_disk_meanwhile() {
    let BehindProxy { watched, proxy, agent, .. } = BehindProxy::start().await;
    let target = HeldTarget::start().await;
    let id = monitor(&watched, &target.url, &["fly-sin"]).await;
    target.wait_until_reached().await;
    proxy.hold();
    target.release();
    let files = agent.data.path().join("results");
    let mut is_given_up = proxy.is_given_up.clone();
    tokio::select! {
        () = until(async || std::fs::read_dir(&files).unwrap().next().map(drop)) => {}
        _ = is_given_up.wait_for(|it| *it) => panic!("it waited for an answer first"),
    }
    proxy.restore();
    watched.stored.at_least(1, id).await;
    until(async || std::fs::read_dir(&files).unwrap().next().is_none().then_some(())).await;
    agent.stop().await;
}

// docs/decisions/0067-probes.md: "A failure whose stream ended before its report does not
// vote"
#[tokio::test]
async fn late_failure_has_no_vote_after_restart() {
    let BehindProxy { watched, proxy, agent, .. } = BehindProxy::start().await;
    let target = HeldTarget::answering("500 Internal Server Error").await;
    let id = monitor(&watched, &target.url, &["fly-sin"]).await;
    target.wait_until_reached().await;
    proxy.cut();
    wait_for_health(&watched.server, "fly-sin", "disconnected").await;
    target.release();
    proxy.restore();
    assert_eq!(watched.stored.at_least(1, id).await[0].outcome, Outcome::Failure);
    agent.stop().await;
    let server = watched.server.restart(Duration::from_millis(1)).await;
    let view = server.running().app().pipeline.view(id).await.unwrap();
    assert_eq!(view.regions[0].status, MonitorStatus::Unknown);
    let watched = Watched::on(server).await;
    assert_eq!(watched.stored.missed(id).await, [], "its slot ran all the same");
}
