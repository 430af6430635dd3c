//! Tests of search results and their order.

use super::index::Index;
use super::query::{Query, WORDS_MAX};
use super::section::sections;
use super::{Piece, SearchResults};
use crate::document::Document;

const MONITORS: Document = Document {
    path: "reference/monitors.md",
    source: "# Monitors\n\nWhat is checked.\n\n## CreateHttpMonitor\n\nMakes a monitor.\n\n| Field | |\n|---|---|\n| `degraded_at` | Slow above it. |\n| `url` | What is asked. |\n\n## ListMonitors\n\nAnswers what CreateHttpMonitor made; `degraded_at` too.\n",
};
const ERRORS: Document = Document {
    path: "reference/errors.md",
    source: "# Errors\n\nEach has a reason.\n\n## Reasons\n\n- `MONITOR_TYPE_MISMATCH`: the monitor is of another kind.\n- `NOT_FOUND`: there is none.\n\n## Tries\n\nWho is told MONITOR_TYPE_MISMATCH tries no more.\n",
};

fn search(written: &str) -> SearchResults {
    Index::from_documents([MONITORS, ERRORS].iter()).search(written)
}

fn addresses(written: &str) -> Vec<String> {
    search(written).hits.into_iter().map(|hit| hit.address).collect()
}

// issue 8: "Searchable without a third party"
#[test]
fn search_finds_methods_fields_and_reasons() {
    for (written, first) in [
        ("CreateHttpMonitor", "/docs/reference/monitors#createhttpmonitor"),
        ("create http monitor", "/docs/reference/monitors#createhttpmonitor"),
        ("listmon", "/docs/reference/monitors#listmonitors"),
        ("degraded_at", "/docs/reference/monitors#createhttpmonitor"),
        ("degraded", "/docs/reference/monitors#createhttpmonitor"),
        ("MONITOR_TYPE_MISMATCH", "/docs/reference/errors#reasons"),
        ("type mismatch", "/docs/reference/errors#reasons"),
        ("errors", "/docs/reference/errors"),
    ] {
        assert_eq!(addresses(written).first().map(String::as_str), Some(first), "{written}");
    }
}

#[test]
fn search_requires_all_words_to_match_by_prefix() {
    assert!(addresses("degraded nonsense").is_empty());
    assert!(addresses("onitor").is_empty(), "a word is found by its beginning");
    assert_eq!(addresses("monitors slow"), ["/docs/reference/monitors#createhttpmonitor"]);
    for nothing in ["", "  ", "-", "\u{0}", "„“"] {
        assert_eq!(search(nothing).total, 0, "{nothing:?}");
    }
}

#[test]
fn search_finds_terraform_and_json_field_names() {
    let source = "# X\n\n## Object\n\n- `degradedAt`: when it is slow.\n\n## Block\n\n- `degraded_at`: the same.\n";
    let index = Index::from_documents([Document { path: "x.md", source }].iter());
    for written in ["degraded_at", "degradedAt"] {
        assert_eq!(index.search(written).total, 2, "{written}");
    }
}

#[test]
fn snippets_mark_the_searched_words() {
    let found = search("slow degraded");
    let marked: Vec<&str> =
        found.hits[0].snippet.iter().filter(|it| it.marked).map(|it| it.text.as_str()).collect();
    assert_eq!(marked, ["degraded", "Slow"]);
    let whole: String = found.hits[0].snippet.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(whole, "Makes a monitor. Field degraded_at Slow above it. url What is asked.");
}

#[test]
fn long_text_is_cut_at_words_around_hits() {
    let text = format!("# X\n\n{}needle {}\n", "before ".repeat(60), "behind ".repeat(60));
    let document = Document { path: "x.md", source: text.leak() };
    let found = Index::from_documents([document].iter()).search("needle");
    let pieces = &found.hits[0].snippet;
    let texts: Vec<&str> = pieces.iter().map(|it| it.text.as_str()).collect();
    assert_eq!((texts[0], texts[texts.len() - 1]), ("… ", " …"));
    assert!(pieces.contains(&Piece { text: "needle".to_owned(), marked: true }));
    assert!(texts[1].starts_with("before ") && texts[texts.len() - 2].ends_with(" behind"));
    let letters: usize = texts.iter().map(|it| it.chars().count()).sum();
    assert!((150..200).contains(&letters), "{letters}");
}

#[test]
fn a_search_has_its_bounds() {
    let query = Query::parse(&"word ".repeat(1_000));
    assert_eq!((query.words.len(), query.written.len()), (WORDS_MAX, super::QUERY_CHARS_MAX));
}

#[test]
fn hits_are_limited_per_document_despite_equal_titles() {
    let section = |at| format!("## Part {at}\n\nneedle\n\n");
    let source = format!("# Regions\n\n{}", (0..10).map(section).collect::<String>());
    let source: &'static str = source.leak();
    let documents = ["a.md", "b.md"].map(|path| Document { path, source });
    let hits = Index::from_documents(documents.iter()).search("needle").hits;
    for address in ["/docs/a#", "/docs/b#"] {
        let of_one = hits.iter().filter(|hit| hit.address.starts_with(address)).count();
        assert_eq!(of_one, super::HITS_OF_ONE_MAX, "{address}");
    }
}

proptest::proptest! {
    #[test]
    fn search_never_panics_and_snippets_quote_the_text(written in "\\PC{0,40}", text in "\\PC{0,400}") {
        let source = format!("# Title\n\n{text}\n\n## Héading\n\n{text} {written}\n");
        let document = Document { path: "x.md", source: source.leak() };
        let index = Index::from_documents([&document].into_iter());
        for hit in index.search(&written).hits {
            let shown: String = hit.snippet.iter().map(|it| it.text.as_str()).collect();
            let bare = shown.trim_start_matches("… ").trim_end_matches(" …");
            proptest::prop_assert!(sections(&document).iter().any(|it| it.text.contains(bare)), "{bare}");
        }
    }
}

// issue 16, point 29
#[test]
fn synonyms_of_other_tools_find_results() {
    let documents = crate::catalog::CHAPTERS.iter().flat_map(|chapter| chapter.documents);
    let index = Index::from_documents(documents);
    for (written, page) in [
        ("gatus", "/docs/guides/move-from-gatus"),
        ("docker", "/docs/guides/run-it-for-real"),
        ("kubernetes", "/docs/guides/run-it-for-real"),
        ("certificate", "/docs/"),
        ("cron", "/docs/"),
        ("interval", "/docs/"),
        ("ssl", "/docs/"),
        ("downtime", "/docs/"),
        ("on-call", "/docs/"),
    ] {
        let found = index.search(written);
        let addresses: Vec<_> = found.hits.iter().map(|hit| hit.address.as_str()).collect();
        assert!(addresses.iter().any(|it| it.starts_with(page)), "{written}: {addresses:?}");
    }
}
