//! All integration tests in one binary.

// clippy.toml allows them in test functions only, and not in what these share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that fails says so by a panic"
)]

mod aged;
mod build;
mod cases;
mod cli;
mod config;
mod documents;
mod domain_xml;
mod explain;
mod fleet;
mod gather_db;
mod gather_libvirt;
mod generated;
mod golden;
mod healthy;
mod house;
mod jobs;
mod lab_occurrences;
mod lab_selftest;
mod logs;
mod plug;
mod process;
mod properties;
mod readme;
mod render;
mod scanning;
mod spec;
mod stage;
mod table;
mod world;

#[path = "../lab/mod.rs"]
mod lab;
