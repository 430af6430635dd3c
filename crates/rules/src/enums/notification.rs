//! The enumerations of notification preferences.

words! {
    /// An event that a channel may subscribe to; tests are always sent.
    AlertEvent ("event") {
        /// A monitor is down.
        Error = "error",
        /// A monitor is degraded.
        Degraded = "degraded",
        /// An earlier problem is over.
        Recovered = "recovered",
    }

    /// Events held until the end of quiet hours.
    QuietHoursScope ("applies_to") {
        /// Everything except tests.
        All = "all",
        /// Everything except tests, errors and their recovery.
        AllButErrors = "all_but_errors",
    }
}
