//! A PostgreSQL for `cargo xtask bench rpc`. Starts the one that tests use, prints the address of
//! an empty database, and stops when stdin ends. The bench decides whether it syncs to disk.
#![expect(clippy::print_stdout, reason = "the bench reads the address from stdout")]

extern crate aloft_testkit as testkit;

use std::io::Read as _;

fn main() -> std::io::Result<()> {
    println!("{}", testkit::postgres::database());
    std::io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
