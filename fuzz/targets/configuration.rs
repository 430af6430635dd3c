//! libFuzzer entry point of `server::config::fuzz::configuration`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| server::config::fuzz::configuration(input));
