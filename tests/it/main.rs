//! All integration tests in one binary.

// clippy.toml allows them in test functions only, and not in what these share.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by a panic"
)]

mod build;
mod cases;
mod cli;
mod config;
mod documents;
mod domain_xml;
mod gather_libvirt;
mod generated;
mod golden;
mod lab_occurrences;
mod lab_selftest;
mod logs;
mod occurrences;
mod readme;
mod render;
mod world;

#[path = "../lab/mod.rs"]
mod lab;
