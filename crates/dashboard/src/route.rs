//! A route: method, path, the role that it needs, and its handler.

use std::time::Duration;

use axum::routing::MethodRouter;
use http::Method;
use rules::Role;

use crate::state::Dashboard;

/// People who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody.
    Anyone,
    /// Everybody, also programs: requests without any sign of a browser are not taken for another site's.
    Program,
    /// Everybody who signed in.
    SignedIn,
    /// Members of the workspace in the path with at least this role.
    Member(Role),
}

/// Time that a handler may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Only the database is asked.
    Prompt,
    /// The handler takes longer, such as for the network or a report; at most this time.
    Within(Duration),
}

pub(crate) const VIEWER: Access = Access::Member(Role::Viewer);
pub(crate) const EDITOR: Access = Access::Member(Role::Editor);
pub(crate) const ADMIN: Access = Access::Member(Role::Admin);
pub(crate) const OWNER: Access = Access::Member(Role::Owner);

/// Maximum size of a form in bytes. The largest holds the body of an HTTP monitor, percent-encoded.
const FORM_BYTES_MAX: usize = 256 * 1_024;
/// Maximum size of a form with the IDs of a whole fleet.
const FLEET_FORM_BYTES_MAX: usize = 1_024 * 1_024;

/// A route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) pace: Pace,
    /// Maximum size of its form in bytes.
    pub(crate) form_bytes: usize,
    pub(crate) handler: fn() -> MethodRouter<Dashboard>,
}

impl Route {
    /// Creates a route for GET.
    pub(crate) const fn get(
        path: &'static str,
        access: Access,
        handler: fn() -> MethodRouter<Dashboard>,
    ) -> Self {
        Self::new(Method::GET, path, access, handler)
    }

    /// Creates a route for POST.
    pub(crate) const fn post(
        path: &'static str,
        access: Access,
        handler: fn() -> MethodRouter<Dashboard>,
    ) -> Self {
        Self::new(Method::POST, path, access, handler)
    }

    const fn new(
        method: Method,
        path: &'static str,
        access: Access,
        handler: fn() -> MethodRouter<Dashboard>,
    ) -> Self {
        let (pace, form_bytes) = (Pace::Prompt, FORM_BYTES_MAX);
        Self { method, path, access, pace, form_bytes, handler }
    }

    /// Accepts forms with the IDs of all monitors of a large fleet.
    pub(crate) const fn with_fleet_form(mut self) -> Self {
        self.form_bytes = FLEET_FORM_BYTES_MAX;
        self
    }

    /// Lets the handler take longer, such as for the network or a report; at most these seconds.
    pub(crate) const fn within(mut self, seconds: u64) -> Self {
        self.pace = Pace::Within(Duration::from_secs(seconds));
        self
    }
}
