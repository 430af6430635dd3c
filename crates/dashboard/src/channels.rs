//! Notification channels: the kinds to choose from, their forms, tests, the monitors that they alert
//! for, the log of deliveries, and the signing secrets of webhooks.
//!
//! `guides` explains each kind, `summary` reads a stored channel, `fields` builds its form, and
//! `outcome` is the result of a test. The other modules are screens.

mod create;
mod delete;
mod deliveries;
mod detail;
mod edit;
mod fields;
mod guides;
mod list;
mod monitors;
mod outcome;
mod signing;
mod summary;

use axum::routing::{get, post};

pub(crate) use detail::send_test;
pub(crate) use summary::name;

use crate::route::{ADMIN, EDITOR, Route, VIEWER};

/// Time for a test in seconds. The call takes up to half a minute.
pub(crate) const TEST_SECONDS: u64 = 35;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/channels", VIEWER, || get(list::show)),
    Route::get("/w/{workspace}/channels/new", EDITOR, || get(create::show)),
    Route::post("/w/{workspace}/channels/new", EDITOR, || post(create::submit))
        .within(TEST_SECONDS),
    Route::get("/w/{workspace}/channels/signing", ADMIN, || get(signing::show)),
    Route::post("/w/{workspace}/channels/signing", ADMIN, || post(signing::rotate)),
    Route::get("/w/{workspace}/channels/{channel}", VIEWER, || get(detail::show)),
    Route::post("/w/{workspace}/channels/{channel}/test", EDITOR, || post(detail::test))
        .within(TEST_SECONDS),
    Route::get("/w/{workspace}/channels/{channel}/edit", EDITOR, || get(edit::show)),
    Route::post("/w/{workspace}/channels/{channel}/edit", EDITOR, || post(edit::submit))
        .within(TEST_SECONDS),
    Route::get("/w/{workspace}/channels/{channel}/monitors", EDITOR, || get(monitors::show)),
    Route::post("/w/{workspace}/channels/{channel}/monitors", EDITOR, || post(monitors::submit)),
    Route::get("/w/{workspace}/channels/{channel}/delete", EDITOR, || get(delete::ask)),
    Route::post("/w/{workspace}/channels/{channel}/delete", EDITOR, || post(delete::submit)),
    Route::get("/w/{workspace}/channels/{channel}/deliveries/{delivery}", VIEWER, || {
        get(deliveries::show)
    }),
    Route::post("/w/{workspace}/channels/{channel}/deliveries/{delivery}/replay", EDITOR, || {
        post(deliveries::replay)
    }),
];
