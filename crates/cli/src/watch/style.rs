//! Colours, ages and texts of the live view.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use rules::Timestamp;

use super::fleet::WatchedStatus;

/// Colours of statuses, or none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Palette {
    pub(super) is_coloured: bool,
}

impl Palette {
    pub(super) fn status(self, status: WatchedStatus) -> Style {
        match status {
            WatchedStatus::Down => self.of(Color::Red).add_modifier(Modifier::BOLD),
            WatchedStatus::Degraded => self.of(Color::Yellow),
            WatchedStatus::Unknown => self.of(Color::Magenta),
            WatchedStatus::Up => self.of(Color::Green),
            WatchedStatus::Paused => Style::new().add_modifier(Modifier::DIM),
        }
    }

    pub(super) fn of(self, colour: Color) -> Style {
        if self.is_coloured { Style::new().fg(colour) } else { Style::new() }
    }
}

/// Writes a text into a line. Returns the column after it.
pub(super) fn put(buffer: &mut Buffer, area: Rect, x: u16, words: &str, style: Style) -> u16 {
    let room = area.width.saturating_sub(x);
    if room == 0 {
        return x;
    }
    buffer.set_stringn(area.x + x, area.y, words, usize::from(room), style).0 - area.x
}

/// Writes a text into a line from its beginning.
pub(super) fn text(buffer: &mut Buffer, area: Rect, words: &str, style: Style) {
    if area.height > 0 {
        put(buffer, area, 0, words, style);
    }
}

/// Formats the time since an instant with its largest unit: `45s`, `12m`, `3h`, `9d`.
pub(super) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_millis().saturating_sub(since.as_millis()).max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
