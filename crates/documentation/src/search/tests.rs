//! Tests of search results and their order.

use super::index::Index;
use super::query::{Query, SYNONYMS_MAX, TERMS_MAX, WORDS_MAX};
use super::section::sections;
use super::snippet::{WORDS_SCANNED_MAX, snippet};
use super::{HITS_MAX, HITS_OF_ONE_MAX, Piece, QUERY_CHARS_MAX, SearchResults};
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

/// Returns the words of a query with its prefixes marked.
fn searched(written: &str) -> Vec<String> {
    let mark = |is_prefix| if is_prefix { "*" } else { "" };
    let words = Query::parse(written).words;
    words.iter().map(|it| it.spellings[0].join(" ") + mark(it.is_prefix)).collect()
}

#[test]
fn stop_words_and_repeated_words_are_ignored() {
    for (written, words) in [
        ("how to add a monitor", &["add*", "monitor*"][..]),
        ("listMonitors list_monitors", &["list monitors*"]),
        ("s s s s s s s s", &["s*"]),
        ("s t a", &["s", "t*"]),
        ("the to of a", &["the", "to", "of", "a*"]),
        ("__ -", &[]),
    ] {
        assert_eq!(searched(written), words, "{written}");
    }
    assert_eq!(addresses("what is slow"), ["/docs/reference/monitors#createhttpmonitor"]);
    assert_eq!(addresses("of another kind of")[0], "/docs/reference/errors#reasons");
}

#[test]
fn query_has_limited_words_terms_and_phrases() {
    let cases = [
        "one two three four five six seven eight nine ten".to_owned(),
        "a_".repeat(1_000),
        "aB ".repeat(1_000),
        "ab_cd_ef_gh_ij_kl_mn bc_de_fg_hi_jk_lm_no cd_ef_gh_ij".to_owned(),
        "alarm cron downtime endpoint helm k8s oncall schedule user".to_owned(),
    ];
    // Each word as itself and as a prefix, and the whole query. The second expression names each word
    // in two groups of columns.
    let included_max = 2 * WORDS_MAX + SYNONYMS_MAX + 1;
    let excluded_max = 2 * (2 * WORDS_MAX + SYNONYMS_MAX);
    let mut most = (0, 0, 0, 0);
    for written in cases {
        let query = Query::parse(&written);
        assert!(query.written.len() <= QUERY_CHARS_MAX, "{written}");
        let terms: usize = query.words.iter().map(|word| word.spellings[0].len()).sum();
        let expressions = query.expressions().unwrap();
        let phrases = |expression: &str| expression.matches('"').count() / 2;
        most.0 = most.0.max(query.words.len());
        most.1 = most.1.max(terms);
        most.2 = most.2.max(phrases(&expressions.included));
        most.3 = most.3.max(phrases(&expressions.excluded));
    }
    assert_eq!(most, (WORDS_MAX, TERMS_MAX, included_max, excluded_max));
}

#[test]
fn snippet_scans_a_limited_number_of_words() {
    let words = Query::parse("needle").words;
    let marks = |words_before: usize| {
        let text = format!("{}needle", "x ".repeat(words_before));
        snippet(&text, &words).iter().filter(|piece| piece.marked).count()
    };
    assert_eq!((marks(WORDS_SCANNED_MAX - 1), marks(WORDS_SCANNED_MAX)), (1, 0));
}

#[test]
fn snippet_shows_the_densest_part() {
    let far = "far ".repeat(100);
    let text = format!("slow {far}slow timeout {far}slow timeout retry {far}slow timeout retry");
    let pieces = snippet(&text, &Query::parse("slow timeout retry").words);
    let marked: Vec<&str> =
        pieces.iter().filter(|it| it.marked).map(|it| it.text.as_str()).collect();
    assert_eq!(marked, ["slow", "timeout", "retry"]);
    assert_eq!((pieces[0].text.as_str(), pieces[pieces.len() - 1].text.as_str()), ("… ", " …"));
}

#[test]
fn hits_are_limited_in_number() {
    let source = format!("# Regions\n\n{}", "## Part\n\nneedle\n\n".repeat(HITS_OF_ONE_MAX));
    let source: &'static str = source.leak();
    let path = |at: usize| -> &'static str { format!("{at}.md").leak() };
    let documents = (0..HITS_MAX).map(|at| Document { path: path(at), source });
    let documents: Vec<Document> = documents.collect();
    let found = Index::from_documents(documents.iter()).search("needle");
    assert_eq!((found.hits.len(), found.total), (HITS_MAX, HITS_MAX * HITS_OF_ONE_MAX));
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
        assert_eq!(of_one, HITS_OF_ONE_MAX, "{address}");
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
        ("docker", "/docs/guides/run-in-containers"),
        ("kubernetes", "/docs/guides/run-in-containers"),
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
