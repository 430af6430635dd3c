//! A PostgreSQL for `cargo xtask bench rpc`: starts the one of the tests, prints the address of an
//! empty database, and ends with its standard input. Whether it syncs to disk is for the bench to say.
#![expect(clippy::print_stdout, reason = "the bench reads the address from there")]

extern crate aloft_testkit as testkit;

use std::io::Read as _;

fn main() -> std::io::Result<()> {
    println!("{}", testkit::postgres::database());
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
