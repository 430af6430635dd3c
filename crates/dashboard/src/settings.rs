//! Settings of a workspace: its name, plan and deletion, and its keys, members and audit log.

mod audit;
mod keys;
mod members;
mod workspace;

use axum::routing::{get, post};

use crate::route::{ADMIN, Access, OWNER, Route, VIEWER};

/// Tabs of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Workspace,
    Keys,
    Members,
    Audit,
}

impl Tab {
    /// All tabs, in their order.
    pub(crate) const ALL: [Self; 4] = [Self::Workspace, Self::Keys, Self::Members, Self::Audit];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Workspace => "Workspace",
            Self::Keys => "API keys",
            Self::Members => "Members",
            Self::Audit => "Audit log",
        }
    }

    /// Returns the path below the workspace.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Workspace => "/settings",
            Self::Keys => "/settings/keys",
            Self::Members => "/settings/members",
            Self::Audit => "/settings/audit",
        }
    }
}

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/w/{workspace}/settings", VIEWER, || get(workspace::show)),
    Route::post("/w/{workspace}/settings", ADMIN, || post(workspace::update)),
    Route::post("/w/{workspace}/settings/delete", OWNER, || post(workspace::delete)),
    Route::post("/w/{workspace}/settings/restore", OWNER, || post(workspace::restore)),
    Route::get("/workspaces/new", Access::SignedIn, || get(workspace::new)),
    Route::post("/workspaces/new", Access::SignedIn, || post(workspace::create)),
    Route::get("/w/{workspace}/settings/keys", VIEWER, || get(keys::show)),
    Route::post("/w/{workspace}/settings/keys", ADMIN, || post(keys::issue)),
    Route::post("/w/{workspace}/settings/keys/{key}/revoke", ADMIN, || post(keys::revoke)),
    Route::get("/w/{workspace}/settings/members", VIEWER, || get(members::show)),
    Route::post("/w/{workspace}/settings/members/{user}/role", ADMIN, || post(members::set_role)),
    Route::post("/w/{workspace}/settings/members/{user}/remove", VIEWER, || post(members::remove)),
    Route::post("/w/{workspace}/settings/invitations", ADMIN, || post(members::invite)),
    Route::post("/w/{workspace}/settings/invitations/{invitation}/revoke", ADMIN, || {
        post(members::revoke_invitation)
    }),
    Route::get("/w/{workspace}/settings/audit", VIEWER, || get(audit::show)),
    Route::get("/w/{workspace}/settings/audit/export", ADMIN, || get(audit::export)),
];
