//! Pages of a list: what may be asked (§2.8, §8.1), and the token of the next page, which is the
//! last id of this one, so that nothing is missed or repeated when resources come and go.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rules::{Violation, Violations, limits};
use store::Page;

/// What a caller asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) limit: Option<i32>,
    pub(super) offset: Option<i32>,
    pub(super) page_token: Option<&'a str>,
}

/// A page that there can be, of resources with these ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<Id>(Page<Id>);

impl Asked<'_> {
    /// The page, or all that is wrong with it.
    pub(super) fn parse<Id: FromStr>(self) -> Result<Part<Id>, Violations> {
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
        let after = token.and_then(read::<Id>);
        if token.is_some() && after.is_none() {
            let allowed = "must be the next_page_token of an earlier response";
            wrong.push(Violation::unseen("page_token", allowed));
        }
        if token.is_some() && self.offset.is_some_and(|offset| offset != 0) {
            wrong.push(Violation::unseen("offset", "cannot be given together with page_token"));
        }
        match (limit, offset) {
            (Some(limit), Some(offset)) if wrong.is_empty() => {
                Ok(Part(Page { limit, offset, after }))
            }
            _ => Err(Violations(wrong)),
        }
    }
}

impl<Id: Copy + Display> Part<Id> {
    /// What to ask the store for: one more than is shown says whether there is a next page.
    pub(super) const fn with_one_more(self) -> Page<Id> {
        Page { limit: self.0.limit + 1, ..self.0 }
    }

    /// Returns the messages of this page and the token of the next one, which is empty on the last page.
    /// Large messages end a page early: gRPC clients accept 4 MiB by default.
    ///
    /// `left_out` rows of the page could not be read: where others follow, the token leads past them.
    pub(super) fn cut<T, M>(
        self,
        (rows, left_out): (&[T], usize),
        id: impl Fn(&T) -> Id,
        show: impl Fn(&T) -> M,
        size: impl Fn(&M) -> usize,
    ) -> (Vec<M>, String) {
        let mut messages = Vec::with_capacity(rows.len().min(self.0.limit as usize));
        let mut bytes = 0;
        for row in rows.iter().take(self.0.limit as usize) {
            let message = show(row);
            bytes += size(&message);
            if bytes > limits::LIST_BYTES_MAX && !messages.is_empty() {
                break;
            }
            messages.push(message);
        }
        let is_full = rows.len() + left_out > self.0.limit as usize;
        let next = messages.len() < rows.len() || is_full;
        let last = messages.len().checked_sub(1).and_then(|last| rows.get(last)).filter(|_| next);
        (messages, last.map(|last| write(id(last))).unwrap_or_default())
    }
}

/// A count as the wire has it.
pub(super) fn total(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn write(after: impl Display) -> String {
    URL_SAFE_NO_PAD.encode(after.to_string())
}

fn read<Id: FromStr>(token: &str) -> Option<Id> {
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

    fn refused(asked: Asked<'_>) -> String {
        asked.parse::<MonitorId>().unwrap_err().to_string()
    }

    #[test]
    fn nothing_asked_is_the_first_fifty() {
        // spec: §2.8, §8.1
        let page = Asked::default().parse::<MonitorId>().unwrap();
        assert_eq!(page, Part(Page { limit: 50, offset: 0, after: None }));
        let asked = Asked { page_token: Some(""), ..Asked::default() };
        assert_eq!(asked.parse().unwrap(), page);
    }

    #[test]
    fn limits_hold_at_their_bounds_and_not_past_them() {
        // spec: §8.1
        for (limit, holds) in [(0, false), (1, true), (100, true), (101, false), (-1, false)] {
            let asked = Asked { limit: Some(limit), ..Asked::default() };
            assert_eq!(asked.parse::<MonitorId>().is_ok(), holds, "{limit}");
        }
        insta::assert_snapshot!(
            refused(Asked { limit: Some(101), offset: Some(-1), page_token: Some("x") }),
            @"`limit` must be 1 to 100 (given: `101`); `offset` must be 0 or more (given: `-1`); `page_token` must be the next_page_token of an earlier response; `offset` cannot be given together with page_token"
        );
    }

    #[test]
    fn large_records_end_a_page_early() {
        // issue 16, point 15
        let page = Asked::default().parse::<MonitorId>().unwrap();
        let cut = |sizes: &[usize]| {
            let rows: Vec<(u64, usize)> = (1..).zip(sizes.iter().copied()).collect();
            page.cut((&rows, 0), |row| MonitorId::from_bits(row.0), |row| row.1, |size| *size)
        };
        let mib = 1024 * 1024;
        let (first, token) = cut(&[mib, 2 * mib, 1]);
        assert_eq!((first.len(), token), (2, write(MonitorId::from_bits(2))));
        let (alone, token) = cut(&[9 * mib, 1]);
        assert_eq!((alone.len(), token), (1, write(MonitorId::from_bits(1))));
        assert_eq!(cut(&[mib, mib]), (vec![mib, mib], String::new()));
        let (whole, token) = cut(&[1; 51]);
        assert_eq!((whole.len(), token), (50, write(MonitorId::from_bits(50))));
    }

    #[test]
    fn a_token_leads_on_and_a_made_up_one_is_refused() {
        let id = MonitorId::from_bits(77);
        let token = write(id);
        let asked = Asked { page_token: Some(&token), ..Asked::default() };
        assert_eq!(asked.parse().unwrap().0.after, Some(id));
        for made_up in ["!", "bW9uXw", "a2V5XzAwMDAwMDAwMDAwMDA", &"A".repeat(300)] {
            let asked = Asked { page_token: Some(made_up), ..Asked::default() };
            assert!(asked.parse::<MonitorId>().is_err(), "{made_up}");
        }
        let asked = Asked { page_token: Some(&token), offset: Some(1), ..Asked::default() };
        assert_eq!(refused(asked), "`offset` cannot be given together with page_token");
    }
}
