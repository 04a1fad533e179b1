//! The exit codes, as a type. As with diff(1): 0 same, 1 different, 2 trouble.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: consistent, and all was seen.
    Consistent,
    /// 1: findings.
    Findings,
    /// 2: usage, configuration, database.
    Trouble,
    /// 3: no findings in what was seen, but not all was seen.
    NotAllSeen,
    /// 130: interrupted.
    Interrupted,
    /// 143: terminated.
    Terminated,
}

impl Exit {
    /// All, for the README's and the man page's table.
    pub const ALL: [Self; 6] = [
        Self::Consistent,
        Self::Findings,
        Self::Trouble,
        Self::NotAllSeen,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Consistent => 0,
            Self::Findings => 1,
            Self::Trouble => 2,
            Self::NotAllSeen => 3,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// What it means after `scan`.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Consistent => "consistent, and all was seen",
            Self::Findings => "findings",
            Self::Trouble => "trouble: usage, configuration, database",
            Self::NotAllSeen => "no findings in what was seen, but not all was seen",
            Self::Interrupted => "interrupted (SIGINT)",
            Self::Terminated => "terminated (SIGTERM)",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
