//! Collects lines of styled text that fit the terminal. Leaves their content to `waterfall`.

use std::io::{IsTerminal as _, stdout};

use anstream::{AutoStream, ColorChoice};

/// Line width if the output is a file or another program.
const COLUMNS_OF_A_FILE: usize = 80;
/// Minimum width at which text is folded. The terminal wraps narrower lines itself.
const NARROWEST: usize = 20;
const PLAIN: &str = "\u{1b}[0m";

/// Style of a text. Words and marks carry the same information as the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Strong,
    Faint,
    Good,
    Slow,
    Bad,
    Dns,
    Connect,
    Tls,
    FirstByte,
    Transfer,
}

/// Properties of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    /// Whether to print colours.
    pub(super) colours: bool,
    /// Characters per line.
    pub(super) columns: usize,
    /// Whether to fold longer texts between words. Files keep them whole, so that searches find
    /// them.
    pub(super) folds: bool,
}

/// The lines collected so far.
#[derive(Debug)]
pub(super) struct Sheet {
    paper: Paper,
    text: String,
}

impl Paper {
    /// Creates a sheet for stdout. It uses colours if stdout is a terminal that supports them and
    /// no variable forbids them (`NO_COLOR`, `CLICOLOR`, `TERM=dumb`).
    pub(super) fn of_stdout() -> Self {
        let is_terminal = stdout().is_terminal();
        let size = terminal_size::terminal_size().filter(|_| is_terminal);
        Self {
            colours: AutoStream::choice(&stdout()) != ColorChoice::Never,
            columns: size.map_or(COLUMNS_OF_A_FILE, |(width, _)| usize::from(width.0)),
            folds: is_terminal,
        }
    }
}

impl Sheet {
    pub(super) const fn new(paper: Paper) -> Self {
        Self { paper, text: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Returns the number of characters per line.
    pub(super) const fn columns(&self) -> usize {
        self.paper.columns
    }

    /// Returns whether a line of this length fits.
    pub(super) const fn has_room(&self, needed: usize) -> bool {
        !self.paper.folds || needed <= self.paper.columns
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Adds a line as it is.
    pub(super) fn line(&mut self, spans: &[(Style, &str)]) {
        for (style, text) in spans {
            self.put(*style, text);
        }
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// Adds a text after a mark. If it is folded, its lines align.
    pub(super) fn folded(&mut self, mark: (Style, &str), style: Style, text: &str) {
        let indent = mark.1.chars().count();
        let room = self.paper.columns.saturating_sub(indent).max(NARROWEST);
        let room = if self.paper.folds { room } else { usize::MAX };
        let margin = " ".repeat(indent);
        let mut first = mark;
        for line in fold(text, room) {
            self.line(&[first, (style, &line)]);
            first = (Style::Plain, &margin);
        }
    }

    /// Replaces control characters by spaces, so that received text cannot control the terminal.
    fn put(&mut self, style: Style, text: &str) {
        let text = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        match style.code().filter(|_| self.paper.colours) {
            Some(code) => {
                self.text.push_str(code);
                self.text.extend(text);
                self.text.push_str(PLAIN);
            }
            None => self.text.extend(text),
        }
    }
}

impl Style {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("\u{1b}[1m"),
            Self::Faint => Some("\u{1b}[2m"),
            Self::Good | Self::FirstByte => Some("\u{1b}[32m"),
            Self::Slow => Some("\u{1b}[33m"),
            Self::Bad => Some("\u{1b}[31m"),
            Self::Dns => Some("\u{1b}[36m"),
            Self::Connect => Some("\u{1b}[34m"),
            Self::Tls => Some("\u{1b}[35m"),
            Self::Transfer => Some("\u{1b}[94m"),
        }
    }
}

/// Breaks a text between words into lines of at most `room` characters. A longer word stays whole.
fn fold(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            lines.push(String::new());
            used = 0;
        }
        let line = lines.last_mut().expect("the list begins with a line");
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Paper = Paper { colours: false, columns: 24, folds: true };

    #[test]
    fn long_text_is_folded_and_aligned() {
        let mut sheet = Sheet::new(NARROW);
        sheet.folded((Style::Bad, "✗ "), Style::Plain, "status is 503, expected something else");
        assert_eq!(sheet.finish(), "✗ status is 503,\n  expected something\n  else\n");
    }

    #[test]
    fn received_control_characters_become_spaces() {
        let mut sheet = Sheet::new(Paper { colours: true, ..NARROW });
        sheet.line(&[(Style::Bad, "a\u{1b}[2Jb\r\n"), (Style::Plain, "c\u{9b}d")]);
        assert_eq!(sheet.finish(), "\u{1b}[31ma [2Jb  \u{1b}[0mc d\n");
    }

    #[test]
    fn file_output_keeps_long_text_whole() {
        let mut sheet = Sheet::new(Paper { folds: false, ..NARROW });
        sheet.folded((Style::Plain, "  "), Style::Plain, "a b c d e f g h i j k l m n o p q");
        assert_eq!(sheet.finish(), "  a b c d e f g h i j k l m n o p q\n");
    }
}
