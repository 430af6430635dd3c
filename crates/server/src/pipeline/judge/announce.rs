//! Texts of a transition: the places of its cause, and its log line.

use domain::judge::{ProbeIndex, Transition};
use domain::notify::Cause;
use tracing::info;

use super::JudgedMonitor;
use crate::lane::probes::Probes;

/// Sets the location of each region whose probe is the server's own or serves several regions.
pub(super) fn set_locations(cause: &mut Cause, judged: &JudgedMonitor, probes: &Probes) {
    let checked_by: Vec<_> =
        cause.regions.iter().map(|seen| judged.policy.probe_of(seen.region)).collect();
    for (seen, probe) in cause.regions.iter_mut().zip(&checked_by) {
        let Some(probe) = *probe else { continue };
        let shares = checked_by.iter().filter(|other| **other == Some(probe)).count() > 1;
        if shares || probe == ProbeIndex::EMBEDDED || seen.region.is_private() {
            seen.place = Some(probes.name(probe).0.to_string());
        }
    }
}

/// Logs the transition with its reason and its cause, that of the first failing region.
pub(super) fn log(judged: &JudgedMonitor, transition: &Transition, cause: &Cause) {
    let JudgedMonitor { monitor, name, .. } = judged;
    let Transition { from, to, why, .. } = transition;
    let reason = why.to_string();
    let cause = Some(&cause.why).filter(|cause| !cause.is_empty() && **cause != reason);
    let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    info!(
        monitor.id = %monitor, monitor.name = %name,
        "monitor `{name}` ({monitor}) went from {from} to {to}, {reason}{cause}"
    );
}
