//! Pages of a long list: the current one, and links to the previous and the next.

/// Position in a long list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pager {
    /// Number of the page, from 1.
    pub(crate) page: u32,
    rows: u32,
    pub(crate) total: u32,
    pub(crate) previous: Option<String>,
    pub(crate) next: Option<String>,
}

impl Pager {
    /// Starts a list at the requested page.
    pub(crate) fn new(page: Option<u32>, rows: u32) -> Self {
        let last = u32::MAX / rows - 1;
        let page = page.unwrap_or(1).clamp(1, last);
        Self { page, rows, total: 0, previous: None, next: None }
    }

    /// Returns the number of rows before the page.
    pub(crate) const fn offset(&self) -> u32 {
        (self.page - 1) * self.rows
    }

    /// Returns the pager with links. `path` has a query to which the page is added.
    pub(crate) fn with_total(self, total: u32, path: &str) -> Self {
        let link = |page: u32| {
            let separator = if path.ends_with('?') { "" } else { "&" };
            format!("{path}{separator}page={page}")
        };
        let has_more = self.offset().saturating_add(self.rows) < total;
        Self {
            total,
            previous: (self.page > 1).then(|| link(self.page - 1)),
            next: has_more.then(|| link(self.page + 1)),
            ..self
        }
    }

    /// Returns the numbers of the first and the last row on the page.
    pub(crate) fn range(&self) -> String {
        let first = self.offset() + 1;
        let last = self.offset().saturating_add(self.rows).min(self.total);
        format!("{first}–{last} of {}", self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_page_links_to_both_neighbours() {
        let pager = Pager::new(Some(2), 50).with_total(101, "/incidents?from=2026-11-01");
        assert_eq!((pager.offset(), pager.range().as_str()), (50, "51–100 of 101"));
        assert_eq!(pager.previous.as_deref(), Some("/incidents?from=2026-11-01&page=1"));
        assert_eq!(pager.next.as_deref(), Some("/incidents?from=2026-11-01&page=3"));
    }

    #[test]
    fn only_page_has_no_links() {
        let pager = Pager::new(Some(0), 50).with_total(50, "/incidents?");
        assert_eq!((pager.page, pager.previous, pager.next), (1, None, None));
        assert!(Pager::new(Some(u32::MAX), 50).offset() > 1_000_000);
    }
}
