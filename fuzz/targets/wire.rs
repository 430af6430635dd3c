//! libFuzzer's way into `terraform_plugin::fuzz::wire`, which says what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| terraform_plugin::fuzz::wire(input));
