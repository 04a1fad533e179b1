//! All tests of the house in one binary.

mod build;
mod cases;
mod fleet;
mod house;
mod table;
mod world;
