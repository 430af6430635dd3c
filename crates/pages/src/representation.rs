//! Representations of a page, each with its content type and its renderer. `key` identifies
//! rendered bodies in the cache.

mod key;

use bytes::Bytes;
use web::http_body::{EncodedBody, PNG};

pub(crate) use self::key::{DetailBodyKey, DetailContent, LinkStyle, RepresentationKey, Variant};
use super::i18n::Strings;
use super::snapshot::PageSnapshot;
use super::{feed, html, ical, json, markdown, og_image, robots, statuspage_v2, widget};

/// Representation of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Representation {
    Home,
    /// The JSON format of Aloft.
    Json,
    /// Statuspage's summary.
    V2Summary,
    /// Statuspage's overall status.
    V2Status,
    /// Statuspage's components.
    V2Components,
    /// Statuspage's incidents.
    V2Incidents,
    /// Statuspage's maintenance.
    V2Maintenances,
    /// Statuspage's unresolved incidents.
    V2Unresolved,
    /// Statuspage's active maintenance.
    V2MaintenancesActive,
    /// Statuspage's upcoming maintenance.
    V2MaintenancesUpcoming,
    JsonFeed,
    Atom,
    Rss,
    Markdown,
    /// Maintenance as iCalendar.
    Calendar,
    /// The Open Graph image.
    OgImage,
    /// The overall status for a frame.
    Widget,
    /// The overall status as a script.
    WidgetScript,
    /// The `robots.txt` file.
    Robots,
    /// The login page of a page with restricted access.
    Login,
}

/// Beginnings of the links in a representation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkPrefixes<'a> {
    /// Path prefix of the page, for links that are followed on it.
    pub(crate) base: &'a str,
    /// Absolute URL of the page, for links that are read elsewhere.
    pub(crate) url: &'a str,
}

impl Representation {
    /// Returns whether the representation is an image, which is sent uncompressed.
    pub(super) const fn is_image(self) -> bool {
        matches!(self, Self::OgImage)
    }

    /// Renders a page.
    pub(super) fn render(
        self,
        snapshot: &PageSnapshot,
        words: &'static Strings,
        links: LinkPrefixes<'_>,
    ) -> EncodedBody {
        let body =
            EncodedBody::new(self.content_type(), self.render_content(snapshot, words, links));
        if self.has_change_time() { body.changed_at(feed::last_change(snapshot)) } else { body }
    }

    fn render_content(
        self,
        snapshot: &PageSnapshot,
        words: &'static Strings,
        LinkPrefixes { base, url }: LinkPrefixes<'_>,
    ) -> Bytes {
        let page = &snapshot.page;
        let text = match self {
            Self::OgImage => {
                return og_image::draw(&page.settings.title, &snapshot.view, words).into();
            }
            Self::Home => html::home(snapshot, words, base, url),
            Self::Json => json::status(snapshot, url),
            Self::V2Summary => statuspage_v2::summary(snapshot, url),
            Self::V2Status => statuspage_v2::status(snapshot, url),
            Self::V2Components => statuspage_v2::components(snapshot, url),
            Self::V2Incidents => statuspage_v2::incidents(snapshot, url),
            Self::V2Unresolved => statuspage_v2::unresolved(snapshot, url),
            Self::V2Maintenances => statuspage_v2::maintenances(snapshot, url),
            Self::V2MaintenancesActive => statuspage_v2::maintenances_active(snapshot, url),
            Self::V2MaintenancesUpcoming => statuspage_v2::maintenances_upcoming(snapshot, url),
            Self::JsonFeed => feed::json(snapshot, words, url),
            Self::Atom => feed::atom(snapshot, words, url),
            Self::Rss => feed::rss(snapshot, words, url),
            Self::Markdown => markdown::status(snapshot, words, url),
            Self::Calendar => ical::calendar(snapshot, words, url),
            Self::Widget => widget::frame(snapshot, words, base),
            Self::WidgetScript => widget::script(snapshot, words),
            Self::Robots => robots::text(page),
            Self::Login => html::login::login_page(page, words, base),
        };
        text.into()
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::Home | Self::Widget | Self::Login => "text/html; charset=utf-8",
            Self::Json
            | Self::V2Summary
            | Self::V2Status
            | Self::V2Components
            | Self::V2Incidents
            | Self::V2Unresolved
            | Self::V2Maintenances
            | Self::V2MaintenancesActive
            | Self::V2MaintenancesUpcoming => "application/json",
            Self::JsonFeed => "application/feed+json; charset=utf-8",
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::Rss => "application/rss+xml; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Calendar => "text/calendar; charset=utf-8",
            Self::WidgetScript => "text/javascript; charset=utf-8",
            Self::Robots => "text/plain; charset=utf-8",
            Self::OgImage => PNG,
        }
    }

    /// Returns whether the time of the last change is part of the response. Feed readers and
    /// calendars use it.
    const fn has_change_time(self) -> bool {
        matches!(self, Self::Atom | Self::Rss | Self::JsonFeed | Self::Calendar)
    }
}
