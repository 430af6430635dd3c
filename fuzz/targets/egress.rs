//! libFuzzer's way into `probe::fuzz::egress`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| probe::fuzz::egress(input));
