//! libFuzzer entry point of `probe::fuzz::answers`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| probe::fuzz::answers(input));
