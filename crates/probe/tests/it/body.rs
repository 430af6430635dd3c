//! Response bodies: decoding, limits, and reading to the end.

use domain::check::{FailureKind, Outcome};
use rules::monitor::JsonAssertion;
use rules::{Method, TextComparator};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::checking::{Outcomes, get};

/// `uptime ` twenty times, in brotli (RFC 7932); made with the zlib of Node.js.
const BROTLI: &str = "1b8b00f88d54b5bf066983ab93656974115b24f0df09";
/// 64 MiB of `a` in 53 bytes of brotli.
const BROTLI_BOMB: &str = concat!(
    "cfffff7ff825c2e2b14020f7fe9ffffffff04b00c4610180eefd3fffffff",
    "e1970088c32200ddfbfffcffffc72f0110870500baf7ff"
);

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

async fn check(answer: ScriptedResponse, wanted: &str) -> Outcomes {
    let target = HttpTarget::start().await;
    target.on("/", answer);
    get(target.url("/")).body_contains(wanted).run().await
}

#[tokio::test]
async fn content_encodings_are_decoded() {
    // design: §5 "content-encoding undone"
    let text = "uptime ".repeat(20);
    let plain = || ScriptedResponse::ok(text.clone());
    let cases = [
        ("none", plain()),
        ("identity", plain().header("content-encoding", "identity")),
        ("chunks", plain().chunked()),
        ("gzip", plain().gzipped()),
        ("gzip in chunks", plain().gzipped().chunked()),
        ("deflate as zlib", plain().zlibbed()),
        ("bare deflate", plain().deflated()),
        ("brotli", ScriptedResponse::ok(unhex(BROTLI)).header("content-encoding", "br")),
        ("gzip in gzip", plain().gzipped().gzipped()),
        (
            "deflate in gzip, in one line",
            ScriptedResponse::ok(plain().deflated().gzipped().bytes())
                .header("content-encoding", "deflate, GZIP"),
        ),
    ];
    for (what, answer) in cases {
        let outcome = check(answer, "uptime uptime").await;
        assert_eq!(outcome.outcome(), Outcome::Success, "{what}: {:?}", outcome.reasons());
        let body = &outcome.http().body;
        assert_eq!((&body.bytes[..], body.truncated), (text.as_bytes(), false), "{what}");
    }
}

// decision 0081
#[tokio::test]
async fn values_and_expressions_are_found_in_long_bodies() {
    let filler = "x".repeat(900_000);
    let target = HttpTarget::start().await;
    target.on(
        "/json",
        ScriptedResponse::ok(format!("{{\"a\":\"{filler}\",\"status\":\"up\"}}")).gzipped(),
    );
    target.on(
        "/long",
        ScriptedResponse::ok(format!("{{\"a\":\"{filler}{filler}\",\"status\":\"up\"}}")).gzipped(),
    );
    let status = |path: &str| {
        let assertion = JsonAssertion {
            path: "$.status".to_owned(),
            target: "up".to_owned(),
            comparator: TextComparator::Eq,
        };
        get(target.url(path)).http(|http| http.json_assertions.push(assertion))
    };
    let outcome =
        status("/json").body(TextComparator::Matches, r#"x","status":"(up|ok)"#).run().await;
    assert_eq!(outcome.reasons(), [""; 0], "{:?}", outcome.reasons());
    let outcome = status("/long").body(TextComparator::Matches, "^.{3}status").run().await;
    assert_eq!(
        outcome.reasons(),
        [
            "expected body to match `^.{3}status`, but only its beginning could be examined",
            "expected JSON `$.status` to be `up`, but the body was too long to decide",
        ]
    );
}

#[tokio::test]
async fn broken_encoding_fails() {
    let cut = ScriptedResponse::ok("uptime ".repeat(20)).gzipped();
    let cut = ScriptedResponse::ok(cut.bytes().slice(..20)).header("content-encoding", "gzip");
    let cases = [
        cut,
        ScriptedResponse::ok("this is no gzip").header("content-encoding", "gzip"),
        ScriptedResponse::ok("\u{ff}this is no brotli").header("content-encoding", "br"),
        ScriptedResponse::ok(unhex(BROTLI)[..12].to_vec()).header("content-encoding", "br"),
        // A complete stream with a window of 1 GiB, which `br` does not allow (RFC 7932 §9.1).
        ScriptedResponse::ok(vec![0x11, 0xde]).header("content-encoding", "br"),
    ];
    for answer in cases {
        let outcome = check(answer.clone(), "uptime").await;
        assert_eq!(outcome.failure_kind(), FailureKind::BodyUndecodable, "{answer:?}");
    }
}

#[tokio::test]
async fn unknown_encoding_fails_with_body_assertions() {
    let answer = ScriptedResponse::ok("sealed").header("content-encoding", "zstd");
    let outcome = check(answer.clone(), "sealed").await;
    insta::assert_snapshot!(
        outcome.failure().detail,
        @"unknown content-encoding `zstd`"
    );
    let target = HttpTarget::start().await;
    target.on("/", answer);
    get(target.url("/")).run().await.assert_success();
}

#[tokio::test]
async fn decompression_bomb_is_cut() {
    // design: §5 "up to 1 MiB decoded"
    let zeros = vec![0; 8 * 1024 * 1024];
    let cases = [
        ScriptedResponse::ok(zeros.clone()).gzipped(),
        ScriptedResponse::ok(zeros.clone()).gzipped().gzipped(),
        ScriptedResponse::ok(zeros).zlibbed(),
        ScriptedResponse::ok(unhex(BROTLI_BOMB)).header("content-encoding", "br"),
    ];
    for answer in cases {
        let seen = check(answer, "a missing text").await;
        assert_eq!(seen.outcome(), Outcome::Failure, "the rest of the body could contain it");
        assert_eq!(seen.kept_body(), (4096, true));
    }
}

#[tokio::test]
async fn search_stops_after_one_mebibyte() {
    // design: §5 "up to 1 MiB decoded; an assertion that the rest could still change fails"
    const ROOM: usize = 1024 * 1024;
    let with_needle = |at: usize| {
        let mut body = vec![b'x'; at];
        body.extend_from_slice(b"needle");
        body
    };
    for (at, outcome) in [(ROOM - 6, Outcome::Success), (ROOM - 5, Outcome::Failure)] {
        for answer in
            [ScriptedResponse::ok(with_needle(at)), ScriptedResponse::ok(with_needle(at)).gzipped()]
        {
            let seen = check(answer, "needle").await;
            assert_eq!(seen.outcome(), outcome, "{at}: {:?}", seen.reasons());
            assert_eq!(seen.kept_body(), (4096, true), "only the beginning is kept");
        }
    }
}

#[tokio::test]
async fn comparison_keeps_as_much_as_it_needs() {
    let target = HttpTarget::start().await;
    let long = "x".repeat(6_000);
    target.on("/", ScriptedResponse::ok(long.clone()));
    let seen = get(target.url("/")).body(TextComparator::Eq, &long).run().await;
    seen.assert_success();
    assert_eq!(seen.kept_body(), (6_000, false));
}

#[tokio::test]
async fn search_succeeds_with_little_memory() {
    // issue 16, point 3: the bodies of all checks share a budget
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(format!("{}needle", "x".repeat(100_000))));
    let found = get(target.url("/")).body_contains("needle").body_memory(4_000).run().await;
    found.assert_success();
    assert_eq!((found.kept_body(), found.http().body.memory_exhausted), ((0, true), true));
    let whole = get(target.url("/")).body_contains("needle").body_memory(20_000).run().await;
    assert_eq!((whole.kept_body(), whole.http().body.memory_exhausted), ((4096, true), false));
    let compared =
        get(target.url("/")).body(TextComparator::Eq, "x").body_memory(4_000).run().await;
    assert_eq!(compared.outcome(), Outcome::Failure);
    insta::assert_snapshot!(compared.reasons().join("\n"), @"
    expected body to be `x`, but the body was too long to decide
    not enough memory to read the body; raise `check_body_memory_mib`
    ");

    // A decoder needs memory, too.
    target.on("/", ScriptedResponse::ok("needle").gzipped());
    let coded = get(target.url("/")).body_contains("needle").body_memory(4_000).run().await;
    assert_eq!((coded.outcome(), coded.http().body.memory_exhausted), (Outcome::Failure, true));
    insta::assert_snapshot!(coded.reasons().join("\n"), @"
    expected body to contain `needle`, but the body was too long to decide
    not enough memory to read the body; raise `check_body_memory_mib`
    ");
}

#[tokio::test]
async fn body_without_assertions_is_kept_for_evidence() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok(vec![b'x'; 100_000]));
    let outcome = get(target.url("/")).run().await;
    outcome.assert_success();
    assert_eq!(outcome.kept_body(), (4096, true));
}

#[tokio::test]
async fn endless_body_is_cut_at_the_limit() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::endless());
    let outcome = get(target.url("/")).run().await;
    outcome.assert_success();
    assert_eq!(outcome.kept_body(), (4096, true));
    assert!(outcome.http().hops[0].phases.transfer_us.is_some());
}

#[tokio::test]
async fn head_response_has_no_body() {
    // design: §5 "a HEAD answer's body is empty"
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("uptime").gzipped());
    let outcome = get(target.url("/")).method(Method::Head, "").run().await;
    outcome.assert_success();
    assert_eq!(outcome.kept_body(), (0, false));
}
