//! All integration tests in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by a panic"
)]

mod cli;
mod config;
mod documents;
mod generated;
mod golden;
mod render;
