//! The binary as people and machines use it: as a process, over loopback.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod alerts;
mod apply;
mod attacks;
mod channel_commands;
mod chaos;
mod check;
mod config;
mod contexts;
mod crash;
mod database;
mod demo;
mod disk;
mod doctor;
mod faults;
mod first_steps;
mod flips;
mod import;
mod keys;
mod lists;
mod manual;
mod monitor_checks;
mod monitor_commands;
mod monitors;
mod nats;
mod nats_access;
mod network;
mod pages;
mod places;
mod probes;
mod process;
mod receiver;
mod refusals;
mod remote_probe;
mod reports;
mod restore;
mod second_server;
mod serve;
mod standby;
mod successes;
mod target;
mod terraform;
mod user;
mod users;
mod workspaces;
