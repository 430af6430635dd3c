//! Rendering of Markdown, including hostile input.

use proptest::prelude::*;

use super::{html, plain};

/// Every tag allowed on a page, except links.
const TAGS: [&str; 22] = [
    "p",
    "/p",
    "strong",
    "/strong",
    "em",
    "/em",
    "del",
    "/del",
    "code",
    "/code",
    "pre",
    "/pre",
    "ul",
    "/ul",
    "ol",
    "/ol",
    "li",
    "/li",
    "blockquote",
    "/blockquote",
    "br",
    "hr",
];
/// Fragments for hostile input.
const PIECES: [&str; 40] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<a href=\"",
    "javascript:alert(1)",
    "JaVa\tScRiPt:",
    "data:text/html,<script>",
    "vbscript:",
    "&#106;avascript:",
    "[a](",
    "](",
    ")",
    "[",
    "]",
    "![",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "```\n",
    "~~~\n",
    "*",
    "**",
    "~~",
    "_",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "# ",
    "    ",
    "\\",
    "&lt;",
    "&",
    "http://a.example/",
    "mailto:a@b.c",
    "<!--",
    "\u{0}",
];

/// Checks that the HTML contains only allowed tags, each of them closed.
fn is_harmless(html: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(begins) = rest.find(['<', '>']) {
        rest = &rest[begins..];
        let ends = rest.find('>').ok_or("a tag without `>`")?;
        let tag = rest.strip_prefix('<').ok_or("a `>` without a tag")?.get(..ends - 1);
        let tag = tag.ok_or("an empty tag")?;
        rest = &rest[ends + 1..];
        if let Some(link) = tag.strip_prefix("a href=\"") {
            let url = link.strip_suffix("\" rel=\"nofollow noopener\"").ok_or(tag)?;
            let leads = ["http://", "https://", "mailto:"].iter().any(|it| url.starts_with(it));
            if !leads || url.contains(['"', '\'', '<']) || url.contains(char::is_whitespace) {
                return Err(format!("a link to {url}"));
            }
            open.push("a");
        } else if let Some(closed) = tag.strip_prefix('/') {
            if open.pop() != Some(closed) {
                return Err(format!("{closed} is closed out of order"));
            }
        } else if !TAGS.contains(&tag) {
            return Err(format!("<{tag}>"));
        } else if !["br", "hr"].contains(&tag) {
            open.push(tag);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} stay open")) }
}

#[test]
fn markdown_renders_as_a_few_tags() {
    // issue 7 point 3: "Markdown updates (sanitised)"
    let written = "# Fixed\nWe **replaced** the ~~old~~ disk, see [the log](https://a.example/?a=1&b=\"2\").\n\n\
                   - one  \n  more\n- `<two>`\n\n1. first\n\n> said\n\n```\na < b\n```\n---\n<me@a.example>";
    insta::assert_snapshot!(html(written), @r#"
    <p><strong>Fixed</strong></p><p>We <strong>replaced</strong> the <del>old</del> disk, see <a href="https://a.example/?a=1&amp;b=%222%22" rel="nofollow noopener">the log</a>.</p><ul><li>one<br>more</li><li><code>&lt;two&gt;</code></li></ul><ol><li>first</li></ol><blockquote><p>said</p></blockquote><pre><code>a &lt; b
    </code></pre><hr><p><a href="mailto:me@a.example" rel="nofollow noopener">me@a.example</a></p>
    "#);
    insta::assert_snapshot!(plain(written), @"
    Fixed

    We replaced the old disk, see the log (https://a.example/?a=1&b=%222%22).

    - one
    more
    - <two>

    1. first

    said

    a < b

    ---

    me@a.example
    ");
}

#[test]
fn raw_html_images_and_script_links_become_text() {
    for (written, expected) in [
        ("<b onclick=\"x()\">hi</b>", "<p>&lt;b onclick=&quot;x()&quot;&gt;hi&lt;/b&gt;</p>"),
        ("![a chart](https://a.example/x.png)", "<p>a chart</p>"),
        ("[go](javascript:alert(1))", "<p>go</p>"),
        ("[go](JAVASCRIPT:alert(1))", "<p>go</p>"),
        ("[go](data:text/html,x)", "<p>go</p>"),
        ("[go](/elsewhere)", "<p>go</p>"),
        ("<javascript:alert(1)>", "<p>javascript:alert(1)</p>"),
    ] {
        assert_eq!(html(written), expected, "{written}");
    }
}

#[test]
fn deep_nesting_keeps_output_small() {
    let nested = [">".repeat(8_000), "- ".repeat(4_000), "*".repeat(8_000), "[".repeat(8_000)];
    for written in nested {
        let (html, plain) = (html(&written), plain(&written));
        assert!(html.len() < 6 * written.len(), "{} bytes", html.len());
        assert!(plain.len() < 20 * written.len(), "{} bytes", plain.len());
    }
}

proptest! {
    #[test]
    fn any_input_renders_as_safe_html(
        pieces in prop::collection::vec((prop::sample::select(&PIECES[..]), ".{0,3}"), 0..40),
    ) {
        let pieces = pieces.into_iter().flat_map(|(piece, other)| [piece.to_owned(), other]);
        let written: String = pieces.collect();
        let html = html(&written);
        prop_assert_eq!(is_harmless(&html), Ok(()), "{}", html);
    }

    #[test]
    fn text_without_markup_is_unchanged(words in "[a-z]{1,8}( [a-z]{1,8}){0,5}") {
        prop_assert_eq!(plain(&words), words.clone());
        prop_assert_eq!(html(&words), format!("<p>{words}</p>"));
    }
}
