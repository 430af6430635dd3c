//! libFuzzer's way into `contract::fuzz::conversions`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| contract::fuzz::conversions(input));
