//! libFuzzer's way into `domain::check::fuzz::assertions`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| domain::check::fuzz::assertions(input));
