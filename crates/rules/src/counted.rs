//! Counts in sentences for people.

use std::fmt::Display;

/// Returns a count with its noun, in the plural unless the count is 1: `1 monitor`, `2 monitors`.
pub fn counted(count: impl Display + Copy + TryInto<u64>, noun: &str) -> String {
    let is_one = count.try_into().is_ok_and(|count| count == 1);
    format!("{count} {noun}{}", if is_one { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let shown = [-1, 0, 1, 2].map(|count| counted(count, "status page"));
        assert_eq!(shown, ["-1 status pages", "0 status pages", "1 status page", "2 status pages"]);
    }
}
