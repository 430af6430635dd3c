//! Compares this machine's clock with the database server's before a start. A standby takes
//! over with its own clock, so a wrong one would write results that look old or come from the future.

use std::time::Duration;

use store::ClockOffset;

/// Difference from which a server does not start.
const APART_MAX: Duration = Duration::from_secs(5);

/// Error for clocks that are too far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the clock of this machine is {:.1} s {} the database server's, and a server starts only within {} s; \
     synchronise both clocks, for example with chrony, and start again",
    .by.as_secs_f64(), .side, APART_MAX.as_secs()
)]
pub struct ClockError {
    by: Duration,
    /// `ahead of` or `behind`.
    side: &'static str,
}

/// Rejects a clock that is too far from the database server's.
pub(super) fn require_close(offset: ClockOffset) -> Result<(), ClockError> {
    let (by, side) = match offset {
        ClockOffset::Ahead(by) => (by, "ahead of"),
        ClockOffset::Behind(by) => (by, "behind"),
    };
    if by < APART_MAX { Ok(()) } else { Err(ClockError { by, side }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_be_less_than_five_seconds_apart() {
        let almost = Duration::from_millis(4_999);
        for offset in [ClockOffset::Ahead(almost), ClockOffset::Behind(almost)] {
            assert_eq!(require_close(offset), Ok(()));
        }
        let refused = require_close(ClockOffset::Behind(APART_MAX)).unwrap_err().to_string();
        assert!(refused.contains("is 5.0 s behind the database server's"), "{refused}");
        let refused =
            require_close(ClockOffset::Ahead(Duration::from_hours(1))).unwrap_err().to_string();
        assert!(refused.contains("is 3600.0 s ahead of"), "{refused}");
    }
}
