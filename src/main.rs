//! The door: what was typed goes to [`volrecon`], its exit code to the shell.
fn main() {}
