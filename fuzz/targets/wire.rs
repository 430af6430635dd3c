//! libFuzzer entry point of `terraform_plugin::fuzz::wire`, which contains the assertions.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| terraform_plugin::fuzz::wire(input));
