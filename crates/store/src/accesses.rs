//! How often it was changed who may see a status page, for those who show pages that they remember: one
//! that was read before must not be shown again, also while what is stored cannot be read. It is counted
//! before who changed it is answered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rules::PageId;
use rules::status_page::PageSettings;

/// Pages that are counted one by one; past it all begin anew.
const PAGES_MAX: usize = 65_536;

/// How often who may see a page was changed: while it is the same, whom it was shown to may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Changes of all pages.
    all: u64,
    /// Changes of this page alone.
    own: u64,
}

/// The accesses of all pages since the store was opened.
#[derive(Debug, Default)]
pub(crate) struct Accesses(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    all: u64,
    own: HashMap<PageId, u64>,
}

impl Accesses {
    pub(crate) fn of(&self, page: PageId) -> Access {
        let counted = self.lock();
        Access { all: counted.all, own: counted.own.get(&page).copied().unwrap_or_default() }
    }

    /// Others may see the page from now on, or it is elsewhere, or nowhere.
    pub(crate) fn changed(&self, page: PageId) {
        let mut counted = self.lock();
        if counted.own.len() >= PAGES_MAX && !counted.own.contains_key(&page) {
            counted.own.clear();
            counted.all += 1;
        }
        *counted.own.entry(page).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a page that is edited like this is seen by others than before, or at another address.
pub(crate) fn is_other(before: &PageSettings, after: &PageSettings) -> bool {
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
    fn a_change_of_one_page_leaves_the_others_as_they_were() {
        let accesses = Accesses::default();
        let (ours, theirs) = (accesses.of(PAGE), accesses.of(PageId::from_bits(2)));
        accesses.changed(PAGE);
        assert_ne!(accesses.of(PAGE), ours);
        assert_eq!(accesses.of(PageId::from_bits(2)), theirs);
    }

    #[test]
    fn past_the_most_pages_all_begin_anew_and_none_repeats_itself() {
        let accesses = Accesses::default();
        let mut seen = vec![accesses.of(PAGE)];
        accesses.changed(PAGE);
        seen.push(accesses.of(PAGE));
        for number in 0..=PAGES_MAX as u64 {
            accesses.changed(PageId::from_bits(number + 2));
        }
        assert!(accesses.lock().own.len() <= PAGES_MAX);
        assert!(!seen.contains(&accesses.of(PAGE)));
    }
}
