//! All tests of the house in one binary.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so; what a story is called belongs on its output"
)]

mod build;
mod cases;
mod fleet;
mod healthy;
mod house;
mod plug;
mod properties;
mod spec;
mod table;
mod world;
