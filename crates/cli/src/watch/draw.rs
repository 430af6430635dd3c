//! Draws the live view: a summary, the list of monitors, the open incidents, and the keys. Draws only the rows
//! that the screen has.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use rules::{Timestamp, counted};

use super::details;
use super::fleet::{WatchedMonitor, WatchedStatus};
use super::recent;
use super::style::{Palette, age, put, text};
use super::view::{Mode, Notice, View};

/// Smallest screen that has room for a list.
const SMALLEST: (u16, u16) = (40, 8);
/// Maximum number of incidents on the screen.
const INCIDENTS_MAX: u16 = 5;
/// Screens with fewer lines have no incidents.
const LINES_WITH_INCIDENTS: u16 = 16;
/// Widths of columns: status, age, recent checks.
const STATUS_WIDTH: u16 = 11;
const AGE_WIDTH: u16 = 5;
const RECENT_WIDTHS: (u16, u16) = (12, 24);
/// Narrower screens have no recent checks, or fewer.
const WIDTH_WITH_RECENT: u16 = 64;
const WIDTH_WITH_MORE: u16 = 110;
const NAME_WIDTHS: (u16, u16) = (12, 40);
const KEYS: &str = "↑↓ select  ⏎ details  / filter  a acknowledge  r check  q quit";
const KEYS_OF_DETAILS: &str = "esc back  ↑↓ other monitor  a acknowledge  r check  q quit";

/// Draws the view.
pub(super) fn draw(frame: &mut Frame<'_>, view: &mut View, palette: Palette, now: Timestamp) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        view.set_rows(0);
        let (width, height) = SMALLEST;
        text(buffer, area, &format!("too small: {width}×{height} needed"), Style::new());
        return;
    }
    let incidents = incident_lines(view, area.height);
    let [head, body, pane, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(incidents),
        Constraint::Length(1),
    ])
    .areas(area);
    view.set_rows(usize::from(body.height.saturating_sub(1)));
    draw_summary(buffer, head, view, palette);
    let monitor = match &view.mode {
        Mode::Details { monitor } => Some(monitor),
        Mode::Confirm { after, .. } => match &**after {
            Mode::Details { monitor } => Some(monitor),
            Mode::List | Mode::Filter | Mode::Confirm { .. } => None,
        },
        Mode::List | Mode::Filter => None,
    };
    match monitor {
        Some(monitor) => details::draw(buffer, body, view, monitor, palette, now),
        None => draw_list(buffer, body, view, palette, now),
    }
    draw_incidents(buffer, pane, view, palette, now);
    draw_foot(buffer, foot, view, palette);
}

/// Returns the number of lines of the incidents, with their heading.
fn incident_lines(view: &View, height: u16) -> u16 {
    if view.incidents.is_empty() || height < LINES_WITH_INCIDENTS {
        return 0;
    }
    u16::try_from(view.incidents.len()).unwrap_or(u16::MAX).min(INCIDENTS_MAX) + 1
}

fn draw_summary(buffer: &mut Buffer, area: Rect, view: &View, palette: Palette) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut x = put(buffer, area, 0, &view.place, bold) + 2;
    for status in WatchedStatus::ALL {
        let count = view.count(status);
        if count > 0 || status == WatchedStatus::Up {
            x = put(buffer, area, x, &format!("{count} {}", status.word()), palette.status(status))
                + 2;
        }
    }
    let updated = match view.updated_at {
        Some(at) => at.to_string().get(11..19).unwrap_or_default().to_owned(),
        None => "loading …".to_owned(),
    };
    let width = updated.chars().count() as u16;
    if x + width <= area.width {
        put(buffer, area, area.width - width, &updated, Style::new());
    }
}

fn draw_list(buffer: &mut Buffer, area: Rect, view: &View, palette: Palette, now: Timestamp) {
    let columns = Columns::of(area.width);
    let head = Style::new().add_modifier(Modifier::UNDERLINED);
    let line = Rect { height: 1, ..area };
    buffer.set_style(line, head);
    columns.put(buffer, line, ["STATUS", "MONITOR", "FOR", "RECENT", "WHERE AND WHY"], head);
    for (at, (monitor, is_selected)) in (1..area.height).zip(view.visible()) {
        let line = Rect { y: area.y + at, height: 1, ..area };
        draw_monitor(buffer, line, &columns, view, monitor, palette, now);
        if is_selected {
            buffer.set_style(line, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
    if view.counts().0 == 0 && view.updated_at.is_some() && area.height > 1 {
        let line = Rect { y: area.y + 1, height: 1, ..area };
        let words = match view.counts().1 {
            0 => "no monitors yet; `aloft init URL` creates one",
            _ => "no monitor matches the filter",
        };
        text(buffer, line, words, Style::new());
    }
}

fn draw_monitor(
    buffer: &mut Buffer,
    line: Rect,
    columns: &Columns,
    view: &View,
    monitor: &WatchedMonitor,
    palette: Palette,
    now: Timestamp,
) {
    let cause = view.cause(&monitor.id);
    let incident = view.incident_of(&monitor.id);
    let is_broken = [WatchedStatus::Down, WatchedStatus::Degraded].contains(&monitor.status);
    let since = incident.and_then(|it| it.opened_at).or_else(|| cause.and_then(|it| it.since));
    let age = since.filter(|_| is_broken).map(|since| age(since, now)).unwrap_or_default();
    let why = match cause.filter(|_| is_broken) {
        Some(cause) => cause.words(),
        None => monitor.target.clone(),
    };
    let checks = recent::line(view.recent(&monitor.id), usize::from(columns.recent));
    let style = palette.status(monitor.status);
    columns.put(buffer, line, [monitor.status.label(), &monitor.name, &age, &checks, &why], style);
}

fn draw_incidents(buffer: &mut Buffer, area: Rect, view: &View, palette: Palette, now: Timestamp) {
    if area.height == 0 {
        return;
    }
    let head = Style::new().add_modifier(Modifier::BOLD);
    let title = counted(view.incidents.len(), "open incident");
    text(buffer, Rect { height: 1, ..area }, &title, head);
    for (at, it) in (1..area.height).zip(&view.incidents) {
        let line = Rect { y: area.y + at, height: 1, ..area };
        let age = it.opened_at.map(|at| age(at, now)).unwrap_or_default();
        let by = it.acknowledged_by.as_ref().map(|by| format!("  acknowledged by {by}"));
        let words = format!("{:<18} {age:>4}  {}{}", it.id, it.name, by.unwrap_or_default());
        let is_new = it.acknowledged_by.is_none();
        text(buffer, line, &words, if is_new { palette.of(Color::Red) } else { Style::new() });
    }
}

fn draw_foot(buffer: &mut Buffer, area: Rect, view: &View, palette: Palette) {
    let (shown, all) = view.counts();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let (words, style) = match (&view.mode, &view.notice) {
        (Mode::Confirm { name, .. }, _) => {
            (format!("acknowledge the incident of `{name}`? y/n"), bold)
        }
        (Mode::Filter, _) => {
            (format!("filter: {}_   {shown} of {all}  ⏎ done  esc clear", view.filter), bold)
        }
        (Mode::List | Mode::Details { .. }, Notice::Error(why) | Notice::Lost(why)) => {
            (why.clone(), palette.of(Color::Red))
        }
        (Mode::List | Mode::Details { .. }, Notice::Info(words)) => (words.clone(), Style::new()),
        (Mode::Details { .. }, Notice::None) => (KEYS_OF_DETAILS.to_owned(), Style::new()),
        (Mode::List, Notice::None) if !view.filter.is_empty() => (
            format!("filter: {} ({shown} of {all}, esc clears)  {KEYS}", view.filter),
            Style::new(),
        ),
        (Mode::List, Notice::None) => (KEYS.to_owned(), Style::new()),
    };
    text(buffer, area, &words, style);
}

/// Widths of the columns of the list.
struct Columns {
    name: u16,
    recent: u16,
}

impl Columns {
    const fn of(width: u16) -> Self {
        let recent = if width < WIDTH_WITH_RECENT {
            0
        } else if width < WIDTH_WITH_MORE {
            RECENT_WIDTHS.0
        } else {
            RECENT_WIDTHS.1
        };
        let taken = STATUS_WIDTH + AGE_WIDTH + recent + 3;
        let half = width.saturating_sub(taken) * 2 / 5;
        let (least, most) = NAME_WIDTHS;
        let name = if half < least {
            least
        } else if half > most {
            most
        } else {
            half
        };
        Self { name, recent }
    }

    /// Writes the cells of a line: status, name, age, recent checks, reason. The status has a style.
    fn put(&self, buffer: &mut Buffer, line: Rect, cells: [&str; 5], style: Style) {
        let recent = if self.recent == 0 { 0 } else { self.recent + 1 };
        let widths = [STATUS_WIDTH, self.name + 1, AGE_WIDTH + 1, recent];
        let mut x = 0;
        for (at, cell) in cells.iter().enumerate() {
            let rest = line.width.saturating_sub(x);
            let width = widths.get(at).copied().unwrap_or(rest).min(rest);
            let room = if at < widths.len() { width.saturating_sub(1) } else { width };
            let style = if at == 0 { style } else { Style::new() };
            buffer.set_stringn(line.x + x, line.y, cell, usize::from(room), style);
            x += width;
        }
    }
}
