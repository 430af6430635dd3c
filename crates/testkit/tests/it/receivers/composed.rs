//! Every vendor accepts the messages that we compose, for all names, addresses and reasons.

use domain::notify::{CloseReason, DIGEST_EVENTS_MAX, Event, EventBatch, EventKind};
use rules::{Region, Timestamp};
use testkit::receivers::Receiver;

use super::fixtures::{event, kinds, message, post, receiver};

/// Names that break formats without proper escaping.
const NAMES: [&str; 34] = [
    "API",
    "",
    " ",
    "\u{0}\u{7}\u{1b}[31m",
    "two\r\nlines\nBcc: a@example.com",
    "<b>bold</b><script>alert(1)</script>",
    "</b></code></a>",
    "&amp; &nbsp; &#x; &",
    "\"quotes\" 'and' \\backslashes\\ {\"json\":true}",
    "*_~`||>#-=.!()[]{}+",
    "```\ncode\n```",
    "@everyone @here <@123> <@&1> <#1>",
    "<!channel> <!here> <!subteam^S1> <https://example.com|click>",
    "<users/all> <https://example.com|x>",
    "[link](https://example.com) ![image](x)",
    "%00%0d%0a %s %n ${x} {{x}} <%= x %>",
    "Ünïcödé ñandú ßtraße İstanbul",
    "Ελληνικά Кириллица Հայերեն ქართული",
    "العربية עברית فارسی اردو",
    "हिन्दी বাংলা தமிழ் తెలుగు ಕನ್ನಡ മലയാളം සිංහල",
    "ไทย ລາວ ខ្មែរ မြန်မာ བོད་ཡིག",
    "漢字 かな カナ 한국어 注音ㄅㄆㄇ",
    "አማርኛ ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ᚠᚢᚦ 𐍈 𓀀 𝕏 𠜎",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 👍🏿 1️⃣ ❤️‍🔥",
    "Z̸̡̧̛͇̱̏̂a̷̢̛͖̩̾l̶̰̞̈́g̵̖̈́o̶͎͝",
    "\u{202e}turned\u{202c} \u{2066}isolated\u{2069}",
    "zero\u{200b}width\u{200d}joined\u{feff}bom",
    "\u{2028}\u{2029}\u{85}\u{a0}",
    "\u{fffd}\u{ffff}\u{10ffff}\u{e000}",
    "https://user:pass@example.com/?a=b&c=d#e",
    "whatsapp:+49 £¥€{}[]~|^\\",
    "null",
    "{\"payload\":{\"summary\":\"\"}}",
    "-- '; DROP TABLE events; --",
];
/// Pieces to repeat to names longer than any vendor accepts.
const REPEATED: [&str; 8] = ["n", "漢", "👩‍👩‍👧‍👦", "<", "&", "\"", "`*", "e\u{301}\u{301}\u{301}"];
const CHARS: usize = 3_000;

/// Returns URLs of 2,048 characters, one of which gets longer by escaping.
fn links() -> [String; 3] {
    let long = |piece: &str| {
        let start = "https://status.example.com/incidents?q=";
        let rest: String = piece.chars().cycle().take(2_048 - start.len()).collect();
        start.to_owned() + &rest
    };
    [long("a"), long("&x"), "https://status.example.com/incidents/inc_1".to_owned()]
}

fn long_names() -> impl Iterator<Item = String> {
    REPEATED.iter().map(|piece| piece.chars().cycle().take(CHARS).collect())
}

/// Returns an event of each kind about a monitor with this name.
fn events(name: &str) -> Vec<Event> {
    let error = event(EventKind::Error, name);
    let recovered = |closed| Event { closed, ..event(EventKind::Recovered, name) };
    let test = Event { incident: None, ..event(EventKind::Test, name) };
    let mut everywhere = error.clone();
    let region = everywhere.cause.regions[0].clone();
    everywhere.cause.regions = Region::ALL
        .iter()
        .map(|at| domain::notify::RegionOutcome { region: *at, ..region.clone() })
        .collect();
    let never = Timestamp::from_millis(i64::MAX);
    vec![
        Event { reminder: 2, ..error.clone() },
        Event { at: never, began_at: never, ..error.clone() },
        error,
        everywhere,
        Event { incident: None, ..event(EventKind::Degraded, name) },
        event(EventKind::StillDegraded, name),
        recovered(None),
        recovered(Some(CloseReason::Recovered)),
        recovered(Some(CloseReason::Degraded)),
        recovered(Some(CloseReason::Paused)),
        recovered(Some(CloseReason::Deleted)),
        recovered(Some(CloseReason::Resolved)),
        Event { closed: Some(CloseReason::Resolved), ..test.clone() },
        test,
    ]
}

async fn assert_accepted(receiver: &Receiver, notice: EventBatch<'_>, link: &str) {
    let before = receiver.accepted().len();
    let reply = post(receiver, &message(receiver, notice, link)).await;
    let why: Vec<String> = receiver.refused().into_iter().map(|it| it.why).collect();
    assert_eq!(why, Vec::<String>::new(), "{}: {reply}\n{notice:?}", receiver.kind());
    assert_eq!(receiver.accepted().len(), before + 1, "{}", receiver.kind());
    assert!(reply.status.is_success(), "{}: {reply}", receiver.kind());
}

// issue 6: "Long names, 2,048-character URLs, every script and emoji, and markup characters in names
// pass through every kind without breaking its format or its limits"
#[tokio::test]
async fn every_event_and_name_is_accepted_by_all() {
    for kind in kinds() {
        let receiver = receiver(kind).await;
        for (at, name) in NAMES.iter().enumerate() {
            let link = &links()[at % 3];
            for event in events(name) {
                assert_accepted(&receiver, EventBatch::One(&event), link).await;
            }
        }
    }
}

#[tokio::test]
async fn long_names_are_accepted_by_every_vendor() {
    for kind in kinds() {
        let receiver = receiver(kind).await;
        for (at, name) in long_names().enumerate() {
            for event in &events(&name)[3..6] {
                assert_accepted(&receiver, EventBatch::One(event), &links()[at % 3]).await;
            }
        }
    }
}

#[tokio::test]
async fn digest_of_all_names_is_accepted_by_all() {
    let of_name = |(at, name): (usize, &str)| events(name).swap_remove(at % 13);
    let short: Vec<Event> = NAMES.iter().copied().enumerate().map(of_name).collect();
    let long: Vec<Event> = long_names().map(|name| event(EventKind::Error, &name)).collect();
    let largest: Vec<Event> = short.iter().cloned().cycle().take(DIGEST_EVENTS_MAX).collect();
    for kind in kinds() {
        let receiver = receiver(kind).await;
        for (link, events) in links().iter().zip([&short, &long, &largest]) {
            assert_accepted(&receiver, EventBatch::Digest(events), link).await;
            assert_accepted(&receiver, EventBatch::Digest(&events[..2]), link).await;
        }
    }
}
