//! The server's own log of whole scans: reads, and nothing else, whatever the account could do.

use crate::lab;
use crate::stage::{Run, Stage};
use mysql::prelude::Queryable;
use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Commands of the log that belong to `user`'s connections on this schema: kind and statement.
fn statements(log: &str, user: &str, schema: &str) -> Vec<(String, String)> {
    let mut ours: BTreeMap<u64, bool> = BTreeMap::new();
    let mut out: Vec<(String, String)> = Vec::new();
    let mut mine = false;
    for line in log.lines() {
        // `[time]\t  ID Kind\tstatement`; a statement's further lines begin with anything.
        let entry = line.split_once('\t').map(|(_, rest)| rest.trim_start());
        let parsed = entry.and_then(|rest| {
            let (head, statement) = rest.split_once('\t').unwrap_or((rest, ""));
            let (id, kind) = head.split_once(' ')?;
            let kinds = [
                "Connect",
                "Query",
                "Prepare",
                "Execute",
                "Close stmt",
                "Reset stmt",
                "Quit",
                "Init DB",
                "Ping",
            ];
            let kind = kinds.into_iter().find(|k| *k == kind.trim())?;
            Some((id.parse::<u64>().ok()?, kind, statement))
        });
        let Some((id, kind, statement)) = parsed else {
            if let (true, Some(last)) = (mine, out.last_mut()) {
                last.1 += &format!("\n{line}");
            }
            continue;
        };
        if kind == "Connect" {
            ours.insert(
                id,
                statement.starts_with(&format!("{user}@")) && statement.contains(&format!(" on {schema} ")),
            );
        }
        mine = ours.get(&id).copied().unwrap_or(false);
        if mine {
            out.push((kind.to_owned(), statement.to_owned()));
        }
    }
    out
}

/// Asserts that all are reads, and gives how many there were.
#[track_caller]
fn only_reads(log: &str, user: &str, schema: &str) -> usize {
    let all = statements(log, user, schema);
    let selects = all
        .iter()
        .filter(|(_, sql)| sql.trim_start().starts_with("SELECT"))
        .count();
    assert!(selects > 3, "no scan is in this log: {log}");
    for (kind, sql) in &all {
        let fine = match kind.as_str() {
            "Connect" | "Quit" | "Close stmt" | "Reset stmt" => true,
            "Query" | "Prepare" | "Execute" => ["SELECT ", "SET ", "START TRANSACTION", "COMMIT"]
                .iter()
                .any(|word| sql.trim_start().starts_with(word)),
            _ => false,
        };
        assert!(fine, "{kind}: {sql}");
        for word in [
            "FOR UPDATE",
            "LOCK IN SHARE",
            "INTO OUTFILE",
            "INTO DUMPFILE",
            "GET_LOCK",
            "SLEEP(",
            "SET GLOBAL",
            "INSERT",
            "DELETE",
        ] {
            assert!(!sql.to_uppercase().contains(word), "{kind}: {sql}");
        }
        if sql.starts_with("START TRANSACTION") {
            assert!(sql.ends_with("READ ONLY"), "{sql}");
        }
    }
    let count = |word: &str| {
        all.iter()
            .filter(|(kind, sql)| kind == "Query" && sql.starts_with(word))
            .count()
    };
    // The next transaction's begin ends the one before.
    assert!(count("START TRANSACTION") >= count("COMMIT"));
    all.len()
}

/// Runs a scan and gives what the server wrote meanwhile.
fn logged(stage: &Stage, args: &[&str]) -> (Run, String) {
    lab::base()
        .unwrap()
        .maria
        .general_log(|| stage.scan_json(args))
        .unwrap()
}

#[test]
fn the_log_of_whole_scans_holds_only_reads() {
    let stage = Stage::with_orphan();
    let schema = stage.db().name.clone();
    let evidence = stage.path("seen.json");
    for args in [
        &[][..],
        &["--host", "kvm2"],
        &["--vm", "worker2", "--volume", "pvc-orphan"],
        &["--zone", "zone1", "--all"],
        &["--settle", "100ms"],
        &["--save", evidence.to_str().unwrap()],
    ] {
        let (run, log) = logged(&stage, args);
        run.left(1);
        only_reads(&log, &stage.db().reader, &schema);
    }
    let (run, log) = logged(&stage, &["--host", "nobody"]);
    run.left(2);
    only_reads(&log, &stage.db().reader, &schema);
}

#[test]
fn an_account_that_may_do_everything_only_reads_too() {
    let mut stage = Stage::with_orphan();
    let url = format!("mysql://root@127.0.0.1:{}/{}", stage.db().port, stage.db().name);
    stage.set_database(&url);
    let schema = stage.db().name.clone();
    let (run, log) = logged(&stage, &["--settle", "100ms"]);
    run.left(1);
    only_reads(&log, "root", &schema);
}

#[test]
fn a_scan_changes_nothing() {
    let stage = Stage::with_orphan();
    let dump = || -> Vec<(String, Vec<String>)> {
        let mut conn = stage.db().root().unwrap();
        let tables: Vec<String> = conn.query("SHOW TABLES").unwrap();
        let table = |name: String| {
            let rows: Vec<mysql::Row> = conn.query(format!("SELECT * FROM `{name}`")).unwrap();
            let rows = rows
                .into_iter()
                .map(|row| format!("{:?}", row.unwrap()))
                .collect();
            let state: String = conn
                .query_first::<(String, String), _>(format!("CHECKSUM TABLE `{name}`"))
                .unwrap()
                .unwrap()
                .1;
            (format!("{name} {state}"), rows)
        };
        tables.into_iter().map(table).collect()
    };
    let before = dump();
    assert!(before.iter().map(|(_, rows)| rows.len()).sum::<usize>() > 20);
    for args in [&[][..], &["--host", "kvm2"], &["--settle", "50ms"]] {
        stage.scan_json(args).left(1);
    }
    assert_eq!(dump(), before);
}

#[test]
fn a_whole_scan_waits_for_no_lock() {
    let mut stage = Stage::with_orphan();
    // A writer in the middle of a long transaction, as a management server may be.
    let (release, held) = channel::<()>();
    let mut writer = stage.db().root().unwrap();
    writer.query_drop("START TRANSACTION").unwrap();
    writer
        .query_drop("UPDATE volumes SET state = 'Migrating'")
        .unwrap();
    writer.query_drop("SELECT * FROM vm_instance FOR UPDATE").unwrap();
    let writing = std::thread::spawn(move || {
        let _ = held.recv_timeout(Duration::from_secs(30));
        writer.query_drop("ROLLBACK").unwrap();
    });
    let run = stage.scan_json(&[]);
    release.send(()).unwrap();
    writing.join().unwrap();
    let run = run.left(1);
    assert!(run.took < Duration::from_secs(10), "{:?}", run.took);
    assert_eq!(crate::stage::classes(&run.json()).len(), 1);
    assert_eq!(
        stage
            .cloud()
            .one::<u64>("SELECT COUNT(*) FROM volumes WHERE state = 'Ready'", ())
            .unwrap(),
        7
    );
}
