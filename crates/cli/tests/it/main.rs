//! The binary as people and machines use it: started as a process, spoken to over loopback.

mod check;
mod config;
mod crash;
mod demo;
mod keys;
mod monitors;
mod process;
mod serve;
mod target;
