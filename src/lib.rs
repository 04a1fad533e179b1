//! volrecon: finds disks on which Apache CloudStack's database and the KVM hypervisors disagree.
//!
//! One way through the house, doors open one way only:
//!
//! ```text
//! MySQL   ─┐
//! libvirt ─┴▶ gather ─▶ Evidence ─▶ sight ─▶ classify ─▶ plan ─▶ render ─▶ stdout, stderr
//!             (I/O)     (value,     (pure)    (pure)     (pure)
//!                        file)
//! ```
//!
//! | room | may import | never |
//! | --- | --- | --- |
//! | [`model`] | nothing | any other room |
//! | [`evidence`] | model | gather, classify, plan, render |
//! | [`gather`] | model, evidence | classify, plan, render, cli |
//! | [`sight`], [`classify`], [`plan`] | model, evidence, sight (plan: classify) | I/O, the clock, config, render |
//! | [`cli`] | classify and render, for their names | the meaning of what was typed |
//! | [`config`] | gather, for the settings it takes; cli | a secret on the outside |
//! | [`render`] | the values | anything that does I/O elsewhere |
//!
//! `tests/it/house.rs` reads the imports and holds this table. [`run`] is the only one that sees all rooms.
//!
//! # Glossary
//!
//! | word | meaning |
//! | --- | --- |
//! | volume | a row of `cloud.volumes` |
//! | disk | a `<disk device='disk'>` of a libvirt domain's live XML |
//! | claim | what the database says of a volume: VM and device id, or nothing |
//! | holder | a domain on a host whose live XML has the volume's disk |
//! | slot | a device id, and the target that it becomes (2 → `vdc`) |
//! | witness | someone who says where a volume is: database, libvirt, guest agent, storage, Kubernetes |
//! | evidence | all that was seen in one run, and what could not be seen: a value, and a file |
//! | gap | something that should have been looked at and could not be |
//! | finding | one mismatch, with class, severity, confidence, cause, and what may be done |
//! | remedy | one of `database`, `detach`, `restart` |
//! | guard | a precondition of a remedy, checked again at the moment of change |
//! | proof of absence | the only value that says "nowhere"; only [`sight`] can make it |
//!
//! A volume is never called a disk, nor the reverse.

pub mod classify;
pub mod cli;
pub mod config;
pub mod evidence;
pub mod exit;
pub mod gather;
pub mod model;
pub mod plan;
pub mod render;
pub mod run;
pub mod sight;
