//! Bounds of histogram buckets, in seconds.

/// Bounds for durations of checks, in seconds: from a loopback response to the longest timeout.
pub(super) const CHECK_BOUNDS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 45.0, 120.0];
/// Bounds for delays of checks, in seconds.
pub(super) const LATENESS_BOUNDS: [f64; 12] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// Bounds for durations of commits, in seconds.
pub(super) const COMMIT_BOUNDS: [f64; 11] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0];
/// Bounds for durations of calls, in seconds.
pub(super) const CALL_BOUNDS: [f64; 11] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 10.0];

/// Bounds for the time from an event until its message is accepted, in seconds: up to a receiver
/// that was down for a day.
pub(super) const MESSAGE_BOUNDS: [f64; 14] =
    [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 15.0, 60.0, 600.0, 3_600.0, 86_400.0];
