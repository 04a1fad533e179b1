//! The database: read-only transactions, one statement a file, a constant number of them.

mod again;
mod cells;
mod error;
mod history;
mod jobs;
mod queues;
mod rows;
mod schema;
mod scope;
mod seen;
mod settings;

pub use again::Again;
pub use error::DbError;
pub use history::maybe_orphans;
pub use queues::Queues;
pub use rows::Rows;
pub(super) use scope::near;
pub use scope::{ScopeError, ScopeWords};
pub use settings::{DatabaseSettings, Secret, Tls};

use cells::Cells;
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder, Params, Row, SslOpts};
use schema::Schema;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// CloudStack releases whose tables volrecon was taught: 4.15 to 4.23.
const KNOWN: std::ops::RangeInclusive<u32> = 15..=23;

/// How long one statement may take.
const STATEMENT: Duration = Duration::from_secs(120);

/// A connection that only reads.
pub struct Reader {
    conn: Conn,
    settings: DatabaseSettings,
    schema: Schema,
    server: String,
    cloudstack: Option<String>,
    warnings: Vec<String>,
    queries: usize,
    /// A transaction is open: the rows' one stays so until the second read.
    open: bool,
    /// When the time for everything is up.
    end: Option<Instant>,
}

impl Reader {
    /// Connects, and looks once which columns this release has (`information_schema.columns`).
    ///
    /// # Errors
    /// When the server cannot be reached or refuses, or a table or column that a scan needs cannot be read.
    pub fn open(settings: &DatabaseSettings) -> Result<Self, DbError> {
        Self::open_within(settings, STATEMENT)
    }

    /// The same, where neither connecting nor any statement may take longer than `limit`.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_within(settings: &DatabaseSettings, limit: Duration) -> Result<Self, DbError> {
        let conn = connect(settings, limit)?;
        let mut reader = Self {
            conn,
            settings: settings.clone(),
            schema: Schema::new(std::iter::empty()),
            server: String::new(),
            cloudstack: None,
            warnings: Vec::new(),
            queries: 0,
            open: false,
            end: Instant::now().checked_add(limit),
        };
        reader.run("the session", "SET time_zone = '+00:00'")?;
        // MariaDB and MySQL name the variable differently; the statement is one.
        reader.run(
            "the session",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        )?;
        let version = reader.read("the server's version", "SELECT VERSION()", |c| c.must_text(0))?;
        reader.server = version.into_iter().next().unwrap_or_default();
        let columns = reader.read("the schema", include_str!("../sql/columns.sql"), |c| {
            Ok((c.must_text(0)?, c.must_text(1)?))
        })?;
        reader.schema = Schema::new(columns.into_iter());
        reader.schema.check(settings)?;
        reader.read_version()?;
        Ok(reader)
    }

    /// `VERSION()` of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// CloudStack's version: the latest row of `version` whose step is `Complete`.
    #[must_use]
    pub fn cloudstack(&self) -> Option<&str> {
        self.cloudstack.as_deref()
    }

    /// What should be said once: a release that is not known.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Statements sent so far.
    #[must_use]
    pub fn queries(&self) -> usize {
        self.queries
    }

    fn read_version(&mut self) -> Result<(), DbError> {
        if self.schema.has("version") {
            let found = self.read("the version", include_str!("../sql/version.sql"), |c| {
                c.must_text(0)
            })?;
            self.cloudstack = found.into_iter().next();
        }
        let version = self.cloudstack.as_deref().unwrap_or("unknown");
        let mut parts = version.split('.').map(str::parse::<u32>);
        let known =
            matches!((parts.next(), parts.next()), (Some(Ok(4)), Some(Ok(minor))) if KNOWN.contains(&minor));
        if !known {
            self.warnings.push(format!(
                "CloudStack {version} is not a release that volrecon knows (4.15 to 4.23): it is scanned all the same, and no repair is offered"
            ));
        }
        Ok(())
    }

    /// Begins a read-only transaction that sees one moment.
    fn begin(&mut self) -> Result<(), DbError> {
        if self.open {
            self.end()?;
        }
        self.open = true;
        self.run(
            "a transaction",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        )
    }

    fn end(&mut self) -> Result<(), DbError> {
        self.open = false;
        self.run("a transaction", "COMMIT")
    }

    fn run(&mut self, what: &'static str, sql: &str) -> Result<(), DbError> {
        self.queries += 1;
        self.conn
            .query_drop(sql)
            .map_err(|source| self.failed(what, &source))
    }

    /// Runs one of our own statements; rows are taken as they come.
    fn read<T>(
        &mut self,
        what: &'static str,
        sql: &str,
        take: impl Fn(&Cells<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        self.queries += 1;
        let mut out = Vec::new();
        let mut bad = None;
        let settings = &self.settings;
        let result = self
            .conn
            .query_iter(sql)
            .map_err(|source| failed(settings, what, &source))?;
        for row in result {
            let row: Row = row.map_err(|source| failed(settings, what, &source))?;
            match take(&Cells::new(&row, what)) {
                Ok(value) => out.push(value),
                Err(error) => bad = bad.or(Some(error)),
            }
        }
        bad.map_or(Ok(out), Err)
    }

    /// The same with parameters: whatever is not ours, names above all, goes this way.
    fn ask<T>(
        &mut self,
        what: &'static str,
        sql: &str,
        params: Vec<String>,
        take: impl Fn(&Cells<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        self.queries += 1;
        let settings = &self.settings;
        // Columns are of several character sets. What one cannot hold is an error of the server's if compared as it is;
        // the index is given up only where it matters.
        let wide = params.iter().any(|param| !param.is_ascii());
        let sql = if wide {
            sql.replace('?', "? COLLATE utf8mb4_bin")
        } else {
            sql.to_owned()
        };
        let params: Params = if params.is_empty() {
            Params::Empty
        } else {
            params.into()
        };
        let rows: Vec<Row> = self
            .conn
            .exec(&sql, params)
            .map_err(|source| failed(settings, what, &source))?;
        rows.iter().map(|row| take(&Cells::new(row, what))).collect()
    }

    fn failed(&self, what: &'static str, source: &mysql::Error) -> DbError {
        failed(&self.settings, what, source)
    }
}

fn failed(settings: &DatabaseSettings, what: &'static str, source: &mysql::Error) -> DbError {
    DbError::Query {
        what,
        at: error::place(settings),
        hint: error::hint(source, settings),
        source: source.into(),
    }
}

/// Connects on a thread of its own: the server's greeting has no timeout that could be told apart from a statement's, and
/// one that accepts and is silent must not cost more than `connect_timeout`. A thread that is late is left behind.
fn connect(settings: &DatabaseSettings, limit: Duration) -> Result<Conn, DbError> {
    let failed = |source: mysql::Error| DbError::Connect {
        at: error::place(settings),
        user: settings.user.clone(),
        hint: error::hint(&source, settings),
        source: (&source).into(),
    };
    let (sender, receiver) = channel();
    let wanted = settings.clone();
    let limit = limit.min(STATEMENT);
    thread::Builder::new()
        .name("database".to_owned())
        .spawn(move || sender.send(connected(&wanted, limit)))
        .map_err(|e| failed(e.into()))?;
    receiver
        .recv_timeout(settings.connect_timeout.min(limit))
        .unwrap_or(Err(mysql::DriverError::ConnectTimeout.into()))
        .map_err(failed)
}

fn connected(settings: &DatabaseSettings, limit: Duration) -> Result<Conn, mysql::Error> {
    let local =
        settings.socket.is_some() || matches!(settings.host.as_str(), "localhost" | "127.0.0.1" | "::1");
    let tls = match settings.tls {
        Tls::Off => None,
        // A socket and the loopback are not worth a handshake.
        Tls::Prefer if local => None,
        Tls::Prefer => Some(
            SslOpts::default()
                .with_danger_accept_invalid_certs(true)
                .with_danger_skip_domain_validation(true),
        ),
        Tls::Verify => Some(SslOpts::default().with_root_cert_path(settings.ca.clone())),
    };
    match Conn::new(options(settings, tls, limit)) {
        Err(mysql::Error::DriverError(mysql::DriverError::TlsNotSupported))
            if settings.tls == Tls::Prefer =>
        {
            Conn::new(options(settings, None, limit))
        }
        other => other,
    }
}

fn options(settings: &DatabaseSettings, tls: Option<SslOpts>, limit: Duration) -> Opts {
    let socket = settings.socket.as_ref().map(|path| path.display().to_string());
    OptsBuilder::new()
        .ip_or_hostname(Some(settings.host.clone()))
        .tcp_port(settings.port)
        .socket(socket)
        // A server behind a tunnel would name its own socket's path, which here is another server's.
        .prefer_socket(false)
        .user(Some(settings.user.clone()))
        .pass(
            settings
                .password
                .as_ref()
                .map(|secret| secret.reveal().to_owned()),
        )
        .db_name(Some(settings.schema.clone()))
        // The protocol's own limit: without it the client asks the server for its, a round trip.
        .max_allowed_packet(Some(1 << 30))
        .tcp_connect_timeout(Some(settings.connect_timeout))
        .read_timeout(Some(limit))
        .write_timeout(Some(settings.connect_timeout))
        .ssl_opts(tls)
        .into()
}
