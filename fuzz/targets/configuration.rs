//! libFuzzer's way into `server::config::fuzz::configuration`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| server::config::fuzz::configuration(input));
