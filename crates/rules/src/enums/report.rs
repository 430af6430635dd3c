//! The enumerations of status reports.

words! {
    /// Progress of a report.
    ReportStatus ("status") {
        /// The cause is unknown.
        Investigating = "investigating",
        /// The cause is known.
        Identified = "identified",
        /// A fix was made and is being observed.
        Monitoring = "monitoring",
        /// The problem is over.
        Resolved = "resolved",
    }

    /// Impact of an open report on a component, from bad to worse.
    Impact ("impact") {
        /// It is slow or partly failing.
        Degraded = "degraded",
        /// It is down.
        Down = "down",
    }

    /// State of reports in a filter.
    ReportState ("state") {
        /// Not resolved.
        Open = "open",
        /// Resolved.
        Resolved = "resolved",
    }
}
