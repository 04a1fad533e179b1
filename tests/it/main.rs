//! All integration tests in one binary.

mod cli;
mod config;
mod documents;
mod domain_xml;
mod gather_libvirt;
mod generated;
mod golden;
mod render;
