//! Diagnostics as Terraform shows them: its own, and those of providers with their places in the
//! configuration.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// The warning of every command that runs with a provider that is not installed.
const OF_THE_HARNESS: &str = "Provider development overrides are in effect";

/// One error or warning, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Shown {
    /// `error` or `warning`.
    pub severity: String,
    /// The headline.
    pub summary: String,
    /// What is wrong and what to do.
    #[serde(default)]
    pub detail: String,
    /// The resource it is about.
    #[serde(default)]
    pub address: Option<String>,
    /// Where in the configuration it points.
    #[serde(rename = "range", default)]
    pub place: Option<Place>,
    #[serde(default)]
    snippet: Option<Snippet>,
}

/// A place in a file of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// The file's name.
    pub filename: String,
    start: Start,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Start {
    line: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Snippet {
    code: String,
    #[serde(rename = "highlight_start_offset")]
    from: usize,
    #[serde(rename = "highlight_end_offset")]
    to: usize,
}

impl Place {
    /// Its line, from one.
    pub fn line(&self) -> u64 {
        self.start.line
    }
}

impl Shown {
    /// Whether it is an error rather than a warning.
    pub fn is_error(&self) -> bool {
        self.severity == "error"
    }

    /// The piece of the configuration that it underlines; empty when it points nowhere.
    pub fn underlined(&self) -> &str {
        let snippet = self.snippet.as_ref();
        let piece = snippet.and_then(|snippet| snippet.code.get(snippet.from..snippet.to));
        piece.unwrap_or_default()
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.severity, self.summary)?;
        if let Some(place) = &self.place {
            write!(out, "\n  on {} line {}", place.filename, place.line())?;
        }
        if let Some(snippet) = &self.snippet {
            write!(out, ": {}", snippet.code.trim())?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(out, "\n  {}", self.detail) }
    }
}

/// Those of a JSON list.
pub(super) fn listed(list: &Value) -> Vec<Shown> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|one| Shown::deserialize(one).ok()).filter(is_of_the_provider).collect()
}

/// Those of a command's output, which has a JSON object per line.
pub(super) fn in_lines(stdout: &str) -> Vec<Shown> {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = lines.filter_map(|line| Shown::deserialize(&line["diagnostic"]).ok());
    found.filter(is_of_the_provider).collect()
}

fn is_of_the_provider(shown: &Shown) -> bool {
    shown.summary != OF_THE_HARNESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_found_among_the_lines_and_shown_with_their_place() {
        let stdout = r#"{"@level":"info","type":"version"}
no json
{"@level":"warn","diagnostic":{"severity":"warning","summary":"Provider development overrides are in effect"}}
{"@level":"error","diagnostic":{"severity":"error","summary":"Too small","detail":"At least 1.","address":"a.b",
"x":1}}
{"@level":"error","diagnostic":{"severity":"error","summary":"Too small","detail":"At least 1.","range":{"filename":"main.tf","start":{"line":3,"column":5,"byte":9},"end":{"line":3,"column":9,"byte":13}},"snippet":{"context":null,"code":"    size = 0","start_line":3,"highlight_start_offset":4,"highlight_end_offset":8,"values":[]}}}
"#;
        let shown = in_lines(stdout);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].underlined(), "size");
        assert!(shown[0].is_error());
        insta::assert_snapshot!(shown[0], @"
        error: Too small
          on main.tf line 3: size = 0
          At least 1.
        ");
    }
}
