//! All routes, each with the role that it needs. The router is built from this list, and the tests of
//! access walk it.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use http::{HeaderMap, Method};
use store::SessionHash;

use crate::access::{Gate, enforce};
use crate::route::{Access, Route};
use crate::session_lookups::SessionLookups;
use crate::state::Dashboard;
use crate::{
    account, assets, channels, fleet_screen, front, home, incidents, invitation, live, maintenance,
    monitors, pages, palette, probes, regions, session, settings, setup, sign_in, start,
    status_reports, uptime,
};

/// Method, path and access of a route, for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteRule {
    pub method: Method,
    /// Path with `{…}` for parameters.
    pub path: &'static str,
    pub access: Access,
}

/// Routes of each module.
const ROUTES: &[&[Route]] = &[
    front::ROUTES,
    assets::ROUTES,
    setup::ROUTES,
    sign_in::ROUTES,
    sign_in::second_step::ROUTES,
    sign_in::passkey::ROUTES,
    sign_in::provider::ROUTES,
    sign_in::reset::ROUTES,
    sign_in::device::ROUTES,
    account::ROUTES,
    invitation::ROUTES,
    account::profile::ROUTES,
    account::password::ROUTES,
    account::second_factor::ROUTES,
    account::passkeys::ROUTES,
    start::ROUTES,
    home::ROUTES,
    live::ROUTES,
    palette::ROUTES,
    fleet_screen::ROUTES,
    monitors::ROUTES,
    settings::ROUTES,
    incidents::ROUTES,
    status_reports::ROUTES,
    maintenance::ROUTES,
    regions::ROUTES,
    probes::ROUTES,
    uptime::ROUTES,
    channels::ROUTES,
    pages::ROUTES,
];

/// Returns the rule of every route.
pub fn route_rules() -> impl Iterator<Item = RouteRule> {
    let all = ROUTES.iter().copied().flatten();
    all.map(|it| RouteRule { method: it.method.clone(), path: it.path, access: it.access })
}

/// Returns the paths of all routes, with `{…}` for parameters.
pub fn paths() -> impl Iterator<Item = &'static str> {
    let mut paths: Vec<_> = ROUTES.iter().copied().flatten().map(|it| it.path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter()
}

/// Returns the session of a request to the dashboard if it was valid before. Reads no database, so that
/// an invented session costs nothing.
pub fn known_session(
    lookups: &SessionLookups,
    path: &str,
    headers: &HeaderMap,
) -> Option<SessionHash> {
    session::hash(headers).filter(|hash| lookups.is_known(*hash) && is_own(path))
}

/// Returns the router of all paths.
pub fn routes(state: &Dashboard) -> Router {
    let add = |router: Router<Dashboard>, route: &Route| {
        let gate = Gate { state: state.clone(), access: route.access, pace: route.pace };
        // Other methods get 405 without a look at the session.
        let handler = (route.handler)().route_layer(from_fn_with_state(gate, enforce));
        // The gate reads the form.
        router.route(route.path, handler.layer(DefaultBodyLimit::max(route.form_bytes)))
    };
    let router = ROUTES.iter().copied().flatten().fold(Router::new(), add);
    router.with_state(state.clone())
}

/// Returns whether a path begins as one of the dashboard's.
fn is_own(path: &str) -> bool {
    ROUTES.iter().copied().flatten().any(|route| first_part(route.path) == first_part(path))
}

fn first_part(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::route::Pace;

    // Every other screen is answered before the deadline of a database that hangs.
    #[test]
    fn few_screens_may_take_longer() {
        let all = ROUTES.iter().copied().flatten().filter(|route| route.method == Method::GET);
        let slow: Vec<(&str, Duration)> = all
            .filter_map(|route| match route.pace {
                Pace::Prompt => None,
                Pace::Within(time) => Some((route.path, time)),
            })
            .collect();
        let seconds = Duration::from_secs;
        assert_eq!(
            slow,
            [
                ("/login/provider", seconds(20)),
                ("/login/provider/callback", seconds(20)),
                ("/w/{workspace}/uptime", seconds(60)),
                ("/w/{workspace}/uptime.csv", seconds(60)),
                ("/w/{workspace}/uptime.json", seconds(60)),
                ("/w/{workspace}/pages/{page}/domain", seconds(35)),
            ]
        );
    }

    #[test]
    fn only_valid_sessions_of_the_dashboard_are_known() {
        let lookups = SessionLookups::default();
        let headers = |cookie: &'static str| {
            HeaderMap::from_iter([(http::header::COOKIE, http::HeaderValue::from_static(cookie))])
        };
        let own = headers("theme=dark; aloft_session=AAAA");
        lookups.remember(SessionHash::new(&[0, 0, 0]));
        for path in ["/", "/w/acme", "/account", "/assets/dashboard.css", "/invite/x"] {
            assert!(known_session(&lookups, path, &own).is_some(), "{path}");
            let invented = headers("aloft_session=AAAB");
            assert!(known_session(&lookups, path, &invented).is_none(), "{path}");
            assert!(known_session(&lookups, path, &HeaderMap::new()).is_none(), "{path}");
        }
        for path in ["/status/acme", "/docs", "/metrics", "/v1/whoami", "/rpc/a.B/C", "/ww"] {
            assert!(known_session(&lookups, path, &own).is_none(), "{path}");
        }
        lookups.forget(SessionHash::new(&[0, 0, 0]));
        assert!(known_session(&lookups, "/account", &own).is_none());
    }
}
