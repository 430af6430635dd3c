//! TCP checks: resolve, connect, close.

use std::net::IpAddr;
use std::time::Duration;

use domain::check::tcp::TcpPlan;
use domain::check::{Failure, TcpObservation};
use tokio::time::Instant;

use super::Network;
use crate::connect::{connect, permitted};
use crate::progress::{Stage, micros_since};
use crate::resolve::of_version;

/// Progress of a TCP check.
pub(crate) struct TcpProgress {
    /// Current stage.
    pub(crate) stage: Stage,
    /// Observations so far.
    pub(crate) observation: TcpObservation,
}

impl TcpProgress {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::LookUp, observation: TcpObservation::default() }
    }

    /// Returns the failure for a timeout.
    pub(crate) fn out_of_time(&self, plan: &TcpPlan, limit: Duration) -> Failure {
        self.stage.out_of_time(limit, &plan.host, self.observation.address)
    }
}

/// Connects to the target of `plan`.
pub(crate) async fn exchange(
    network: &Network,
    plan: &TcpPlan,
    progress: &mut TcpProgress,
) -> Result<(), Failure> {
    let TcpProgress { stage, observation: seen } = progress;
    let addresses = if let Ok(literal) = plan.host.parse::<IpAddr>() {
        of_version(vec![literal], plan.ip_version, &plan.host)?
    } else {
        let start = Instant::now();
        let addresses = network.resolver.addresses(&plan.host, plan.ip_version).await?;
        seen.phases.dns_us = Some(micros_since(start));
        addresses
    };
    let addresses = permitted(&network.egress, &plan.host, &addresses, plan.port)?;
    *stage = Stage::Connect;
    let start = Instant::now();
    connect(&addresses, plan.requires_ipv6(), &mut seen.address).await?;
    seen.phases.connect_us = Some(micros_since(start));
    Ok(())
}
