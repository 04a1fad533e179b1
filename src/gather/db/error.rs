//! What can go wrong with the database, and what the operator can do.

use super::settings::DatabaseSettings;
use std::io::ErrorKind;

/// The database could not be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DbError {
    #[error("cannot connect to the database at {at} as {user:?}")]
    Connect {
        at: String,
        user: String,
        source: Said,
        hint: Option<String>,
    },
    #[error("cannot read {what} from the database at {at}")]
    Query {
        what: &'static str,
        at: String,
        source: Said,
        hint: Option<String>,
    },
    #[error("the schema {schema:?} has no table {table}, or {user:?} may not read it")]
    Missing {
        schema: String,
        table: &'static str,
        user: String,
        hint: String,
    },
    #[error("the table {table} has no column {column}, or {user:?} may not read it")]
    Column {
        table: &'static str,
        column: &'static str,
        user: String,
        hint: String,
    },
    #[error("a row of {what} has no readable {column} (the row's first column is {id:?})")]
    Row {
        what: &'static str,
        column: usize,
        id: String,
    },
}

/// What the server or the connection said, without the driver's own names around it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Said(String);

impl From<&mysql::Error> for Said {
    fn from(error: &mysql::Error) -> Self {
        if is_late(error) {
            return Self("no answer in time".to_owned());
        }
        Self(match error {
            mysql::Error::MySqlError(said) => said.to_string(),
            mysql::Error::IoError(said) => said.to_string(),
            mysql::Error::DriverError(mysql::DriverError::ConnectTimeout) => "no answer in time".to_owned(),
            mysql::Error::DriverError(mysql::DriverError::CouldNotConnect(Some((_, said, _)))) => {
                said.clone()
            }
            mysql::Error::DriverError(said) => said.to_string(),
            mysql::Error::CodecError(said) => said.to_string(),
            mysql::Error::UrlError(said) => said.to_string(),
            mysql::Error::TlsError(said) => said.to_string(),
            other => other.to_string(),
        })
    }
}

/// A statement's own limit: the server took it and said nothing.
fn is_late(error: &mysql::Error) -> bool {
    // The driver does not tell its codec's error as a cause.
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(match error {
        mysql::Error::CodecError(said) => said,
        other => other,
    });
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return matches!(io.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        }
        cause = error.source();
    }
    false
}

impl DbError {
    /// What the operator can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Connect { hint, .. } | Self::Query { hint, .. } => hint.clone(),
            Self::Missing { hint, .. } | Self::Column { hint, .. } => Some(hint.clone()),
            Self::Row { .. } => Some(
                "look at that row: volrecon does not judge a database that it cannot read whole".to_owned(),
            ),
        }
    }
}

/// `host:port` or the socket.
pub(super) fn place(settings: &DatabaseSettings) -> String {
    match &settings.socket {
        Some(path) => path.display().to_string(),
        None => format!("{}:{}", settings.host, settings.port),
    }
}

/// The GRANT that lets a scan read.
pub(super) fn grant(settings: &DatabaseSettings) -> String {
    let schema = settings.schema.replace('`', "``");
    let user = settings.user.replace('\'', "''");
    format!(
        "as an administrator: GRANT SELECT ON `{schema}`.* TO '{user}'@'%'; (the host part as the account has it: SELECT CURRENT_USER())"
    )
}

/// Not one of CloudStack's tables shows.
pub(super) fn which_schema(settings: &DatabaseSettings) -> String {
    format!(
        "{:?} shows none of CloudStack's tables: is it the `cloud` schema? Name CloudStack's in [database] url; if it is this one, {}",
        settings.schema,
        grant(settings)
    )
}

/// What to try, by the server's error number.
pub(super) fn hint(error: &mysql::Error, settings: &DatabaseSettings) -> Option<String> {
    match error {
        late if is_late(late) => {
            Some("see what the database's server is doing: SHOW FULL PROCESSLIST".to_owned())
        }
        mysql::Error::MySqlError(e) => match e.code {
            1045 => Some(format!(
                "check user and password of {:?} ([database] url, password_file)",
                settings.user
            )),
            // The server says the same of a schema that is not there.
            1044 if settings.schema != "cloud" => Some(format!(
                "is {:?} CloudStack's schema? It is usually `cloud` ([database] url); if it is this one, {}",
                settings.schema,
                grant(settings)
            )),
            1044 | 1142 | 1143 => Some(grant(settings)),
            1049 => Some(format!(
                "there is no schema {:?}: name CloudStack's, usually `cloud`, in [database] url",
                settings.schema
            )),
            1130 => Some(
                "the server refuses this machine's address: the account must be allowed from here".to_owned(),
            ),
            _ => None,
        },
        mysql::Error::IoError(_) => Some(format!(
            "is a server listening at {}, and may this machine reach it?",
            place(settings)
        )),
        mysql::Error::DriverError(
            mysql::DriverError::ConnectTimeout | mysql::DriverError::CouldNotConnect(_),
        ) => Some(format!(
            "is a server listening at {}, and may this machine reach it?",
            place(settings)
        )),
        mysql::Error::TlsError(_) => Some("set [database] tls = \"off\", or give the right ca".to_owned()),
        _ => None,
    }
}
