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

/// A route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) pace: Pace,
    pub(crate) handler: fn() -> MethodRouter<Dashboard>,
}

impl Route {
    /// Creates a route for GET.
    pub(crate) const fn get(
        path: &'static str,
        access: Access,
        handler: fn() -> MethodRouter<Dashboard>,
    ) -> Self {
        Self { method: Method::GET, path, access, pace: Pace::Prompt, handler }
    }

    /// Creates a route for POST.
    pub(crate) const fn post(
        path: &'static str,
        access: Access,
        handler: fn() -> MethodRouter<Dashboard>,
    ) -> Self {
        Self { method: Method::POST, path, access, pace: Pace::Prompt, handler }
    }

    /// Lets the handler take longer, such as for the network or a report; at most these seconds.
    pub(crate) const fn within(mut self, seconds: u64) -> Self {
        self.pace = Pace::Within(Duration::from_secs(seconds));
        self
    }
}
