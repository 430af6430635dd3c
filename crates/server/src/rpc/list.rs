//! Pages of a list, newest first: validates requests (§2.8, §8.1) and creates the token of the next
//! page. The token names the last row of a page, so that created or deleted resources cause no gaps
//! or duplicates.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{Violation, Violations, limits};
use store::{Listed, Page};

/// Unvalidated page of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageRequest<'a> {
    pub(super) limit: Option<i32>,
    pub(super) offset: Option<i32>,
    pub(super) page_token: Option<&'a str>,
}

/// Valid page of resources with these IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageSlice<Id>(Page<Id>);

impl PageRequest<'_> {
    /// Validates the page. Returns all violations.
    pub(super) fn parse<Id: FromStr>(self) -> Result<PageSlice<Id>, Violations> {
        let mut wrong = Vec::new();
        let (min, max) = (limits::LIST_LIMIT_MIN, limits::LIST_LIMIT_MAX);
        let limit = self.limit.map_or(Some(limits::LIST_LIMIT_DEFAULT), |given| {
            u32::try_from(given).ok().filter(|limit| (min..=max).contains(limit))
        });
        if limit.is_none() {
            let allowed = format!("must be {min} to {max}");
            wrong.push(Violation::new("limit", self.limit.unwrap_or_default(), allowed));
        }
        let offset = self.offset.map_or(Some(0), |given| u32::try_from(given).ok());
        if offset.is_none() {
            wrong.push(Violation::new(
                "offset",
                self.offset.unwrap_or_default(),
                "must be 0 or more",
            ));
        }
        let token = self.page_token.filter(|token| !token.is_empty());
        let after = token.and_then(decode_token::<Id>);
        if token.is_some() && after.is_none() {
            let allowed = "must be the next_page_token of an earlier response";
            wrong.push(Violation::without_value("page_token", allowed));
        }
        if token.is_some() && self.offset.is_some_and(|offset| offset != 0) {
            wrong.push(Violation::without_value(
                "offset",
                "cannot be given together with page_token",
            ));
        }
        match (limit, offset) {
            (Some(limit), Some(offset)) if wrong.is_empty() => {
                Ok(PageSlice(Page { limit, offset, after }))
            }
            _ => Err(Violations(wrong)),
        }
    }
}

impl<Id: Copy + Display + FromStr + Ord> PageSlice<Id> {
    /// Returns the page for the store. One additional row shows whether a next page exists.
    pub(super) const fn with_one_more(self) -> Page<Id> {
        Page { limit: self.0.limit + 1, ..self.0 }
    }

    /// Returns the messages of this page and the token of the next one, which is empty on the last
    /// page. Large messages end a page early: gRPC clients accept 4 MiB by default.
    ///
    /// Unreadable rows count as rows of the page. If more may follow, the token leads past them,
    /// even if the page has no readable row.
    pub(super) fn cut<T, M>(
        self,
        found: &Listed<T>,
        id: impl Fn(&T) -> Id,
        show: impl Fn(&T) -> M,
        size: impl Fn(&M) -> usize,
    ) -> (Vec<M>, String) {
        let Listed { rows, omitted: left_out, total: _ } = found;
        let limit = self.0.limit as usize;
        let mut messages = Vec::with_capacity(rows.len().min(limit));
        let mut bytes = 0;
        for row in rows.iter().take(limit) {
            let message = show(row);
            bytes += size(&message);
            if bytes > limits::LIST_BYTES_MAX && !messages.is_empty() {
                break;
            }
            messages.push(message);
        }
        let shown = messages.len().checked_sub(1).and_then(|last| rows.get(last)).map(&id);
        let last = if messages.len() < rows.len() {
            shown
        } else if rows.len() + left_out.len() > limit {
            // Use the last row that was read, readable or not. IDs descend, so it is the smallest.
            left_out.iter().filter_map(|key| key.parse().ok()).chain(shown).min()
        } else {
            None
        };
        (messages, last.map(encode_token).unwrap_or_default())
    }
}

/// Encodes a count.
pub(super) fn encode_total(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn encode_token(after: impl Display) -> String {
    URL_SAFE_NO_PAD.encode(after.to_string())
}

fn decode_token<Id: FromStr>(token: &str) -> Option<Id> {
    if token.len() > limits::PAGE_TOKEN_BYTES_MAX {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    str::from_utf8(&bytes).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use rules::MonitorId;

    use super::*;

    fn refused(request: PageRequest<'_>) -> String {
        request.parse::<MonitorId>().unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_the_first_fifty() {
        // spec: §2.8, §8.1
        let page = PageRequest::default().parse::<MonitorId>().unwrap();
        assert_eq!(page, PageSlice(Page { limit: 50, offset: 0, after: None }));
        let request = PageRequest { page_token: Some(""), ..PageRequest::default() };
        assert_eq!(request.parse().unwrap(), page);
    }

    #[test]
    fn out_of_range_limits_are_rejected() {
        // spec: §8.1
        for (limit, holds) in [(0, false), (1, true), (100, true), (101, false), (-1, false)] {
            let request = PageRequest { limit: Some(limit), ..PageRequest::default() };
            assert_eq!(request.parse::<MonitorId>().is_ok(), holds, "{limit}");
        }
        insta::assert_snapshot!(
            refused(PageRequest { limit: Some(101), offset: Some(-1), page_token: Some("x") }),
            @"`limit` must be 1 to 100 (given: `101`); `offset` must be 0 or more (given: `-1`); `page_token` must be the next_page_token of an earlier response; `offset` cannot be given together with page_token"
        );
    }

    #[test]
    fn large_records_end_a_page_early() {
        // issue 16, point 15
        let page = PageRequest::default().parse::<MonitorId>().unwrap();
        let cut = |sizes: &[usize]| {
            let rows =
                (0..).map(|row| 90 - row).zip(sizes.iter().copied()).collect::<Vec<(u64, usize)>>();
            let found = Listed { rows, omitted: Vec::new(), total: 0 };
            page.cut(&found, |row| MonitorId::from_bits(row.0), |row| row.1, |size| *size)
        };
        let mib = 1024 * 1024;
        let (first, token) = cut(&[mib, 2 * mib, 1]);
        assert_eq!((first.len(), token), (2, encode_token(MonitorId::from_bits(89))));
        let (alone, token) = cut(&[9 * mib, 1]);
        assert_eq!((alone.len(), token), (1, encode_token(MonitorId::from_bits(90))));
        assert_eq!(cut(&[mib, mib]), (vec![mib, mib], String::new()));
        let (whole, token) = cut(&[1; 51]);
        assert_eq!((whole.len(), token), (50, encode_token(MonitorId::from_bits(41))));
    }

    #[test]
    fn token_leads_past_unreadable_rows() {
        // issue 16, point 7
        let request = PageRequest { limit: Some(2), ..PageRequest::default() };
        let page = request.parse::<MonitorId>().unwrap();
        let token = |rows: &[u64], left_out: &[&str]| {
            let rows = rows.iter().copied().map(MonitorId::from_bits).collect();
            let left_out = left_out.iter().copied().map(str::to_owned).collect();
            page.cut(&Listed { rows, omitted: left_out, total: 0 }, |id| *id, |id| id.bits(), |_| 1)
        };
        let [seven, eight, nine] = [7, 8, 9].map(|bits| MonitorId::from_bits(bits).to_string());
        let unreadable = [&*nine, &*eight, &*seven];
        assert_eq!(token(&[], &unreadable), (vec![], encode_token(&seven)));
        assert_eq!(token(&[9], &unreadable[1..]), (vec![9], encode_token(&seven)));
        assert_eq!(token(&[8, 7], &unreadable[..1]), (vec![8, 7], encode_token(&seven)));
        assert_eq!(token(&[9, 8, 7], &[]), (vec![9, 8], encode_token(&eight)));
        assert_eq!(token(&[], &unreadable[..2]), (vec![], String::new()), "the last page");
        // A token cannot name a key that is not an ID, but it can name the next one.
        assert_eq!(token(&[], &[&nine, &eight, "?"]), (vec![], encode_token(&eight)));
    }

    #[test]
    fn token_continues_and_forged_one_is_rejected() {
        let id = MonitorId::from_bits(77);
        let token = encode_token(id);
        let request = PageRequest { page_token: Some(&token), ..PageRequest::default() };
        assert_eq!(request.parse().unwrap().0.after, Some(id));
        for made_up in ["!", "bW9uXw", "a2V5XzAwMDAwMDAwMDAwMDA", &"A".repeat(300)] {
            let request = PageRequest { page_token: Some(made_up), ..PageRequest::default() };
            assert!(request.parse::<MonitorId>().is_err(), "{made_up}");
        }
        let request =
            PageRequest { page_token: Some(&token), offset: Some(1), ..PageRequest::default() };
        assert_eq!(refused(request), "`offset` cannot be given together with page_token");
    }
}
