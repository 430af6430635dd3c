//! Details of the latest success of each monitor in each region, in a file beside the database.
//! Nearly every check is a success, so its details must cost next to nothing: they are encrypted,
//! written in the place of earlier ones, and never synced (docs/decisions/0054-latest-success.md).
//! The layout of the file is in `extents`; failures, and one success in ten minutes, are in the
//! database (`evidence`).

mod extents;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use domain::check::{CheckResult, Evidence, Outcome, ResultKey, Trigger};
use rules::{MonitorId, Timestamp};
use tracing::warn;

use self::extents::{Extents, Stored};
use crate::vault::{EncryptionContext, Vault};

/// Name of the file in the data folder.
const FILE: &str = "aloft.successes";
const COLUMN: &str = "successes.sealed";
/// The database has one success of each region from each bucket of this length. The buckets of a
/// monitor begin at a time of its own, so that not all monitors write in the same seconds.
const BUCKET_MS: i64 = 600_000;

/// The latest success of each monitor in each region.
pub(crate) struct LatestSuccesses {
    path: PathBuf,
    file: Mutex<FileState>,
}

#[derive(Default)]
struct FileState {
    /// Opened by the first success or the first question.
    extents: Option<Extents>,
    /// Whether the file could not be used the last time: logged once.
    is_broken: bool,
}

impl LatestSuccesses {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join(FILE), file: Mutex::default() }
    }

    /// Returns the successes that the database keeps too: the first of each period, and those of
    /// manual checks.
    pub(crate) fn due(&self, results: &[CheckResult]) -> HashSet<ResultKey> {
        let mut due = HashSet::new();
        if !results.iter().any(is_detailed) {
            return due;
        }
        let mut state = self.state();
        let extents = state.open(&self.path);
        for result in results.iter().filter(|result| is_detailed(result)) {
            let identity = result.identity;
            let known = extents.as_ref().and_then(|it| it.get(identity.monitor, identity.region));
            let is_known = known.is_some_and(|known| {
                bucket(identity.monitor, known.saved) == bucket(identity.monitor, identity.slot)
            });
            if identity.trigger == Trigger::Manual || !is_known {
                due.insert(identity);
            }
        }
        due
    }

    /// Stores the details of the successes of a batch that was committed. An error loses details
    /// and nothing else, so it is logged.
    pub(crate) fn store(&self, vault: &Vault, results: &[CheckResult], due: &HashSet<ResultKey>) {
        if !results.iter().any(is_detailed) {
            return;
        }
        let mut state = self.state();
        let Some(extents) = state.open(&self.path) else { return };
        let mut kept = Ok(());
        for result in results.iter().filter(|result| is_detailed(result)) {
            let Some(evidence) = result.evidence.as_deref() else { continue };
            kept = kept.and(store(extents, vault, result.identity, evidence, due));
        }
        state.log_error(&self.path, &kept);
    }

    /// Returns the details of a success, if they are kept. Erases them if they cannot be read, so
    /// that nobody is referred to them.
    pub(crate) fn find(&self, vault: &Vault, identity: &ResultKey) -> Option<Evidence> {
        let mut state = self.state();
        let extents = state.open(&self.path)?;
        let stored = extents.get(identity.monitor, identity.region)?;
        if stored.identity(identity.monitor, identity.region) != *identity {
            return None;
        }
        let (monitor, region) = (identity.monitor, identity.region);
        let row = row_name(identity);
        let context = EncryptionContext { column: COLUMN, row: &row };
        let sealed = match extents.read(monitor, region) {
            Ok(sealed) => sealed,
            Err(why) => {
                state.log_error(&self.path, &Err(why));
                return None;
            }
        };
        let evidence = sealed.and_then(|sealed| vault.open(context, &sealed).ok());
        if evidence.is_none() {
            let erased = extents.erase((monitor, region));
            state.log_error(&self.path, &erased);
        }
        evidence
    }

    /// Returns the successes of a monitor whose details are kept.
    pub(crate) fn by_monitor(&self, monitor: MonitorId) -> Vec<ResultKey> {
        let mut state = self.state();
        let extents = state.open(&self.path);
        extents.map(|extents| extents.by_monitor(monitor)).unwrap_or_default()
    }

    /// Returns monitors whose details are kept, in the order of their identifiers, after `after`,
    /// at most `limit`.
    pub(crate) fn monitors_after(&self, after: Option<MonitorId>, limit: usize) -> Vec<MonitorId> {
        let mut state = self.state();
        let extents = state.open(&self.path);
        extents.map(|extents| extents.monitors_after(after, limit)).unwrap_or_default()
    }

    /// Erases some of the details of these monitors for which `is_wanted` returns false; returns
    /// whether there may be more. Commits wait meanwhile, so one call erases little.
    pub(crate) fn retain(
        &self,
        monitors: &[MonitorId],
        is_wanted: impl Fn(MonitorId, Timestamp) -> bool,
    ) -> bool {
        let mut state = self.state();
        let Some(extents) = state.open(&self.path) else { return false };
        let erased = extents.retain(monitors, is_wanted);
        let is_there_more = erased.as_ref().is_ok_and(|erased| erased.is_there_more);
        state.log_error(&self.path, &erased.map(|_| ()));
        is_there_more
    }

    fn state(&self) -> MutexGuard<'_, FileState> {
        self.file.lock().expect("no thread panics while it holds the lock")
    }
}

impl FileState {
    fn open(&mut self, path: &Path) -> Option<&mut Extents> {
        if self.extents.is_none() {
            let opened = Extents::open(path);
            let extents = opened.map(|extents| self.extents = Some(extents));
            self.log_error(path, &extents);
        }
        self.extents.as_mut()
    }

    /// Logs the first of several errors in a row.
    fn log_error(&mut self, path: &Path, done: &io::Result<()>) {
        if let Err(why) = done
            && !self.is_broken
        {
            warn!("failed to write the details of successes to `{}`: {why}", path.display());
        }
        self.is_broken = done.is_err();
    }
}

impl std::fmt::Debug for LatestSuccesses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LatestSuccesses")
    }
}

/// Whether a result is a success with details.
fn is_detailed(result: &CheckResult) -> bool {
    result.evidence.is_some() && result.outcome == Outcome::Success
}

fn store(
    extents: &mut Extents,
    vault: &Vault,
    identity: ResultKey,
    evidence: &Evidence,
    due: &HashSet<ResultKey>,
) -> io::Result<()> {
    let before = extents.get(identity.monitor, identity.region).copied();
    // Results may arrive out of order, and a clock may be set back.
    if before.is_some_and(|before| identity.slot < before.slot) && !due.contains(&identity) {
        return Ok(());
    }
    let saved = match before {
        Some(before) if !due.contains(&identity) => before.saved,
        Some(_) | None => identity.slot,
    };
    let row = row_name(&identity);
    let sealed = vault
        .seal(EncryptionContext { column: COLUMN, row: &row }, evidence)
        .map_err(io::Error::other)?;
    let ResultKey { monitor, revision, region, slot, trigger } = identity;
    extents.write((monitor, region), Stored { slot, trigger, revision, saved }, &sealed)
}

/// Returns the bucket of a slot of a monitor.
fn bucket(monitor: MonitorId, slot: Timestamp) -> i64 {
    // Fibonacci hashing: the high bits of the product are spread evenly.
    let begin = (monitor.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as i64;
    (slot.as_millis() - begin).div_euclid(BUCKET_MS)
}

/// Binds sealed details to their check: by the monitor's identifier, because its number may be
/// another monitor's in a database that was restored.
fn row_name(identity: &ResultKey) -> String {
    let ResultKey { monitor, revision, region, slot, trigger } = identity;
    format!(
        "{monitor}/{}/{region}/{}/{revision}",
        slot.as_millis(),
        crate::codes::trigger_code(*trigger)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_two_monitors_begin_apart() {
        let (one, other) = (MonitorId::from_bits(1), MonitorId::from_bits(2));
        let begins = |monitor| {
            (0..600).find(|second| {
                let at = |second: i64| Timestamp::from_millis(1_800_000_000_000 + second * 1_000);
                bucket(monitor, at(*second)) != bucket(monitor, at(*second - 1))
            })
        };
        assert!(begins(one).is_some() && begins(other).is_some());
        assert_ne!(begins(one), begins(other));
    }
}
