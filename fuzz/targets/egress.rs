//! libFuzzer entry point of `probe::fuzz::egress`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| probe::fuzz::egress(input));
