//! Access versions of status pages: they count changes of the people who may view a page. A cached
//! page must not be served after such a change, even while the database cannot be read. A change is
//! counted before its caller gets the response.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rules::PageId;
use rules::status_page::PageSettings;

/// Number of pages that are counted separately. Beyond it, all counts start over.
const PAGES_MAX: usize = 65_536;

/// Access version of a page. While it is unchanged, people who have seen the page may still view
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessVersion {
    /// Number of changes of all pages.
    all: u64,
    /// Number of changes of this page alone.
    own: u64,
}

/// Access versions of all pages since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct AccessVersions(Mutex<VersionCounts>);

#[derive(Debug, Default)]
struct VersionCounts {
    all: u64,
    own: HashMap<PageId, u64>,
}

impl AccessVersions {
    pub(crate) fn get(&self, page: PageId) -> AccessVersion {
        let counted = self.lock();
        AccessVersion { all: counted.all, own: counted.own.get(&page).copied().unwrap_or_default() }
    }

    /// Counts a change of the people who may view the page, of its address, or its removal.
    pub(crate) fn record_change(&self, page: PageId) {
        let mut counted = self.lock();
        if counted.own.len() >= PAGES_MAX && !counted.own.contains_key(&page) {
            counted.own.clear();
            counted.all += 1;
        }
        *counted.own.entry(page).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, VersionCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether an edit changes who may view the page, or its address.
pub(crate) fn is_access_changed(before: &PageSettings, after: &PageSettings) -> bool {
    before.effective_access() != after.effective_access()
        || before.password != after.password
        || before.auth_email_domains != after.auth_email_domains
        || before.slug != after.slug
        || before.custom_domain != after.custom_domain
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageId = PageId::from_bits(1);

    #[test]
    fn changed_page_leaves_other_access_versions() {
        let accesses = AccessVersions::default();
        let (ours, theirs) = (accesses.get(PAGE), accesses.get(PageId::from_bits(2)));
        accesses.record_change(PAGE);
        assert_ne!(accesses.get(PAGE), ours);
        assert_eq!(accesses.get(PageId::from_bits(2)), theirs);
    }

    #[test]
    fn overflow_resets_counts_without_repeating_versions() {
        let accesses = AccessVersions::default();
        let mut seen = vec![accesses.get(PAGE)];
        accesses.record_change(PAGE);
        seen.push(accesses.get(PAGE));
        for number in 0..=PAGES_MAX as u64 {
            accesses.record_change(PageId::from_bits(number + 2));
        }
        assert!(accesses.lock().own.len() <= PAGES_MAX);
        assert!(!seen.contains(&accesses.get(PAGE)));
    }
}
