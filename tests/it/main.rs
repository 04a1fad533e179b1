//! All tests of the house in one binary.

mod build;
mod cases;
mod fleet;
mod healthy;
mod house;
mod properties;
mod table;
mod world;
