//! Draws one monitor: its status by region, why it is broken, and its recent checks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use rules::{MonitorStatus, Timestamp};

use super::fleet::{RecentCheck, RegionState};
use super::recent;
use super::style::{Palette, age, text};
use super::view::View;

/// Maximum number of regions on the screen.
const REGIONS_MAX: usize = 8;

/// A line with its style.
type StyledLine = (String, Style);

pub(super) fn draw(
    buffer: &mut Buffer,
    area: Rect,
    view: &View,
    monitor: &str,
    palette: Palette,
    now: Timestamp,
) {
    let lines = lines(view, monitor, palette, now, usize::from(area.width));
    for (at, (words, style)) in (0..area.height).zip(lines) {
        text(buffer, Rect { y: area.y + at, height: 1, ..area }, &words, style);
    }
}

fn lines(view: &View, id: &str, palette: Palette, now: Timestamp, width: usize) -> Vec<StyledLine> {
    let Some(monitor) = view.current().filter(|it| it.id == id) else {
        return vec![("the monitor was deleted".to_owned(), Style::new())];
    };
    let plain = Style::new();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let cause = view.cause(id);
    let since = cause.and_then(|it| it.since).map(|since| format!(" for {}", age(since, now)));
    let status = format!("{}{}", monitor.status.label(), since.unwrap_or_default());
    let mut lines = vec![
        (format!("{} ({id})", monitor.name), bold),
        (status, palette.status(monitor.status)),
        (format!("{} {}", monitor.kind, monitor.target), plain),
    ];
    if let Some(incident) = view.incident_of(id) {
        let by = incident.acknowledged_by.as_ref().map(|by| format!("acknowledged by {by}"));
        let by = by.unwrap_or_else(|| "not acknowledged".to_owned());
        lines.push((format!("incident {}, {by}", incident.id), plain));
    }
    if let Some(why) = cause.map(|it| &it.why).filter(|why| !why.is_empty()) {
        lines.push((format!("why: {why}"), palette.of(Color::Red)));
    }
    let checks = view.recent(id);
    lines.push((String::new(), plain));
    lines.push((recent::line(checks, width), plain));
    let regions = cause.map_or(&[][..], |it| &it.regions);
    lines.extend(regions.iter().take(REGIONS_MAX).map(|it| region(it, palette, now)));
    if regions.len() > REGIONS_MAX {
        lines.push((format!("and {} more regions", regions.len() - REGIONS_MAX), plain));
    }
    lines.push((String::new(), plain));
    lines.push(("CHECKED (UTC)   REGION    OUTCOME    LATENCY  CODE".to_owned(), bold));
    lines.extend(checks.iter().map(|it| (check(it), plain)));
    lines
}

fn region(it: &RegionState, palette: Palette, now: Timestamp) -> StyledLine {
    let latency = it.latency_ms.map(|latency| format!("{latency} ms")).unwrap_or_default();
    let checked = it.checked_at.map(|at| format!("{} ago", age(at, now))).unwrap_or_default();
    let style = match MonitorStatus::parse(&it.status) {
        Ok(MonitorStatus::Error) => palette.of(Color::Red),
        Ok(MonitorStatus::Degraded) => palette.of(Color::Yellow),
        Ok(MonitorStatus::Active | MonitorStatus::Unknown) | Err(_) => Style::new(),
    };
    (format!("{:<10} {:<9} {latency:>9}  {checked}", it.region, it.status), style)
}

fn check(it: &RecentCheck) -> String {
    let at = it.at.map(|at| at.to_string().replace('T', " ")).unwrap_or_default();
    let at = at.get(5..19).unwrap_or_default();
    let latency = format!("{} ms", it.latency_us.unsigned_abs().div_ceil(1_000));
    let code = it.code.map(|code| code.to_string()).unwrap_or_default();
    format!("{at}  {:<9} {:<9} {latency:>8} {code:>5}", it.region, it.outcome)
}
