//! Incidents, as far as callers write and ask: the states there are, and what a comment may be. When
//! an incident opens and closes is decided by `domain`.

use crate::tables::INCIDENT_COMMENT;
use crate::{Reader, Violation, Violations};

words! {
    /// Whether an incident goes on.
    IncidentState ("state") {
        /// It does.
        Open = "open",
        /// It is over.
        Closed = "closed",
    }
}

/// What somebody wrote into an incident, as long as it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment(String);

impl Comment {
    /// Reads what was given, or says what is wrong with it.
    pub fn parse(text: Option<String>) -> Result<Self, Violations> {
        let mut reader = Reader::new(&INCIDENT_COMMENT);
        let text = reader.text("text", text);
        let comment = reader.finish(text.map(Self))?;
        if comment.0.trim().is_empty() {
            return Err(Violation::unseen("text", "must not be only spaces").into());
        }
        Ok(comment)
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: Option<&str>) -> String {
        Comment::parse(text.map(str::to_owned)).unwrap_err().to_string()
    }

    #[test]
    fn a_comment_holds_at_its_bounds_and_not_past_them() {
        for chars in [1, 4_096] {
            let text = "é".repeat(chars);
            assert_eq!(Comment::parse(Some(text.clone())), Ok(Comment(text)));
        }
        let long = "é".repeat(4_097);
        let refusals = [None, Some(""), Some(" \n\u{a0}\t"), Some(long.as_str())].map(refused);
        let refusals = refusals.map(|said| said.chars().take(60).collect::<String>());
        insta::assert_snapshot!(refusals.join("\n"), @"
        `text` must be given
        `text` must not be empty
        `text` must not be only spaces
        `text` must have at most 4096 characters (given: `4097 chara
        ");
    }
}
