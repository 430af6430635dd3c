//! The dashboard: people sign in with a browser and manage everything that the contract offers. HTML
//! is rendered here; it works with a keyboard and without scripts, and small scripts make it live.
//!
//! Changes of what programs manage, and most reads of single things, call the services of the contract
//! in process, as a member of a workspace, so that limits, validation and the audit log are those of
//! all callers. Whole fleets, joined reads and the data that only people have come from `store`
//! (decision 0065). The server implements [`Backend`] for the calls, and mounts [`routes()`].
//!
//! In reading order:
//! - Requests: `origin` says where a request comes from, `session` who sends it (`session_lookups`
//!   limits what that costs), and `access` who may use a `route`; `signed_out` keeps
//!   the form of a person whose session has ended. `backend` lists what the server does for the dashboard, `state` has all parts as [`Dashboard`], and
//!   `call` calls the services.
//! - Pages: `html` renders templates, `time` times, `durations` durations, `numbers` shares and latencies,
//!   `region_names` regions, `pager` long lists, `notice` carries a text over a redirect, `error` turns failures into pages, `extract`
//!   reads forms and queries, `assets` serves style and scripts, and `form` builds forms from tables.
//! - Signing in: `passwords`, `sign_in_limits` with `attempts` and
//!   `attempt_lookups`, `links` without a session, `signed_state` between two steps, `authenticator_app` for
//!   codes, `passkey_ceremonies`, `single_sign_on`, `email_queue` and `emails`, `device_logins` of programs with their `user_code`, `sign_in`, `setup` for the first account,
//!   and `invitation` for the others.
//! - Screens: `front` is `/`, `account` a person's own settings, `start` the first steps, `home` what needs attention and all monitors,
//!   `fleet_screen` all monitors of a workspace, `monitors` one of them, and `palette` the search. `fleet`
//!   and `overview` keep what they show in memory. `live` tells open pages about changes of their
//!   `live_topic`, through `live_feeds` that `live_watch` fills and `region_digests`. `channels` are the notification channels, `pages` the status pages, `incidents` and
//!   `status_reports` what went wrong, `maintenance` planned work, `regions` where checks come from and `probes` who checks
//!   elsewhere (`region_groups` lists regions to choose), `uptime` reports of periods with `report_permits`, and `settings` the workspace with its keys, members and audit log.
//!   `monitor_picker` lists monitors to choose from, `people` names who acted, and `confirm` asks
//!   before deletions.
//! - `audit` records refusals, and `routes` lists all paths, each with the role that it needs.

mod access;
mod account;
mod assets;
mod attempt_lookups;
mod attempts;
mod audit;
mod authenticator_app;
mod backend;
mod call;
mod channels;
mod confirm;
mod device_logins;
mod durations;
mod email_queue;
mod emails;
mod error;
mod extract;
mod fleet;
mod fleet_screen;
mod form;
mod front;
mod home;
mod html;
mod incidents;
mod invitation;
mod links;
mod live;
mod live_feeds;
mod live_topic;
mod live_watch;
mod maintenance;
mod monitor_picker;
mod monitors;
mod notice;
mod numbers;
mod origin;
mod overview;
mod pager;
mod pages;
mod palette;
mod passkey_ceremonies;
mod passwords;
mod people;
mod probes;
mod region_digests;
mod region_groups;
mod region_names;
mod regions;
mod report_permits;
mod route;
mod routes;
mod session;
mod session_lookups;
mod settings;
mod setup;
mod sign_in;
mod sign_in_limits;
mod signed_out;
mod signed_state;
mod single_sign_on;
mod start;
mod state;
mod status_reports;
mod time;
mod uptime;
mod user_code;

pub use self::backend::{
    Backend, BoxFuture, CallingMember, CheckedDraft, Codec, DnsRecord, DnsRequirement, DomainClaim,
    DomainSetup, DraftCall, MemberCall, NewKey, PagePreview, PreviewDraft,
};
pub use self::passwords::hash as hash_password;
pub use self::route::Access;
pub use self::routes::{RouteRule, known_session, paths, route_rules, routes};
pub use self::session_lookups::SessionLookups;
pub use self::single_sign_on::{GroupRole, SingleSignOnSettings};
pub use self::state::{Dashboard, DashboardParts};
