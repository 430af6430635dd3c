//! Monitors: their pages, forms, response logs and actions.
//!
//! In reading order:
//! - `stored` reads a monitor, `units` shows numbers and states, and `actions` pause, check and delete.
//! - The page: `detail`, with `region_rows`, `latency`, `days`, `stored_incidents` and `heartbeat`.
//! - The response log: `log`, with `log_query`, `log_rows`, `check_view`, `waterfall` and `difference`.
//! - Forms: `fields` and `regions` build them, `posted` reads them, and `workbench` shows them.
//!   `create`, `edit` and `try_out` are their uses, and `conflict` explains a concurrent edit.
//! - `copy` shows a monitor as `terraform` and `curl` have it.

mod actions;
mod check_view;
mod conflict;
mod copy;
mod create;
mod curl;
mod days;
mod detail;
mod difference;
mod edit;
mod fields;
mod heartbeat;
mod kept_key;
mod latency;
mod log;
mod log_query;
mod log_rows;
mod posted;
mod region_rows;
mod regions;
mod stored;
mod stored_incidents;
mod terraform;
mod try_out;
mod units;
mod waterfall;
mod workbench;

use axum::routing::{get, post};

pub(crate) use check_view::{LoggedAttempt, logged_attempts};
pub(crate) use create::request_for_url;
pub(crate) use fields::methods;

use crate::route::{EDITOR, Route, VIEWER};

/// Time of a manual check in seconds: that of the call in the contract.
const CHECK_SECONDS: u64 = 150;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/monitors/new", EDITOR, || get(create::show)),
    Route::post("/w/{workspace}/monitors/new", EDITOR, || post(create::submit)),
    Route::post("/w/{workspace}/monitors/test", EDITOR, || post(try_out::submit))
        .within(CHECK_SECONDS),
    Route::get("/w/{workspace}/monitors/{monitor}", VIEWER, || get(detail::show)),
    Route::get("/w/{workspace}/monitors/{monitor}/edit", EDITOR, || get(edit::show)),
    Route::post("/w/{workspace}/monitors/{monitor}/edit", EDITOR, || post(edit::submit)),
    Route::get("/w/{workspace}/monitors/{monitor}/log", VIEWER, || get(log::show)),
    Route::get("/w/{workspace}/monitors/{monitor}/log/{result}", VIEWER, || get(log::show_check)),
    Route::post("/w/{workspace}/monitors/{monitor}/pause", EDITOR, || post(actions::pause)),
    Route::post("/w/{workspace}/monitors/{monitor}/resume", EDITOR, || post(actions::resume)),
    Route::post("/w/{workspace}/monitors/{monitor}/check", EDITOR, || post(actions::check))
        .within(CHECK_SECONDS),
    Route::get("/w/{workspace}/monitors/{monitor}/delete", EDITOR, || {
        get(actions::confirm_deletion)
    }),
    Route::post("/w/{workspace}/monitors/{monitor}/delete", EDITOR, || post(actions::delete)),
    Route::get("/w/{workspace}/monitors/{monitor}/rotate-url", EDITOR, || {
        get(heartbeat::confirm_rotation)
    }),
    Route::post("/w/{workspace}/monitors/{monitor}/rotate-url", EDITOR, || post(heartbeat::rotate)),
    Route::get("/w/{workspace}/monitors/{monitor}/terraform", EDITOR, || get(copy::show_terraform)),
    Route::get("/w/{workspace}/monitors/{monitor}/curl", EDITOR, || get(copy::show_curl)),
];
