//! libFuzzer entry point of `contract::fuzz::conversions`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| contract::fuzz::conversions(input));
