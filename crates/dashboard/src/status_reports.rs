//! Status reports and their templates: lists, forms, updates and the impact on components. The services
//! validate and announce reports; `fields` has the parts that the forms share.

mod create;
mod fields;
mod list;
mod show;
mod templates;
mod update;

use axum::routing::{get, post};

use crate::route::{EDITOR, Route, VIEWER};

pub(crate) use fields::status_label;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/status-reports", VIEWER, || get(list::show)),
    Route::get("/w/{workspace}/status-reports/new", EDITOR, || get(create::show)),
    Route::post("/w/{workspace}/status-reports/new", EDITOR, || post(create::submit)),
    Route::get("/w/{workspace}/status-reports/templates", VIEWER, || get(templates::list)),
    Route::get("/w/{workspace}/status-reports/templates/new", EDITOR, || get(templates::new)),
    Route::post("/w/{workspace}/status-reports/templates/new", EDITOR, || post(templates::create)),
    Route::get("/w/{workspace}/status-reports/templates/{template}/edit", EDITOR, || {
        get(templates::edit)
    }),
    Route::post("/w/{workspace}/status-reports/templates/{template}/edit", EDITOR, || {
        post(templates::update)
    }),
    Route::post("/w/{workspace}/status-reports/templates/{template}/delete", EDITOR, || {
        post(templates::delete)
    }),
    Route::get("/w/{workspace}/status-reports/{report}", VIEWER, || get(show::show)),
    Route::post("/w/{workspace}/status-reports/{report}/title", EDITOR, || post(update::rename)),
    Route::post("/w/{workspace}/status-reports/{report}/delete", EDITOR, || {
        post(update::delete_report)
    }),
    Route::post("/w/{workspace}/status-reports/{report}/updates", EDITOR, || post(update::add)),
    Route::get("/w/{workspace}/status-reports/{report}/updates/{update}/edit", EDITOR, || {
        get(update::edit)
    }),
    Route::post("/w/{workspace}/status-reports/{report}/updates/{update}/edit", EDITOR, || {
        post(update::submit_edit)
    }),
    Route::post("/w/{workspace}/status-reports/{report}/updates/{update}/delete", EDITOR, || {
        post(update::delete)
    }),
];
