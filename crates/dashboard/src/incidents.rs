//! Incidents: a list with filters, one incident with its timeline and evidence, and its write-up, which
//! becomes a status report. `people` names the actors.

mod act;
mod list;
mod show;
mod timeline;
mod write_up;
mod write_up_draft;

use axum::routing::{get, post};

use crate::route::{EDITOR, Route, VIEWER};

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/incidents", VIEWER, || get(list::show)),
    Route::get("/w/{workspace}/incidents/{incident}", VIEWER, || get(show::show)),
    Route::post("/w/{workspace}/incidents/{incident}/acknowledge", EDITOR, || {
        post(act::acknowledge)
    }),
    // The judge closes an incident in order with the changes of its monitor.
    Route::post("/w/{workspace}/incidents/{incident}/resolve", EDITOR, || post(act::resolve))
        .within(15),
    Route::post("/w/{workspace}/incidents/{incident}/comment", EDITOR, || post(act::comment)),
    Route::get("/w/{workspace}/incidents/{incident}/write-up", EDITOR, || get(write_up::show)),
    Route::post("/w/{workspace}/incidents/{incident}/write-up", EDITOR, || post(write_up::submit)),
];

/// Words for the reason of a closing.
fn close_reason(word: &str) -> &str {
    match word {
        "recovered" => "recovered",
        "degraded" => "up again, but degraded",
        "paused" => "monitor paused",
        "deleted" => "monitor deleted",
        "resolved" => "resolved by a person",
        other => other,
    }
}
