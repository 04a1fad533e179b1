//! The door: parse, run, leave. Leaving at once is on purpose: a host that hangs keeps its thread for ever.

use clap::Parser;

fn main() {
    let cli = volrecon::cli::Cli::parse();
    let exit = volrecon::run::run(&cli);
    std::process::exit(i32::from(exit.code()));
}
