//! Signals end a scan at once, as a shell expects, and leave nothing that could be taken for a result.

use crate::stage::Stage;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A scan that waits for a silent host.
fn hanging() -> (Stage, TcpListener) {
    let mut stage = Stage::with_orphan();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    stage.add_host(
        4,
        &format!("qemu+tcp://127.0.0.1:{}/system", tcp.local_addr().unwrap().port()),
    );
    (stage, tcp)
}

#[test]
fn interrupted_and_terminated() {
    let (stage, tcp) = hanging();
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let mut child = stage.start(&["-o", "json"]);
        // The silent host has been reached: the scan is in its midst.
        let _host = tcp.accept().unwrap();
        let since = Instant::now();
        assert!(
            Command::new("kill")
                .args([signal, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let status = child.wait().unwrap();
        assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());
        assert!(
            status.signal() == Some(number) || status.code() == Some(128 + number),
            "{status}"
        );
        let mut stdout = String::new();
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        assert_eq!(stdout, "", "no half document");
    }
}

#[test]
fn a_shell_sees_130_and_143() {
    let (stage, tcp) = hanging();
    for (signal, code) in [("INT", "130"), ("TERM", "143")] {
        let script = "\"$0\" scan --config \"$1\" -o json >out 2>err & pid=$!; read -r _; kill -$2 $pid; wait $pid; echo $?";
        // An interactive shell leaves SIGINT to its children; a script's background child would ignore it.
        let script = format!("set -m; {script}");
        let mut shell = Command::new("env")
            .args([
                "--default-signal=INT",
                "bash",
                "-c",
                &script,
                env!("CARGO_BIN_EXE_volrecon"),
            ])
            .arg(stage.config())
            .arg(signal)
            .current_dir(stage.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let _host = tcp.accept().unwrap();
        drop(shell.stdin.take());
        let mut told = String::new();
        shell.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        shell.wait().unwrap();
        assert_eq!(told.trim(), code);
        assert_eq!(std::fs::read_to_string(stage.path("out")).unwrap(), "");
    }
}
