//! The binary as people and machines use it: started as a process, spoken to over loopback.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy takes for the product's")]

mod alerts;
mod attacks;
mod chaos;
mod check;
mod config;
mod crash;
mod database;
mod demo;
mod disk;
mod doctor;
mod flips;
mod keys;
mod monitors;
mod pages;
mod places;
mod process;
mod reports;
mod restore;
mod serve;
mod target;
mod terraform;
