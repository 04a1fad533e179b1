//! What cannot be read is named, with what would cure it, and no secret is told.

use crate::lab::maria::{Db, PASSWORD, Shape};
use crate::stage::{schema, settings};
use mysql::prelude::Queryable;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use volrecon::evidence::Scope;
use volrecon::gather::{DatabaseSettings, Reader, Secret};

/// Message with its causes, and the hint.
fn told(settings: &DatabaseSettings) -> (String, String) {
    let error = Reader::open(settings)
        .and_then(|mut reader| reader.rows(&Scope::default()).map(drop))
        .unwrap_err();
    let hint = error.hint().unwrap_or_default();
    let text = format!("{:#}", anyhow::Error::from(error));
    for secret in [PASSWORD, "not-it"] {
        assert!(!text.contains(secret) && !hint.contains(secret), "{text} {hint}");
    }
    (text, hint)
}

fn grant(db: &Db, user: &str) -> String {
    format!("GRANT SELECT ON `{}`.* TO '{user}'@'%'", db.name)
}

#[test]
fn a_missing_table_is_named_with_the_grant() {
    let db = schema(Shape::V4_22);
    let rename = |from: &str, to: &str| {
        let sql = format!("RENAME TABLE `{from}` TO `{to}`");
        db.root().unwrap().query_drop(sql).unwrap();
    };
    for table in [
        "volumes",
        "vm_instance",
        "host",
        "cluster",
        "data_center",
        "storage_pool",
        "storage_pool_host_ref",
        "async_job",
        "vm_work_job",
        "sync_queue_item",
        "snapshots",
        "vm_snapshots",
    ] {
        rename(table, "elsewhere");
        let (text, hint) = told(&settings(&db));
        let wanted = format!(
            "the schema {:?} has no table {table}, or {:?} may not read it",
            db.name, db.reader
        );
        assert_eq!(text, wanted);
        assert!(hint.contains(&grant(&db, &db.reader)), "{hint}");
        rename("elsewhere", table);
    }
}

#[test]
fn a_schema_that_is_another_ones_is_asked_about() {
    let db = schema(Shape::V4_22);
    let mut root = db.root().unwrap();
    let tables: Vec<String> = root.query("SHOW TABLES").unwrap();
    root.query_drop("SET FOREIGN_KEY_CHECKS = 0").unwrap();
    for table in tables {
        root.query_drop(format!("DROP TABLE `{table}`")).unwrap();
    }
    root.query_drop("CREATE TABLE cloud_usage (id INT)").unwrap();
    let (text, hint) = told(&settings(&db));
    assert!(text.contains("has no table volumes"), "{text}");
    assert!(
        hint.starts_with(&format!(
            "{:?} shows none of CloudStack's tables: is it the `cloud` schema? Name CloudStack's in [database] url",
            db.name
        )),
        "{hint}"
    );
    assert!(hint.contains(&grant(&db, &db.reader)), "{hint}");
}

#[test]
fn tables_that_some_releases_lack_may_be_missing() {
    let db = schema(Shape::V4_22);
    for table in ["reconcile_commands", "vm_instance_details", "mshost", "version"] {
        let sql = format!("DROP TABLE `{table}`");
        db.root().unwrap().query_drop(sql).unwrap();
    }
    let mut reader = Reader::open(&settings(&db)).unwrap();
    assert!(reader.rows(&Scope::default()).is_ok());
    assert_eq!(reader.cloudstack(), None);
    assert!(
        reader.warnings()[0].contains("CloudStack unknown"),
        "{:?}",
        reader.warnings()
    );
}

#[test]
fn a_missing_column_is_named() {
    let db = schema(Shape::V4_22);
    let sql = "ALTER TABLE volumes DROP COLUMN device_id";
    db.root().unwrap().query_drop(sql).unwrap();
    let (text, hint) = told(&settings(&db));
    assert_eq!(
        text,
        format!(
            "the table volumes has no column device_id, or {:?} may not read it",
            db.reader
        )
    );
    assert!(hint.contains(&grant(&db, &db.reader)), "{hint}");
}

/// An account of its own with what is granted; `{db}` is the schema.
fn account(db: &Db, grants: &[&str]) -> DatabaseSettings {
    let user = format!("u_{}", db.name);
    let mut root = db.root().unwrap();
    for host in ["127.0.0.1", "localhost"] {
        let sql = format!("CREATE OR REPLACE USER '{user}'@'{host}' IDENTIFIED BY '{PASSWORD}'");
        root.query_drop(sql).unwrap();
        for grant in grants {
            let sql = format!("GRANT {} TO '{user}'@'{host}'", grant.replace("{db}", &db.name));
            root.query_drop(sql).unwrap();
        }
    }
    DatabaseSettings { user, ..settings(db) }
}

#[test]
fn a_privilege_on_one_table_or_column_is_not_enough_and_the_first_that_lacks_is_named() {
    let db = schema(Shape::V4_22);
    let (text, hint) = told(&account(&db, &["SELECT ON `{db}`.volumes"]));
    let user = format!("u_{}", db.name);
    assert_eq!(
        text,
        format!(
            "the schema {:?} has no table vm_instance, or {user:?} may not read it",
            db.name
        )
    );
    assert!(hint.contains(&grant(&db, &user)), "{hint}");
    let columns = "SELECT (id, uuid, name) ON `{db}`.volumes";
    let (text, _) = told(&account(&db, &[columns]));
    assert_eq!(
        text,
        format!("the table volumes has no column path, or {user:?} may not read it")
    );
}

#[test]
fn no_privilege_on_the_schema_prints_the_grant() {
    let db = schema(Shape::V4_22);
    let other = schema(Shape::V4_22);
    let settings = DatabaseSettings {
        schema: db.name.clone(),
        ..account(&other, &["SELECT ON `{db}`.*"])
    };
    let (text, hint) = told(&settings);
    assert!(
        text.contains("Access denied") && text.contains(&db.name),
        "{text}"
    );
    assert!(hint.contains(&grant(&db, &settings.user)), "{hint}");
    // A misspelt schema looks the same to an account that may not see all of them.
    let (_, hint) = told(&DatabaseSettings {
        schema: "clod".to_owned(),
        ..settings
    });
    assert!(
        hint.starts_with("is \"clod\" CloudStack's schema? It is usually `cloud`"),
        "{hint}"
    );
}

#[test]
fn privileges_by_the_table_are_enough() {
    let db = schema(Shape::V4_22);
    let tables: Vec<String> = db.root().unwrap().query("SHOW TABLES").unwrap();
    let grants: Vec<String> = tables
        .iter()
        .map(|t| format!("SELECT ON `{{db}}`.`{t}`"))
        .collect();
    let grants: Vec<&str> = grants.iter().map(String::as_str).collect();
    let mut reader = Reader::open(&account(&db, &grants)).unwrap();
    assert!(reader.rows(&Scope::default()).is_ok());
}

#[test]
fn a_wrong_password_a_wrong_schema_and_nobody_there() {
    let db = schema(Shape::V4_22);
    let wrong = DatabaseSettings {
        password: Some(Secret::new("not-it")),
        ..settings(&db)
    };
    let (text, hint) = told(&wrong);
    assert!(
        text.contains(&format!("127.0.0.1:{}", db.port)) && text.contains("Access denied"),
        "{text}"
    );
    assert!(
        hint.contains(&db.reader) && hint.contains("password_file"),
        "{hint}"
    );
    assert!(!format!("{wrong:?}").contains("not-it"));

    let root = DatabaseSettings {
        user: "root".to_owned(),
        password: None,
        ..settings(&db)
    };
    let (text, hint) = told(&DatabaseSettings {
        schema: "no such".to_owned(),
        ..root
    });
    assert!(text.contains("Unknown database"), "{text}");
    assert!(hint.contains("no schema \"no such\""), "{hint}");

    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (text, hint) = told(&DatabaseSettings {
        port,
        ..settings(&db)
    });
    assert!(
        text.contains(&format!(
            "cannot connect to the database at 127.0.0.1:{port} as {:?}",
            db.reader
        )),
        "{text}"
    );
    assert!(hint.contains("is a server listening"), "{hint}");

    let socket = Some("/nowhere/s.sock".into());
    let (text, hint) = told(&DatabaseSettings {
        socket,
        ..settings(&db)
    });
    assert!(text.contains("/nowhere/s.sock"), "{text}");
    assert!(
        hint.contains("is a server listening at /nowhere/s.sock"),
        "{hint}"
    );

    let host = "no-such-host.invalid".to_owned();
    let (text, hint) = told(&DatabaseSettings {
        host,
        ..settings(&db)
    });
    assert!(text.contains("no-such-host.invalid"), "{text}");
    assert!(!hint.is_empty(), "{text}");
}

#[test]
fn a_server_that_accepts_and_is_silent_costs_the_connect_timeout() {
    let db = schema(Shape::V4_22);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect_timeout = Duration::from_secs(1);
    let since = Instant::now();
    let (text, hint) = told(&DatabaseSettings {
        port,
        connect_timeout,
        ..settings(&db)
    });
    assert!(
        since.elapsed() < Duration::from_secs(3),
        "{:?} {text}",
        since.elapsed()
    );
    assert!(hint.contains("is a server listening"), "{text} {hint}");
}

#[test]
fn the_socket_works_as_well() {
    let db = schema(Shape::V4_22);
    let socket = Some(db.socket.clone());
    let mut reader = Reader::open(&DatabaseSettings {
        socket,
        ..settings(&db)
    })
    .unwrap();
    assert!(reader.rows(&Scope::default()).is_ok());
}
