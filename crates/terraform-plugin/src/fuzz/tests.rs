//! Replays the corpus, and generates mostly valid inputs, which reach further than random ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn wire_corpus_never_panics() {
    replay::replay("wire", wire);
}

/// Generates a piece of msgpack: a name of the schema, any value, or the header of a container.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(vec![
        "id", "text", "number", "flag", "list", "set", "map", "any", "unkept", "single", "row",
        "line", "mark", "key", "kept", "name", "rank", "token",
    ]);
    let name = name.prop_map(|name| {
        let length = u8::try_from(name.len()).expect("names are short");
        [&[0xa0 | length], name.as_bytes()].concat()
    });
    let mut kinds = vec![
        vec![0xc0],
        vec![0xc2],
        vec![0xc3],
        vec![0x01],
        vec![0xff],
        vec![0x90],
        vec![0x91],
        vec![0x92],
        vec![0x80],
        vec![0x81],
        vec![0x8e],
        // Unknown, and unknown but not null.
        vec![0xd4, 0x00, 0x00],
        vec![0xc7, 0x03, 0x0c, 0x81, 0x01, 0xc2],
        // The longest list and string that a header can announce.
        vec![0xdd, 0xff, 0xff, 0xff, 0xff],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff],
        // Not a number, and numbers as text.
        vec![0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1],
        b"\xa51e999".to_vec(),
        b"\xa3-.5".to_vec(),
    ];
    // A dynamic value: its type as JSON, and its value.
    kinds.push(b"\x92\xc4\x08\"string\"\xa1x".to_vec());
    prop_oneof![3 => name, 4 => prop::sample::select(kinds), 1 => vec(any::<u8>(), 0..6)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic_a_call(input in vec(any::<u8>(), 0..200)) {
        wire(&input);
    }

    #[test]
    fn msgpack_never_panics_a_call(method: u8, pieces in vec(piece(), 0..60)) {
        // The whole input in every value of the request.
        wire(&[&[method, 2], pieces.concat().as_slice()].concat());
    }
}
