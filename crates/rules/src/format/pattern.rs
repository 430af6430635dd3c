//! The regular expression of an assertion. It needs linear time, and the memory of a compiled one is
//! limited.

use regex::{Regex, RegexBuilder};

use super::FormatError;
use crate::limits;

/// Memory of compiled expressions, in bytes. `\w+@\w+\.\w+` needs 190 KB, because `\w` has all letters of
/// Unicode.
const SIZES: [usize; 3] = [4 * 1024, 32 * 1024, limits::EXPRESSION_BYTES_MAX];
/// Memory that a search may use beside the expression, to be fast. A search that needs more is slower.
const SEARCH_BYTES: usize = 256 * 1024;
/// Maximum work of one search: bytes of the text, times bytes of the expression. The time of a search is at
/// most proportional to it, and this much takes about two seconds with the worst expressions.
const SEARCH_WORK: u64 = limits::EXPRESSION_BYTES_MAX as u64 * limits::EXPRESSION_TEXT_BYTES as u64;
/// Maximum work of all searches in one response.
pub const PATTERN_WORK_MAX: u64 = 2 * SEARCH_WORK;

/// A valid regular expression. It is compiled for each response, because a compiled one takes much memory,
/// and monitors wait most of their time.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: Box<str>,
    size: usize,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct CompiledPattern {
    regex: Regex,
    size: usize,
}

impl Pattern {
    /// Parses an expression. The error has the position and the reason.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        // `regex` reports errors in several lines, and this parser as data.
        if let Err(error) = regex_syntax::Parser::new().parse(text) {
            return Err(refused(text, &error));
        }
        match SIZES.into_iter().find(|size| compile(text, *size).is_some()) {
            Some(size) => Ok(Self { source: text.into(), size }),
            None => {
                Err("must be a smaller regular expression: repeat less, or write classes of ASCII \
                           such as `[0-9A-Za-z_]` instead of `\\w`"
                    .into())
            }
        }
    }

    /// Compiles the expression, which is valid.
    pub fn compile(&self) -> Option<CompiledPattern> {
        let regex = compile(&self.source, self.size)?;
        Some(CompiledPattern { regex, size: self.size })
    }

    /// Returns the expression that matches exactly this text.
    pub fn escape(text: &str) -> String {
        regex_syntax::escape(text)
    }
}

impl CompiledPattern {
    /// Returns the work of examining a text.
    pub fn work(&self, known: &str) -> u64 {
        (self.examined(known).len() as u64).saturating_mul(self.size as u64)
    }

    /// Returns whether the expression matches somewhere in a text that starts with `known`, and goes on if
    /// it `has_more`. Returns `None` if that depends on the part that is not examined: a match at the end of
    /// the known text does, because the rest may change it, as for `ok$`.
    pub fn matches(&self, known: &str, has_more: bool) -> Option<bool> {
        let examined = self.examined(known);
        let has_more = has_more || examined.len() < known.len();
        match self.regex.shortest_match(examined) {
            Some(end) => (end < examined.len() || !has_more).then_some(true),
            None => (!has_more).then_some(false),
        }
    }

    /// Returns the part of a text that a search may examine.
    fn examined<'a>(&self, known: &'a str) -> &'a str {
        let most = usize::try_from(SEARCH_WORK / self.size as u64).unwrap_or(usize::MAX);
        &known[..known.floor_char_boundary(most)]
    }
}

fn compile(text: &str, size: usize) -> Option<Regex> {
    RegexBuilder::new(text).size_limit(size).dfa_size_limit(SEARCH_BYTES).build().ok()
}

fn refused(text: &str, error: &regex_syntax::Error) -> FormatError {
    let (reason, offset) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset),
        regex_syntax::Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset)
        }
        other => (other.to_string(), 0),
    };
    let character = text.get(..offset).map_or(0, |before| before.chars().count()) + 1;
    format!("must be a regular expression: {reason} at character {character}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_expression_names_position_and_reason() {
        for (text, expected) in [
            ("a(b", "must be a regular expression: unclosed group at character 2"),
            ("é[", "must be a regular expression: unclosed character class at character 2"),
            (
                "(?=a)",
                "must be a regular expression: look-around, including look-ahead and look-behind, is not supported \
                 at character 1",
            ),
            (
                r"(a)\1",
                "must be a regular expression: backreferences are not supported at character 4",
            ),
            (
                r"\p{Nope}",
                "must be a regular expression: Unicode property not found at character 1",
            ),
        ] {
            assert_eq!(Pattern::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn expression_that_needs_much_memory_is_refused() {
        for text in [r"\w{1,1000}", "(a{1000}){1000}", "(((a{100}){100}){100}){100}"] {
            let error = Pattern::parse(text).unwrap_err().to_string();
            assert!(error.starts_with("must be a smaller regular expression"), "{text}: {error}");
        }
        for text in [r"\w+@\w+\.\w+", r"(?i)^\s*status:\s*(ok|up)\s*$", r"\d{4}-\d\d-\d\d", ""] {
            assert!(Pattern::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn match_at_the_end_is_unknown() {
        for (pattern, known, whole, beginning) in [
            ("ok.*", "is ok now", Some(true), Some(true)),
            ("ok$", "is ok", Some(true), None),
            (r"ok\b", "is ok", Some(true), None),
            ("ok", "is not", Some(false), None),
            ("", "", Some(true), None),
        ] {
            let compiled = Pattern::parse(pattern).unwrap().compile().unwrap();
            assert_eq!(compiled.matches(known, false), whole, "{pattern}");
            assert_eq!(compiled.matches(known, true), beginning, "{pattern}");
        }
    }

    #[test]
    fn large_expression_examines_the_beginning() {
        let large = Pattern::parse(r"\w+@\w+\.\w+").unwrap().compile().unwrap();
        let small = Pattern::parse("[a-z]+@").unwrap().compile().unwrap();
        for (blanks, found) in [(1_000, Some(true)), (200_000, None)] {
            let text = format!("{}me@example.com.", " ".repeat(blanks));
            assert_eq!(large.matches(&text, false), found);
            assert_eq!(small.matches(&text, false), Some(true));
        }
    }
}
