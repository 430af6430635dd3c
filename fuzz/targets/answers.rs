//! libFuzzer's way into `probe::fuzz::answers`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| probe::fuzz::answers(input));
