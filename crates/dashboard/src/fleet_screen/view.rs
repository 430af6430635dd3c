//! The monitors that a URL chooses, ready to be shown: the list with its filters, on home and on its own
//! screen.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use rules::{MonitorId, MonitorKind, Role, Tag};

use crate::error::ScreenError;
use crate::fleet::figures::{FiguresById, RowFigures};
use crate::fleet::filter::{FleetFilter, PAGE_ROWS, SortColumn, StatusChoice};
use crate::fleet::snapshot::{FleetCounts, FleetRow, FleetSnapshot, Health};
use crate::fleet::tags::{TagGroup, grouped};
use crate::fleet::undo::BulkChange;
use crate::numbers;
use crate::session::Member;
use crate::state::Dashboard;

/// Number of tags in the row of a monitor.
const TAGS_SHOWN: usize = 4;
/// Header of requests for a part of a page.
const HX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
/// Header with the URL that the browser shows afterwards.
const HX_PUSH_URL: HeaderName = HeaderName::from_static("hx-push-url");
/// Name of the field that says which screen has the list.
const SCREEN: &str = "screen";

/// Screen with the list of all monitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FleetScreen {
    Home,
    #[default]
    Monitors,
}

/// The list with its filters.
pub(crate) struct FleetView<'f> {
    /// Path of the workspace.
    pub(crate) base: String,
    pub(crate) screen: FleetScreen,
    pub(crate) filter: FleetFilter,
    pub(crate) counts: FleetCounts,
    pub(crate) rows: Vec<ListedMonitor<'f>>,
    figures: Arc<FiguresById>,
    /// Number of matching monitors.
    pub(crate) matching: usize,
    /// Number of rows on all pages. A monitor in several groups has a row in each.
    pub(crate) total: usize,
    /// Tags to choose from.
    pub(crate) tags: Vec<Tag>,
    pub(crate) part: Range<usize>,
    pub(crate) may_edit: bool,
    pub(crate) undos: Vec<BulkChange>,
    pub(crate) refused: RefusedTag,
}

/// A bulk change whose tag was refused, so that its form keeps the input.
#[derive(Default)]
pub(crate) struct RefusedTag {
    pub(crate) tag: String,
    pub(crate) why: Option<String>,
    /// Ticked monitors.
    pub(crate) ids: HashSet<MonitorId>,
    /// Whether all monitors that match are ticked.
    pub(crate) all: bool,
}

/// A row of the list.
pub(crate) struct ListedMonitor<'f> {
    pub(crate) row: FleetRow<'f>,
    /// Heading of the group that begins here, or continues from the page before.
    pub(crate) heading: Option<GroupHeading>,
    /// Part of the row's ID in HTML.
    pub(crate) anchor: String,
    /// Whether it is about to be deleted.
    pub(crate) is_leaving: bool,
}

/// Heading of the monitors with a tag, or without any.
pub(crate) struct GroupHeading {
    /// The tag, and the path of its monitors.
    pub(crate) tag: Option<(String, String)>,
    pub(crate) count: usize,
}

/// A link that selects monitors by status.
pub(crate) struct StatusLink {
    pub(crate) label: &'static str,
    pub(crate) word: &'static str,
    pub(crate) count: usize,
    pub(crate) path: String,
    pub(crate) is_current: bool,
}

/// A share of the bar that shows the fleet.
pub(crate) struct BarPart {
    pub(crate) word: &'static str,
    /// Start and width in thousandths.
    pub(crate) start: usize,
    pub(crate) width: usize,
}

/// Heading of a column that sorts the list.
pub(crate) struct ColumnLink {
    pub(crate) label: &'static str,
    pub(crate) path: String,
    /// Value of `aria-sort`, if the list is sorted by the column.
    pub(crate) sorted: Option<&'static str>,
}

impl FleetScreen {
    /// Returns its path below the workspace.
    pub(crate) const fn below(self) -> &'static str {
        match self {
            Self::Home => "",
            Self::Monitors => "/monitors",
        }
    }

    /// Returns the value of the field that says which screen has the list.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Monitors => "monitors",
        }
    }

    /// Returns the screen that a form was posted from.
    pub(super) fn of_form(posted: &[(String, String)]) -> Self {
        let is_home =
            |(name, value): &(String, String)| name == SCREEN && value == Self::Home.as_str();
        if posted.iter().any(is_home) { Self::Home } else { Self::Monitors }
    }
}

impl<'f> FleetView<'f> {
    /// Returns the part of the fleet that the URL chooses.
    pub(crate) async fn new(
        state: &Dashboard,
        member: &Member,
        (fleet, screen): (&'f FleetSnapshot, FleetScreen),
        asked: &[(String, String)],
    ) -> Result<Self, ScreenError> {
        let filter =
            FleetFilter::parse(asked.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let (workspace, now) = (member.workspace(), state.ctx.now());
        let leaving = state.undos.leaving(workspace);
        let selected = filter.select(fleet);
        let groups = filter.is_grouped.then(|| grouped(&selected));
        let total = match &groups {
            Some(groups) => groups.iter().map(|group| group.rows.len()).sum(),
            None => selected.len(),
        };
        let part = filter.part(total);
        let path =
            |tag: &Tag| member.path(&format!("{}{}", screen.below(), filter.with_tag(tag).query()));
        let mut rows = match &groups {
            Some(groups) => rows_of_groups(groups, &part, path),
            None => selected.get(part.clone()).unwrap_or_default().iter().map(plain_row).collect(),
        };
        for listed in &mut rows {
            listed.is_leaving = leaving.contains(&listed.row.monitor.definition.id);
        }
        // In the order of their numbers, whatever their statuses are: the cache finds them again.
        let mut shown: Vec<_> =
            rows.iter().map(|listed| listed.row.monitor.definition.number).collect();
        shown.sort_unstable();
        shown.dedup();
        let figures = state.shown_figures.get(&state.store, (workspace, shown), now).await?;
        Ok(Self {
            base: member.path(""),
            screen,
            counts: fleet.counts,
            rows,
            figures,
            matching: selected.len(),
            total,
            tags: offered_tags(&filter, fleet),
            part,
            may_edit: member.membership.role.includes(Role::Editor),
            undos: state.undos.of_user(workspace, member.signed_in.user.id, now),
            filter,
            refused: RefusedTag::default(),
        })
    }

    /// Returns the header with the URL of this view, if a script asked for it. The parameters of a form
    /// include those that are empty.
    pub(crate) fn pushed_url(&self, request: &HeaderMap) -> Option<(HeaderName, HeaderValue)> {
        let url = HeaderValue::try_from(self.path(&self.filter)).ok()?;
        request.contains_key(HX_REQUEST).then_some((HX_PUSH_URL, url))
    }
}

fn plain_row<'f>(row: &FleetRow<'f>) -> ListedMonitor<'f> {
    let anchor = row.monitor.definition.id.to_string();
    ListedMonitor { row: *row, heading: None, anchor, is_leaving: false }
}

/// Returns the rows on a part of the list. `path` returns the path of the monitors with a tag.
fn rows_of_groups<'f>(
    groups: &[TagGroup<'f>],
    part: &Range<usize>,
    path: impl Fn(&Tag) -> String,
) -> Vec<ListedMonitor<'f>> {
    let mut rows = Vec::with_capacity(part.len());
    let mut before = 0;
    for (number, group) in groups.iter().enumerate() {
        let from = part.start.saturating_sub(before);
        let to = part.end.saturating_sub(before).min(group.rows.len());
        before += group.rows.len();
        for (place, row) in group.rows.get(from..to).unwrap_or_default().iter().enumerate() {
            let tag = group.tag.map(|tag| (tag.to_string(), path(tag)));
            let heading = (place == 0).then_some(GroupHeading { tag, count: group.rows.len() });
            let plain = plain_row(row);
            let anchor = format!("{number}-{}", plain.anchor);
            rows.push(ListedMonitor { heading, anchor, ..plain });
        }
    }
    rows
}

/// Returns the tags of the fleet, and the chosen one if none of its monitors has it.
fn offered_tags(filter: &FleetFilter, fleet: &FleetSnapshot) -> Vec<Tag> {
    let mut tags = fleet.definitions.tags.clone();
    let chosen = filter.tag.iter().filter(|chosen| tags.iter().all(|it| it.key() != chosen.key()));
    let missing: Vec<Tag> = chosen.cloned().collect();
    tags.extend(missing);
    tags
}

impl FleetView<'_> {
    pub(crate) fn is_tag(&self, tag: &Tag) -> bool {
        self.filter.tag.as_ref().is_some_and(|chosen| chosen.key() == tag.key())
    }

    /// Returns the first tags of a monitor with the paths of their monitors, and the number of others.
    pub(crate) fn row_tags(&self, listed: &ListedMonitor<'_>) -> (Vec<(String, String)>, usize) {
        let tags = &listed.row.monitor.definition.tags;
        let link = |tag: &Tag| (tag.to_string(), self.path(&self.filter.with_tag(tag)));
        let shown: Vec<_> = tags.iter().take(TAGS_SHOWN).map(link).collect();
        let more = tags.len() - shown.len();
        (shown, more)
    }

    /// Returns the path of the list without a filter.
    pub(crate) fn list_path(&self) -> String {
        format!("{}{}", self.base, self.screen.below())
    }

    /// Returns the path of the list as it is shown.
    pub(crate) fn address(&self) -> String {
        self.path(&self.filter)
    }

    fn path(&self, filter: &FleetFilter) -> String {
        format!("{}{}", self.list_path(), filter.query())
    }

    pub(crate) fn status_links(&self) -> Vec<StatusLink> {
        let link = |status: Option<StatusChoice>, label, count| StatusLink {
            label,
            word: status.map_or("all", StatusChoice::as_str),
            count,
            path: self.path(&self.filter.with_status(status)),
            is_current: self.filter.status == status,
        };
        let mut links = vec![link(None, "All", self.counts.total)];
        for health in Health::ALL {
            let status = StatusChoice::Health(health);
            links.push(link(Some(status), health.label(), self.counts.of(health)));
        }
        let maintenance = Some(StatusChoice::Maintenance);
        links.push(link(maintenance, "In maintenance", self.counts.in_maintenance));
        links.retain(|link| link.count > 0 || link.is_current);
        links
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    pub(crate) fn is_kind(&self, kind: &MonitorKind) -> bool {
        self.filter.kind == Some(*kind)
    }

    /// Returns the columns that sort the list: name, status, time of the status, and kind.
    pub(crate) fn columns(&self) -> [ColumnLink; 4] {
        let order = self.filter.order;
        let column = |column: SortColumn, label| ColumnLink {
            label,
            path: self.path(&self.filter.sorted_by(column)),
            sorted: (order.column == column).then_some(if order.is_reversed {
                "descending"
            } else {
                "ascending"
            }),
        };
        [
            column(SortColumn::Name, "Monitor"),
            column(SortColumn::Status, "Status"),
            column(SortColumn::Since, "Since"),
            column(SortColumn::Kind, "Kind"),
        ]
    }

    /// Returns the uptime of a monitor over the last days.
    pub(crate) fn uptime(&self, listed: &ListedMonitor<'_>) -> String {
        let uptime = self.figures_of(listed).uptime;
        uptime.map_or_else(|| "–".to_owned(), numbers::uptime)
    }

    /// Returns the 95th percentile of a monitor's latencies over the last days.
    pub(crate) fn p95(&self, listed: &ListedMonitor<'_>) -> String {
        numbers::latency_or_dash(self.figures_of(listed).p95_us)
    }

    fn figures_of(&self, listed: &ListedMonitor<'_>) -> RowFigures {
        self.figures.get(&listed.row.monitor.definition.id).copied().unwrap_or_default()
    }

    /// Returns the parts of the bar that shows the fleet, worst first.
    pub(crate) fn bar(&self) -> Vec<BarPart> {
        let total = self.counts.total.max(1);
        let mut before = 0;
        let part = |health: Health| {
            let count = self.counts.of(health);
            let (from, to) = (before * 1_000 / total, (before + count) * 1_000 / total);
            before += count;
            // One of ten thousand must be visible.
            let width = if count == 0 { 0 } else { (to - from).max(4) };
            BarPart { word: health.as_str(), start: from, width }
        };
        Health::ALL.into_iter().map(part).filter(|part| part.width > 0).collect()
    }

    /// Returns the parameters that a form of filters keeps.
    pub(crate) fn kept_parameters(&self) -> Vec<(&'static str, String)> {
        let all = self.filter.parameters().into_iter();
        all.filter(|(name, _)| ["status", "sort"].contains(name)).collect()
    }

    pub(crate) fn previous(&self) -> Option<String> {
        let page = (self.part.start / PAGE_ROWS).checked_sub(1)?;
        Some(self.path(&self.filter.at_page(page)))
    }

    pub(crate) fn next(&self) -> Option<String> {
        let page = self.part.start / PAGE_ROWS + 1;
        (self.part.end < self.total).then(|| self.path(&self.filter.at_page(page)))
    }
}
