//! Average durations of check phases, for charts.

use crate::check::Phases;

/// Number of phases: lookup, connection, TLS, first byte, transfer.
pub const PHASES: usize = 5;

/// Sums of the phases of several checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseSum {
    /// Number of checks.
    pub checks: u32,
    /// Total microseconds per phase; a skipped phase counts as zero.
    pub spent_us: [u64; PHASES],
}

impl PhaseSum {
    /// Adds a check.
    pub fn add(&mut self, phases: &Phases) {
        let Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us } = *phases;
        self.checks = self.checks.saturating_add(1);
        let spent = [dns_us, connect_us, tls_us, first_byte_us, transfer_us];
        for (all, one) in self.spent_us.iter_mut().zip(spent) {
            *all = all.saturating_add(u64::from(one.unwrap_or(0)));
        }
    }

    /// Adds all checks of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.checks = self.checks.saturating_add(other.checks);
        for (all, one) in self.spent_us.iter_mut().zip(other.spent_us) {
            *all = all.saturating_add(one);
        }
    }

    /// Returns the average microseconds per phase, or `None` without checks.
    pub fn means_us(&self) -> Option<[u32; PHASES]> {
        let checks = u64::from(self.checks);
        let mean = |spent: u64| u32::try_from(spent / checks).unwrap_or(u32::MAX);
        (checks > 0).then(|| self.spent_us.map(mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_phase_counts_as_zero() {
        let mut sum = PhaseSum::default();
        assert_eq!(sum.means_us(), None);
        sum.add(&Phases { dns_us: Some(10), connect_us: Some(40), ..Phases::default() });
        let mut other = PhaseSum::default();
        other.add(&Phases { connect_us: Some(60), transfer_us: Some(7), ..Phases::default() });
        sum.merge(&other);
        assert_eq!(sum.means_us(), Some([5, 50, 0, 0, 3]));
    }
}
