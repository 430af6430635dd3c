//! Incidents as callers see them: their states, and the limits of a comment. `domain` decides when
//! an incident opens and closes.

use crate::tables::INCIDENT_COMMENT;
use crate::{Validator, Violation, Violations};

words! {
    /// State of an incident.
    IncidentState ("state") {
        /// Not closed.
        Open = "open",
        /// Recovered, resolved, or closed with its monitor.
        Closed = "closed",
    }
}

/// A valid comment on an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment(String);

impl Comment {
    /// Validates the text of a comment.
    pub fn parse(text: Option<String>) -> Result<Self, Violations> {
        let mut validator = Validator::new(&INCIDENT_COMMENT);
        let text = validator.text("text", text);
        let comment = validator.finish(text.map(Self))?;
        if comment.0.trim().is_empty() {
            return Err(Violation::without_value("text", "must not be only spaces").into());
        }
        Ok(comment)
    }

    /// Returns the text.
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
    fn comment_length_is_limited() {
        for chars in [1, 4_096] {
            let text = "é".repeat(chars);
            assert_eq!(Comment::parse(Some(text.clone())), Ok(Comment(text)));
        }
        let long = "é".repeat(4_097);
        let refusals = [None, Some(""), Some(" \n\u{a0}\t"), Some(long.as_str())].map(refused);
        let refusals = refusals.map(|text| text.chars().take(60).collect::<String>());
        insta::assert_snapshot!(refusals.join("\n"), @"
        `text` must be given
        `text` must not be empty
        `text` must not be only spaces
        `text` must have at most 4096 characters (given: `4097 chara
        ");
    }
}
