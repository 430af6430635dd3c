//! Error budgets: the downtime that a target for uptime allows in a period, and how much of it is
//! left.

use std::fmt;

use super::Uptime;

/// One whole, in parts per million.
const WHOLE: u32 = 1_000_000;
/// Decimals of a target in percent: four are parts per million.
const DECIMALS_MAX: usize = 4;

/// Target for uptime, more than 0 % and at most 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UptimeTarget(u32);

/// Downtime that a target allows, and the downtime so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorBudget {
    /// Allowed downtime in milliseconds.
    pub allowed_ms: u64,
    /// Downtime so far in milliseconds.
    pub spent_ms: u64,
}

impl UptimeTarget {
    /// 99.9 %.
    pub const DEFAULT: Self = Self(999_000);

    /// Parses a target in percent, such as `99.9` or `99,95 %`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix('%').unwrap_or(text).trim();
        let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, ""));
        let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        if whole.is_empty() || whole.len() > 3 || decimals.len() > DECIMALS_MAX {
            return None;
        }
        if !is_number(whole) || !is_number(decimals) {
            return None;
        }
        Self::from_millionths(format!("{whole}{decimals:0<DECIMALS_MAX$}").parse().ok()?)
    }

    /// Returns the target with these parts per million.
    pub const fn from_millionths(millionths: u32) -> Option<Self> {
        if 0 < millionths && millionths <= WHOLE { Some(Self(millionths)) } else { None }
    }

    /// Returns the target in parts per million.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// Returns whether an uptime reaches the target.
    pub fn is_met(self, uptime: Uptime) -> bool {
        uptime.millionths() >= self.0
    }
}

impl fmt::Display for UptimeTarget {
    /// Formats the target in percent without trailing zeros, such as `99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl ErrorBudget {
    /// Computes the budget of a period. `known_ms` is the known time so far, and `ahead_ms` the rest
    /// of the period. Unknown time and maintenance allow no downtime, because they are not part of
    /// the uptime. The target is met at the end exactly if the budget is not exceeded.
    pub fn new(target: UptimeTarget, uptime: Option<Uptime>, ahead_ms: u64) -> Self {
        let (known_ms, spent_ms) = uptime.map_or((0, 0), |it| (it.known_ms, it.error_ms));
        let counted = u128::from(known_ms) + u128::from(ahead_ms);
        let allowed = counted * u128::from(WHOLE - target.0) / u128::from(WHOLE);
        Self { allowed_ms: u64::try_from(allowed).unwrap_or(u64::MAX), spent_ms }
    }

    /// Returns the allowed downtime that is left, in milliseconds.
    pub const fn left_ms(self) -> u64 {
        self.allowed_ms.saturating_sub(self.spent_ms)
    }

    /// Returns the downtime beyond the allowed one, in milliseconds.
    pub const fn exceeded_ms(self) -> u64 {
        self.spent_ms.saturating_sub(self.allowed_ms)
    }

    /// Returns the share that is left in percent, rounded down, so that 100 means no downtime.
    pub fn left_percent(self) -> u64 {
        100_u64.saturating_sub(self.spent_percent())
    }

    /// Returns the spent share in percent, rounded up, so that 0 means no downtime. It is above 100
    /// if the budget is exceeded.
    pub fn spent_percent(self) -> u64 {
        let spent = u128::from(self.spent_ms) * 100;
        let percent = match self.allowed_ms {
            0 => spent.min(101),
            allowed => spent.div_ceil(u128::from(allowed)),
        };
        u64::try_from(percent).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

    #[test]
    fn target_is_parsed_in_percent() {
        for (text, millionths, shown) in [
            ("99.9", 999_000, "99.9"),
            ("99,95 %", 999_500, "99.95"),
            ("100", 1_000_000, "100"),
            ("99.9990", 999_990, "99.999"),
            ("90%", 900_000, "90"),
            ("0.0001", 1, "0.0001"),
        ] {
            let target = UptimeTarget::parse(text).unwrap();
            assert_eq!((target.millionths(), target.to_string().as_str()), (millionths, shown));
        }
        for text in ["", "0", "100.0001", "99.99999", "-1", "+99", "9 9", "abc", ".5", "1000"] {
            assert_eq!(UptimeTarget::parse(text), None, "{text}");
        }
    }

    #[test]
    fn three_nines_allow_43_minutes_in_30_days() {
        let uptime = Uptime { known_ms: 10 * DAY_MS, error_ms: 648_000 };
        let budget = ErrorBudget::new(UptimeTarget::DEFAULT, Some(uptime), 20 * DAY_MS);
        assert_eq!((budget.allowed_ms, budget.left_ms()), (2_592_000, 1_944_000));
        assert_eq!((budget.spent_percent(), budget.exceeded_ms()), (25, 0));
        assert_eq!(budget.left_percent(), 75);
    }

    #[test]
    fn target_of_100_percent_allows_no_downtime() {
        let all = UptimeTarget::parse("100").unwrap();
        let up = Some(Uptime { known_ms: DAY_MS, error_ms: 0 });
        assert_eq!(ErrorBudget::new(all, up, 0).spent_percent(), 0);
        let down = Some(Uptime { known_ms: DAY_MS, error_ms: 5_000 });
        let budget = ErrorBudget::new(all, down, 0);
        assert_eq!((budget.spent_percent(), budget.exceeded_ms()), (101, 5_000));
        assert_eq!(budget.left_percent(), 0);
        assert_eq!(ErrorBudget::new(all, None, 0).spent_percent(), 0);
    }

    proptest! {
        #[test]
        fn met_target_keeps_the_budget(
            millionths in 1_u32..=1_000_000,
            known_ms in 1_u64..1 << 40,
            error_ms in 0_u64..1 << 40,
        ) {
            let uptime = Uptime { known_ms, error_ms: error_ms.min(known_ms) };
            let target = UptimeTarget(millionths);
            let budget = ErrorBudget::new(target, Some(uptime), 0);
            prop_assert_eq!(target.is_met(uptime), budget.exceeded_ms() == 0);
            prop_assert_eq!(budget.spent_percent() > 100, budget.exceeded_ms() > 0);
        }
    }
}
