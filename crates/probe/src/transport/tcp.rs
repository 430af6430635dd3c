//! TCP checks: look up, connect, hang up.

use std::net::IpAddr;
use std::time::Duration;

use domain::check::tcp::TcpPlan;
use domain::check::{Failure, TcpSeen};
use tokio::time::Instant;

use super::Network;
use crate::connect::{connect, permitted};
use crate::progress::{Stage, micros_since};

/// How far a TCP check has come.
pub(crate) struct Progress {
    /// What it is doing.
    pub(crate) stage: Stage,
    /// What it saw.
    pub(crate) seen: TcpSeen,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::LookUp, seen: TcpSeen::default() }
    }

    /// The failure of an attempt whose time was over.
    pub(crate) fn out_of_time(&self, plan: &TcpPlan, limit: Duration) -> Failure {
        self.stage.out_of_time(limit, &plan.host, self.seen.address)
    }
}

/// Connects as `plan` says.
pub(crate) async fn exchange(
    network: &Network,
    plan: &TcpPlan,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let Progress { stage, seen } = progress;
    let addresses = if let Ok(literal) = plan.host.parse::<IpAddr>() {
        vec![literal]
    } else {
        let start = Instant::now();
        let addresses = network.resolver.addresses(&plan.host).await?;
        seen.phases.dns_us = Some(micros_since(start));
        addresses
    };
    let addresses = permitted(&network.egress, &plan.host, &addresses, plan.port)?;
    *stage = Stage::Connect;
    let start = Instant::now();
    connect(&addresses, &mut seen.address).await?;
    seen.phases.connect_us = Some(micros_since(start));
    Ok(())
}
