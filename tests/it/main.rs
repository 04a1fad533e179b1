//! All tests of the house in one binary.

mod build;
mod cases;
mod world;
