//! Renders tables: in a frame that scrolls if they are wider than the page, and without empty heads.

use pulldown_cmark::{Tag, TagEnd};

use super::Writer;

/// State of the table that is being written. Positions refer to the output.
#[derive(Debug, Default)]
pub(super) struct TableState {
    /// Beginning of the open head.
    head: Option<usize>,
    /// Whether the head contains text.
    has_head: bool,
    /// Beginning of the open cell.
    cell: usize,
}

const HEAD_CELL: &str = "<th scope=\"col\">";

impl Writer<'_> {
    /// Begins a table or a part of one.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list is the library's, and only parts of tables come here"
    )]
    pub(super) fn table(&mut self, tag: &Tag<'_>) {
        if matches!(tag, Tag::Table(_)) {
            self.table = Some(TableState::default());
            self.out.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n");
            return;
        }
        let Some(table) = &mut self.table else { return };
        match tag {
            Tag::TableHead => {
                table.head = Some(self.out.len());
                self.out.push_str("<thead><tr>");
            }
            Tag::TableRow => self.out.push_str("<tr>"),
            _ => {
                self.out.push_str(if table.head.is_some() { HEAD_CELL } else { "<td>" });
                table.cell = self.out.len();
            }
        }
    }

    /// Ends a table or a part of one.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list is the library's, and only parts of tables come here"
    )]
    pub(super) fn table_end(&mut self, end: TagEnd) {
        let Some(table) = &mut self.table else { return };
        match end {
            TagEnd::TableCell if table.head.is_none() => self.out.push_str("</td>"),
            // Omit an empty head.
            TagEnd::TableCell if table.cell == self.out.len() => {
                self.out.truncate(table.cell - HEAD_CELL.len());
                self.out.push_str("<td></td>");
            }
            TagEnd::TableCell => {
                table.has_head = true;
                self.out.push_str("</th>");
            }
            TagEnd::TableHead => {
                let begin = table.head.take().unwrap_or_default();
                if table.has_head {
                    self.out.push_str("</tr></thead>\n<tbody>\n");
                } else {
                    self.out.truncate(begin);
                    self.out.push_str("<tbody>\n");
                }
            }
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            _ => {
                self.out.push_str("</tbody></table></div>\n");
                self.table = None;
            }
        }
    }
}
