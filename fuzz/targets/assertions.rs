//! libFuzzer entry point of `domain::check::fuzz::assertions`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| domain::check::fuzz::assertions(input));
