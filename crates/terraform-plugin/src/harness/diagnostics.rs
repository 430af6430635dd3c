//! Diagnostics as Terraform prints them: its own, and those of providers with their source range.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// Summary of the warning that Terraform adds for every development override.
const OVERRIDE_WARNING: &str = "Provider development overrides are in effect";

/// An error or warning that Terraform printed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RenderedDiagnostic {
    /// `error` or `warning`.
    pub severity: String,
    /// Headline.
    pub summary: String,
    /// Problem and fix.
    #[serde(default)]
    pub detail: String,
    /// Address of the resource that caused it.
    #[serde(default)]
    pub address: Option<String>,
    /// Source range in the configuration.
    #[serde(rename = "range", default)]
    pub range: Option<SourceRange>,
    #[serde(default)]
    snippet: Option<Snippet>,
}

/// A range in a file of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SourceRange {
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

impl SourceRange {
    /// Returns the line, counted from one.
    pub fn line(&self) -> u64 {
        self.start.line
    }
}

impl RenderedDiagnostic {
    /// Returns whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == "error"
    }

    /// Returns the underlined part of the configuration. Empty if there is no source range.
    pub fn underlined(&self) -> &str {
        let snippet = self.snippet.as_ref();
        let piece = snippet.and_then(|snippet| snippet.code.get(snippet.from..snippet.to));
        piece.unwrap_or_default()
    }
}

impl fmt::Display for RenderedDiagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.severity, self.summary)?;
        if let Some(range) = &self.range {
            write!(out, "\n  on {} line {}", range.filename, range.line())?;
        }
        if let Some(snippet) = &self.snippet {
            write!(out, ": {}", snippet.code.trim())?;
        }
        if self.detail.is_empty() { Ok(()) } else { write!(out, "\n  {}", self.detail) }
    }
}

/// Reads the diagnostics of a JSON list.
pub(super) fn parse_list(list: &Value) -> Vec<RenderedDiagnostic> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|one| RenderedDiagnostic::deserialize(one).ok())
        .filter(is_from_provider)
        .collect()
}

/// Reads the diagnostics of a command's output, which has a JSON object per line.
pub(super) fn parse_lines(stdout: &str) -> Vec<RenderedDiagnostic> {
    let lines = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = lines.filter_map(|line| RenderedDiagnostic::deserialize(&line["diagnostic"]).ok());
    found.filter(is_from_provider).collect()
}

fn is_from_provider(diagnostic: &RenderedDiagnostic) -> bool {
    diagnostic.summary != OVERRIDE_WARNING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_parsed_and_shown_with_source() {
        let stdout = r#"{"@level":"info","type":"version"}
no json
{"@level":"warn","diagnostic":{"severity":"warning","summary":"Provider development overrides are in effect"}}
{"@level":"error","diagnostic":{"severity":"error","summary":"Too small","detail":"At least 1.","address":"a.b",
"x":1}}
{"@level":"error","diagnostic":{"severity":"error","summary":"Too small","detail":"At least 1.","range":{"filename":"main.tf","start":{"line":3,"column":5,"byte":9},"end":{"line":3,"column":9,"byte":13}},"snippet":{"context":null,"code":"    size = 0","start_line":3,"highlight_start_offset":4,"highlight_end_offset":8,"values":[]}}}
"#;
        let shown = parse_lines(stdout);
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
