//! A private MariaDB: its own directory, socket and port, up in about a second, ended by pid.
//!
//! It must never be reachable from another machine, and never hold anything that outlives the lab. Tests run beside each other by having
//! a schema each.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use super::session::Session;

const DDL: &str = include_str!("schema.sql");
const DDL_4_15: &str = include_str!("shape_4_15.sql");
/// The account that a scan is to use on the schema `cloud`; another schema has one of its own, `ro_NAME`.
pub const READER: &str = "volrecon_ro";
pub const PASSWORD: &str = "only-looks";

/// Which release's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    V4_15,
    V4_22,
}

/// The server.
#[derive(Debug)]
pub struct Maria {
    pub dir: PathBuf,
    pub port: u16,
    pub socket: PathBuf,
    pub pid: u32,
}

/// One schema on it.
#[derive(Debug, Clone)]
pub struct Db {
    pub name: String,
    /// The account that may read this schema and nothing else.
    pub reader: String,
    pub port: u16,
    pub socket: PathBuf,
    pub password_file: PathBuf,
}

impl Maria {
    pub fn start(session: &Session) -> Result<Self> {
        let dir = session.subdir("my")?;
        let (data, socket) = (dir.join("data"), dir.join("s.sock"));
        let log = fs::File::create(dir.join("log"))?;
        let made = Command::new("mariadb-install-db")
            .args([
                "--no-defaults",
                "--user=root",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ])
            .arg(format!("--datadir={}", data.display()))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            .status()
            .context("running mariadb-install-db (make deps)")?;
        if !made.success() {
            bail!("mariadb-install-db: {}", fs::read_to_string(dir.join("log"))?);
        }
        let port = free_port()?;
        let mut child = Command::new("mariadbd")
            .args([
                "--no-defaults",
                "--user=root",
                "--bind-address=127.0.0.1",
                "--skip-name-resolve",
            ])
            .args([
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-flush-method=nosync",
                "--skip-innodb-file-per-table",
                "--skip-innodb-doublewrite",
                "--innodb-buffer-pool-size=128M",
                "--default-time-zone=+00:00",
            ])
            .arg(format!("--datadir={}", data.display()))
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--pid-file={}", dir.join("pid").display()))
            .arg(format!(
                "--general-log-file={}",
                dir.join("general.log").display()
            ))
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting mariadbd")?;
        session.track_pid("mariadbd", child.id())?;
        let maria = Self {
            dir,
            port,
            socket,
            pid: child.id(),
        };
        let until = Instant::now() + Duration::from_secs(30);
        while maria.root("").is_err() {
            if child.try_wait()?.is_some() || Instant::now() > until {
                bail!(
                    "mariadbd does not come up: {}",
                    fs::read_to_string(maria.dir.join("log"))?
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let secret = maria.dir.join("reader.pass");
        fs::write(&secret, PASSWORD)?;
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600))?;
        Ok(maria)
    }

    /// A connection that may do everything.
    pub fn root(&self, schema: &str) -> Result<Conn> {
        connect(&self.socket, schema)
    }

    /// A fresh schema with CloudStack's tables, and the reader's right to read it.
    pub fn schema(&self, name: &str, shape: Shape) -> Result<Db> {
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            bail!("{name:?} is no name for a schema");
        }
        let mut conn = self.root("")?;
        conn.query_drop(format!("DROP DATABASE IF EXISTS `{name}`"))?;
        conn.query_drop(format!("CREATE DATABASE `{name}` CHARACTER SET utf8mb3"))?;
        conn.query_drop(format!("USE `{name}`"))?;
        let ddl = if shape == Shape::V4_15 {
            vec![DDL, DDL_4_15]
        } else {
            vec![DDL]
        };
        for statement in ddl.iter().flat_map(|file| file.split(";\n")) {
            let bare: Vec<&str> = statement
                .lines()
                .filter(|l| !l.starts_with("--") && !l.is_empty())
                .collect();
            if !bare.is_empty() {
                conn.query_drop(bare.join("\n"))
                    .with_context(|| format!("schema: {}", bare.join(" ")))?;
            }
        }
        // A database name in a GRANT is a pattern: `_` would match any letter.
        let pattern = name.replace('_', "\\_");
        let reader = if name == "cloud" {
            READER.to_owned()
        } else {
            format!("ro_{name}")
        };
        for host in ["127.0.0.1", "localhost"] {
            conn.query_drop(format!(
                "CREATE USER IF NOT EXISTS '{reader}'@'{host}' IDENTIFIED BY '{PASSWORD}'"
            ))?;
            conn.query_drop(format!("GRANT SELECT ON `{pattern}`.* TO '{reader}'@'{host}'"))?;
        }
        Ok(Db {
            name: name.to_owned(),
            reader,
            port: self.port,
            socket: self.socket.clone(),
            password_file: self.dir.join("reader.pass"),
        })
    }

    /// Runs something while the server writes down every statement, and gives what it wrote (time, connection, kind, statement).
    pub fn general_log<T>(&self, during: impl FnOnce() -> T) -> Result<(T, String)> {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let file = self.dir.join("general.log");
        let before = fs::metadata(&file).map_or(0, |m| m.len());
        self.root("")?.query_drop("SET GLOBAL general_log = ON")?;
        let out = during();
        self.root("")?.query_drop("SET GLOBAL general_log = OFF")?;
        let bytes = fs::read(&file).context("the general log")?;
        let from = usize::try_from(before)?.min(bytes.len());
        Ok((out, String::from_utf8_lossy(&bytes[from..]).into_owned()))
    }
}

impl Db {
    /// A connection that may do everything.
    pub fn root(&self) -> Result<Conn> {
        connect(&self.socket, &self.name)
    }

    /// The URL for a scan, over TCP, without its password.
    pub fn url(&self) -> String {
        format!("mysql://{}@127.0.0.1:{}/{}", self.reader, self.port, self.name)
    }

    /// The URL for a scan, over the socket, without its password.
    pub fn url_socket(&self) -> String {
        let socket = self.socket.display().to_string().replace('/', "%2F");
        format!("mysql://{}@localhost/{}?socket={socket}", self.reader, self.name)
    }

    /// Drops the schema.
    pub fn drop_schema(self) -> Result<()> {
        Ok(connect(&self.socket, "")?.query_drop(format!("DROP DATABASE `{}`", self.name))?)
    }
}

fn connect(socket: &std::path::Path, schema: &str) -> Result<Conn> {
    let opts = OptsBuilder::new()
        .user(Some("root"))
        .socket(Some(socket.display().to_string()))
        .db_name((!schema.is_empty()).then_some(schema));
    Conn::new(opts).with_context(|| format!("the lab's database {schema}"))
}

/// A port that nobody had a moment ago.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
