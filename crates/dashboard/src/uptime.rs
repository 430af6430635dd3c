//! Uptime reports: uptime, incidents and latencies of monitors, tags and status pages in a period against
//! a target, as a page, CSV and JSON; and the monthly summary by email. The store computes and freezes the
//! figures, and `domain` the error budget.

mod download;
mod period;
mod query;
mod report;
mod screen;
mod subscription;
mod summary;
mod sums;

use axum::routing::{get, post};

use crate::route::{Route, VIEWER};

/// Seconds that a report may take, because it reads the latencies of every monitor.
const SECONDS: u64 = 60;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/uptime", VIEWER, || get(screen::show)).within(SECONDS),
    Route::get("/w/{workspace}/uptime.csv", VIEWER, || get(download::csv)).within(SECONDS),
    Route::get("/w/{workspace}/uptime.json", VIEWER, || get(download::json)).within(SECONDS),
    // Everybody decides about their own emails.
    Route::post("/w/{workspace}/uptime/summary", VIEWER, || post(subscription::set)),
];
