//! The corpus, and inputs made of what is valid, so that they come further than chance does.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn the_corpus_of_the_wire_holds() {
    replay::replay("wire", wire);
}

/// A piece of msgpack: a name of the schema, a value of any kind, or the beginning of a container.
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
        // Unknown, and one that is known not to be null.
        vec![0xd4, 0x00, 0x00],
        vec![0xc7, 0x03, 0x0c, 0x81, 0x01, 0xc2],
        // The longest list and text that can be announced.
        vec![0xdd, 0xff, 0xff, 0xff, 0xff],
        vec![0xdb, 0xff, 0xff, 0xff, 0xff],
        // Not a number, and numbers as texts.
        vec![0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 1],
        b"\xa51e999".to_vec(),
        b"\xa3-.5".to_vec(),
    ];
    // A dynamic value: its type as JSON, and itself.
    kinds.push(b"\x92\xc4\x08\"string\"\xa1x".to_vec());
    prop_oneof![3 => name, 4 => prop::sample::select(kinds), 1 => vec(any::<u8>(), 0..6)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_bytes_crash_a_call(input in vec(any::<u8>(), 0..200)) {
        wire(&input);
    }

    #[test]
    fn no_msgpack_crashes_a_call(method: u8, pieces in vec(piece(), 0..60)) {
        // The whole in every place of the request.
        wire(&[&[method, 2], pieces.concat().as_slice()].concat());
    }
}
