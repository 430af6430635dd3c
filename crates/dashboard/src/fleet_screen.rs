//! The list of all monitors: `view` is the list with its filters, `list` its own screen, and `bulk` changes
//! many at once, with the calls of `bulk_update`. Home shows the same list.

mod bulk;
mod bulk_update;
mod list;
mod view;

use axum::routing::{get, post};

pub(crate) use self::view::{FleetScreen, FleetView};
use crate::route::{EDITOR, Route, VIEWER};

/// Time for a change of many monitors, in seconds. Ten thousand take some ten seconds.
const BULK_SECONDS: u64 = 120;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/monitors", VIEWER, || get(list::show)),
    Route::post("/w/{workspace}/monitors/bulk", EDITOR, || post(bulk::submit)).within(BULK_SECONDS),
    Route::post("/w/{workspace}/monitors/undo", EDITOR, || post(bulk::take_back))
        .within(BULK_SECONDS),
];
