//! What the other end of stdout and stderr is: decided once, from values, and handed on as values.

use std::io::IsTerminal;

/// Columns where nothing tells how many there are.
pub const DEFAULT_WIDTH: usize = 80;

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// Only on a terminal that can show it.
    #[default]
    Auto,
    /// Also into pipes and files.
    Always,
    /// Not at all.
    Never,
}

/// The environment variables that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalEnv {
    /// `NO_COLOR`: set and not empty means no colour.
    pub no_color: Option<String>,
    /// `CLICOLOR_FORCE`: set, and neither empty nor `0`, means colour also into a pipe.
    pub clicolor_force: Option<String>,
    /// `TERM`.
    pub term: Option<String>,
    /// `COLUMNS`.
    pub columns: Option<String>,
}

impl TerminalEnv {
    /// As this process sees it.
    #[must_use]
    pub fn from_process() -> Self {
        let get = |name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned());
        Self {
            no_color: get("NO_COLOR"),
            clicolor_force: get("CLICOLOR_FORCE"),
            term: get("TERM"),
            columns: get("COLUMNS"),
        }
    }
}

/// Whether to colour: the flag, then `NO_COLOR`, then `CLICOLOR_FORCE`, then what the stream is.
#[must_use]
pub fn use_color(choice: ColorChoice, env: &TerminalEnv, is_terminal: bool) -> bool {
    let set = |value: &Option<String>| value.as_deref().is_some_and(|v| !v.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set(&env.no_color) => false,
        ColorChoice::Auto if set(&env.clicolor_force) && env.clicolor_force.as_deref() != Some("0") => true,
        ColorChoice::Auto => is_terminal && env.term.as_deref() != Some("dumb"),
    }
}

/// Columns: those of the terminal, else `COLUMNS`, else 80.
#[must_use]
pub fn columns(env: &TerminalEnv, terminal: Option<usize>) -> usize {
    let told = || env.columns.as_deref()?.trim().parse::<usize>().ok();
    terminal
        .filter(|w| *w > 0)
        .or_else(|| told().filter(|w| *w > 0))
        .unwrap_or(DEFAULT_WIDTH)
}

/// What a run's stdout and stderr can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminals {
    /// Columns of stdout.
    pub width: usize,
    /// Colour on stdout.
    pub stdout_color: bool,
    /// Colour on stderr.
    pub stderr_color: bool,
    /// Progress may be drawn on stderr.
    pub progress: bool,
}

impl Terminals {
    /// Looks at the process's own streams.
    #[must_use]
    pub fn look(choice: ColorChoice) -> Self {
        let env = TerminalEnv::from_process();
        let stdout = std::io::stdout();
        let stderr = std::io::stderr();
        let size = stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(&stdout))
            .flatten()
            .map(|(width, _)| usize::from(width.0));
        Self {
            width: columns(&env, size),
            stdout_color: use_color(choice, &env, stdout.is_terminal()),
            stderr_color: use_color(choice, &env, stderr.is_terminal()),
            progress: stderr.is_terminal() && env.term.as_deref() != Some("dumb"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(no_color: Option<&str>, force: Option<&str>, term: &str) -> TerminalEnv {
        TerminalEnv {
            no_color: no_color.map(str::to_owned),
            clicolor_force: force.map(str::to_owned),
            term: Some(term.to_owned()),
            columns: None,
        }
    }

    #[test]
    fn the_flag_wins_over_everything() {
        assert!(use_color(
            ColorChoice::Always,
            &env(Some("1"), None, "dumb"),
            false
        ));
        assert!(!use_color(
            ColorChoice::Never,
            &env(None, Some("1"), "xterm"),
            true
        ));
    }

    #[test]
    fn the_environment_wins_over_the_stream() {
        let auto = |env: &TerminalEnv, tty| use_color(ColorChoice::Auto, env, tty);
        assert!(auto(&env(None, None, "xterm"), true));
        assert!(!auto(&env(None, None, "xterm"), false));
        assert!(!auto(&env(None, None, "dumb"), true));
        assert!(!auto(&env(Some("1"), Some("1"), "xterm"), true));
        assert!(auto(&env(Some(""), None, "xterm"), true));
        assert!(auto(&env(None, Some("1"), "xterm"), false));
        assert!(!auto(&env(None, Some("0"), "xterm"), false));
    }

    #[test]
    fn the_width_is_the_terminals_then_columns_then_80() {
        let told = |columns: &str| TerminalEnv {
            columns: Some(columns.to_owned()),
            ..TerminalEnv::default()
        };
        assert_eq!(columns(&told("120"), Some(200)), 200);
        assert_eq!(columns(&told("120"), None), 120);
        assert_eq!(columns(&told("0"), Some(0)), 80);
        assert_eq!(columns(&told("wide"), None), 80);
    }
}
