//! Pages of a list: requests further pages until a command's limit is reached.

use rules::limits::LIST_LIMIT_MAX;

use crate::output;

/// Default number of entries in a list.
pub(crate) const SHOWN: u32 = 20;

/// The pages of one list.
#[derive(Debug)]
pub(crate) struct Paging {
    limit: usize,
    has_begun: bool,
}

/// Limit and token of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NextPage {
    pub(crate) limit: Option<i32>,
    pub(crate) page_token: Option<String>,
}

impl Paging {
    /// Creates the pages of at most `limit` entries.
    pub(crate) const fn up_to(limit: u32) -> Self {
        Self { limit: limit as usize, has_begun: false }
    }

    /// Creates the pages of all entries.
    pub(crate) const fn of_all() -> Self {
        Self { limit: usize::MAX, has_begun: false }
    }

    /// Returns the next request. `shown` is the number of entries so far, and `token` the last
    /// response's. Returns `None` if the limit is reached or the last page was read.
    pub(crate) fn next(&mut self, shown: usize, token: &str) -> Option<NextPage> {
        let left = self.limit.saturating_sub(shown);
        if left == 0 || (self.has_begun && token.is_empty()) {
            return None;
        }
        self.has_begun = true;
        let page_token = Some(token.to_owned()).filter(|token| !token.is_empty());
        Some(NextPage { limit: Some(left.min(LIST_LIMIT_MAX as usize) as i32), page_token })
    }
}

/// Prints how to see the rest of a list that has `all` entries.
pub(crate) fn hint(shown: usize, all: i32) {
    if usize::try_from(all).is_ok_and(|all| all > shown) {
        output::print_stderr(&format!("{shown} of {all}; a higher --limit shows more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(limit: i32, token: &str) -> NextPage {
        let page_token = Some(token.to_owned()).filter(|token| !token.is_empty());
        NextPage { limit: Some(limit), page_token }
    }

    #[test]
    fn pages_end_at_the_limit() {
        let mut paging = Paging::up_to(130);
        assert_eq!(paging.next(0, ""), Some(page(100, "")));
        assert_eq!(paging.next(70, "a"), Some(page(60, "a")));
        assert_eq!(paging.next(130, "b"), None);
    }

    #[test]
    fn pages_end_without_a_token() {
        for mut paging in [Paging::up_to(500), Paging::of_all()] {
            assert_eq!(paging.next(0, ""), Some(page(100, "")));
            assert_eq!(paging.next(100, "a"), Some(page(100, "a")));
            assert_eq!(paging.next(150, ""), None);
        }
    }
}
