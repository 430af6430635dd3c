//! Searches a body for texts while it is read, so that the body need not be kept. The target of an
//! assertion may occur anywhere in the first mebibyte.

use ::http::{HeaderMap, Method};
use encoding_rs::Decoder;
use rules::TextComparator;

use super::{HttpPlan, charset};
use crate::check::SearchResult;

/// Minimum amount of text to search at a time, so that small pieces cost no more than large ones.
const SEARCH_BYTES_MIN: usize = 4 * 1024;

/// The texts that a plan searches for, and which were found so far.
pub struct Search {
    decoder: Decoder,
    /// In the order of the plan's assertions; `None` for assertions that do not search.
    targets: Vec<Option<Target>>,
    /// Text not yet searched, preceded by enough searched text for a target to begin in.
    text: String,
    /// Bytes of `text` already searched.
    done: usize,
    /// Bytes of the longest target.
    longest: usize,
}

struct Target {
    text: String,
    found: bool,
}

impl Search {
    /// Creates the search of `plan` for a response with these headers. Returns `None` if the plan
    /// searches for nothing.
    pub fn new(plan: &HttpPlan, headers: &HeaderMap) -> Option<Self> {
        // A HEAD response has no body: ignore any bytes that follow it.
        if plan.method == Method::HEAD {
            return None;
        }
        let is_search = |comparator| {
            matches!(comparator, TextComparator::Contains | TextComparator::NotContains)
        };
        let of = |target: &str| Target { text: target.to_owned(), found: target.is_empty() };
        let targets: Vec<Option<Target>> = plan
            .body_assertions
            .iter()
            .map(|it| is_search(it.comparator).then(|| of(&it.target)))
            .collect();
        let longest = targets.iter().flatten().map(|target| target.text.len()).max()?;
        let decoder = charset::for_headers(headers).new_decoder();
        Some(Self { decoder, targets, text: String::new(), done: 0, longest })
    }

    /// Adds the next piece of the body.
    pub fn push(&mut self, piece: &[u8]) {
        self.read(piece, false);
        if self.text.len() - self.done >= SEARCH_BYTES_MIN.max(self.longest) {
            self.search();
        }
    }

    /// Returns the result for a body that ended here, or that goes on.
    pub fn finish(mut self, has_more: bool) -> SearchResult {
        if !has_more {
            self.read(&[], true);
        }
        self.search();
        let contained = self.targets.iter().map(|it| it.as_ref().is_some_and(|it| it.found));
        SearchResult { contained: contained.collect(), has_more }
    }

    fn read(&mut self, piece: &[u8], is_last: bool) {
        let room = self.decoder.max_utf8_buffer_length(piece.len()).unwrap_or(0);
        self.text.reserve(room);
        // The buffer is large enough for any input of this length, so one call decodes it all.
        let _ = self.decoder.decode_to_string(piece, &mut self.text, is_last);
    }

    /// Searches the text and keeps the end, in which a target may begin.
    fn search(&mut self) {
        for target in self.targets.iter_mut().flatten() {
            target.found = target.found || self.text.contains(&target.text);
        }
        let kept = self.longest.saturating_sub(1).min(self.text.len());
        let from = self.text.floor_char_boundary(self.text.len() - kept);
        self.text.drain(..from);
        self.text.shrink_to(SEARCH_BYTES_MIN + self.longest);
        self.done = self.text.len();
    }
}

#[cfg(test)]
mod tests {
    use ::http::header::CONTENT_TYPE;
    use proptest::prelude::*;
    use rules::monitor::TextAssertion;

    use super::*;
    use crate::check::http::tests::{a_check, plan};

    fn search(targets: &[&str], content_type: &str) -> Search {
        let mut check = a_check("http://example.com/");
        let assertion = |target: &&str| TextAssertion {
            target: (*target).to_owned(),
            comparator: TextComparator::Contains,
        };
        check.body_assertions = targets.iter().map(assertion).collect();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, content_type.parse().unwrap());
        Search::new(&plan(&check), &headers).unwrap()
    }

    #[test]
    fn text_is_found_in_its_charset_across_pieces() {
        let mut utf_16 = search(&["grün", "rot"], "text/plain; charset=utf-16le");
        for byte in "das ist grün".encode_utf16().flat_map(u16::to_le_bytes) {
            utf_16.push(&[byte]);
        }
        assert_eq!(
            utf_16.finish(false),
            SearchResult { contained: vec![true, false], has_more: false }
        );
    }

    #[test]
    fn search_buffer_is_bounded() {
        let mut search = search(&["needle"], "text/plain");
        for _ in 0..1_000 {
            search.push(&[b'x'; 10_000]);
            assert!(search.text.capacity() < 8 * 10_000, "{}", search.text.capacity());
        }
        search.push(b"nee");
        search.push(b"dle");
        assert_eq!(search.finish(true), SearchResult { contained: vec![true], has_more: true });
    }

    proptest! {
        // A search by pieces finds the same as a search of the whole body.
        #[test]
        fn search_by_pieces_equals_search_of_whole(
            body in "[abé]{0,300}",
            targets in prop::collection::vec("[abé]{0,12}", 1..4),
            pieces in 1_usize..40,
        ) {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            let mut search = search(&targets, "text/plain");
            // Search after each piece, as for a long body.
            for piece in body.as_bytes().chunks(pieces) {
                search.read(piece, false);
                search.search();
            }
            let expected: Vec<bool> = targets.iter().map(|target| body.contains(target)).collect();
            prop_assert_eq!(search.finish(false).contained, expected);
        }
    }
}
