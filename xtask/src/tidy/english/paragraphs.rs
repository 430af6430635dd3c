//! Splits comments and Markdown into paragraphs, so that an expression is found across line breaks.

/// A paragraph as one line of text.
pub(super) struct Paragraph {
    /// The line that it begins on, counted from one.
    pub(super) line: usize,
    pub(super) text: String,
}

/// Collects lines until something ends the paragraph.
#[derive(Default)]
struct Collector {
    paragraphs: Vec<Paragraph>,
    is_open: bool,
}

impl Collector {
    fn add(&mut self, line: usize, text: &str) {
        if let Some(last) = self.paragraphs.last_mut().filter(|_| self.is_open) {
            last.text.push(' ');
            last.text.push_str(text);
            return;
        }
        self.paragraphs.push(Paragraph { line, text: text.to_owned() });
        self.is_open = true;
    }

    fn end(&mut self) {
        self.is_open = false;
    }
}

/// Returns the paragraphs of line comments. `marks` are the beginnings of a comment, longest first:
/// a paragraph ends if the mark changes.
pub(super) fn of_comments(text: &str, marks: &[&'static str]) -> Vec<Paragraph> {
    let mut collector = Collector::default();
    let mut open = "";
    let mut is_fenced = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let mark = marks.iter().find(|mark| line.starts_with(**mark)).copied().unwrap_or_default();
        let comment = line[mark.len()..].trim();
        is_fenced ^= comment.starts_with("```");
        let is_text = !mark.is_empty() && !comment.is_empty() && !is_fenced;
        if mark != open || !is_text {
            collector.end();
        }
        open = mark;
        if is_text && !comment.starts_with("```") {
            collector.add(at + 1, comment);
        }
    }
    collector.paragraphs
}

/// Returns the paragraphs, list items, headings and table cells of a document, without fenced
/// blocks.
pub(super) fn of_markdown(text: &str) -> Vec<Paragraph> {
    let mut collector = Collector::default();
    let mut is_fenced = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            collector.end();
        } else if is_fenced || line.is_empty() {
            collector.end();
        } else if line.starts_with('|') {
            for cell in line.split('|').map(str::trim).filter(|cell| !cell.is_empty()) {
                collector.end();
                collector.add(at + 1, cell);
            }
            collector.end();
        } else {
            let (item, is_new) = without_marker(line);
            if is_new {
                collector.end();
            }
            collector.add(at + 1, item);
            if line.starts_with('#') {
                collector.end();
            }
        }
    }
    collector.paragraphs
}

/// Returns a line without its list marker, quote mark or heading mark, and whether it had one.
fn without_marker(line: &str) -> (&str, bool) {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let marker = ["- ", "* ", "+ ", "> ", "# ", "## ", "### ", "#### "];
    if let Some(rest) = marker.iter().find_map(|marker| line.strip_prefix(marker)) {
        return (rest, true);
    }
    match number.strip_prefix(". ").filter(|_| number.len() < line.len()) {
        Some(rest) => (rest, true),
        None => (line, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(paragraphs: &[Paragraph]) -> Vec<(usize, &str)> {
        paragraphs.iter().map(|paragraph| (paragraph.line, paragraph.text.as_str())).collect()
    }

    #[test]
    fn comments_join_until_the_mark_changes() {
        let text = "//! One\n//! two.\n/// Three.\n\n// Four\n// five.\nlet six;\n";
        let found = of_comments(text, &["///", "//!", "//"]);
        assert_eq!(texts(&found), [(1, "One two."), (3, "Three."), (5, "Four five.")]);
    }

    #[test]
    fn markdown_splits_at_items_cells_and_fences() {
        let text = "# A\nOne\ntwo.\n- three\n  four\n1. five\n| six | seven |\n```\neight\n```\n";
        let found = of_markdown(text);
        let expected =
            [(1, "A"), (2, "One two."), (4, "three four"), (6, "five"), (7, "six"), (7, "seven")];
        assert_eq!(texts(&found), expected);
    }
}
