//! The binary as people and machines use it: as a process, over loopback.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

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
mod lists;
mod monitors;
mod network;
mod pages;
mod places;
mod process;
mod reports;
mod restore;
mod serve;
mod successes;
mod target;
mod terraform;
mod workspaces;
