//! A made-up log of a busy management server, of any length.

use std::io::{self, Write};

/// One line of traffic; the mix of lengths is a busy server's.
fn line(out: &mut dyn Write, n: u64) -> io::Result<()> {
    let millis = n % 1000;
    let (s, m, h, d) = (
        n / 9000 % 60,
        n / 540_000 % 60,
        n / 32_400_000 % 24,
        1 + n / 777_600_000 % 28,
    );
    let stamp = format!("2026-09-{d:02} {h:02}:{m:02}:{s:02},{millis:03}");
    let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let log = (id >> 32) as u32;
    match n % 6 {
        0 => writeln!(
            out,
            "{stamp} DEBUG [c.c.a.ApiServlet] (qtp253011924-{}:[ctx-{log:08x}]) (logid:{log:08x}) ===START===  10.0.33.232 -- GET  command=listVirtualMachines&listall=true&response=json&signature={id:x}",
            n % 90
        ),
        1 => writeln!(
            out,
            "{stamp} DEBUG [o.a.c.f.j.i.AsyncJobManagerImpl] (API-Job-Executor-{}:[ctx-{log:08x}, job-{}, ctx-0b4db09d]) (logid:{log:08x}) Complete async job-{}, jobStatus: SUCCEEDED, resultCode: 0, result: org.apache.cloudstack.api.response.VolumeResponse/volume/{{\"id\":\"{id:016x}-210a-4ce2-90e9-280148c103b6\",\"name\":\"data-{n}\",\"type\":\"DATADISK\",\"size\":\"(5.00 GB) 5368709120\",\"state\":\"Ready\",\"account\":\"admin\"}}",
            n % 90,
            n / 6,
            n / 6
        ),
        2 => writeln!(
            out,
            "{stamp} DEBUG [c.c.v.VmWorkJobDispatcher] (Work-Job-Executor-{}:[ctx-{log:08x}, job-{}/job-{}]) (logid:{log:08x}) Run VM work job: com.cloud.vm.VmWorkDetachVolume for VM {}, job origin: {}",
            n % 90,
            n / 6,
            n / 6 + 1,
            n % 5000,
            n / 6
        ),
        3 => writeln!(
            out,
            "{stamp} DEBUG [c.c.a.m.AgentManagerImpl] (AgentManager-Handler-{}:[]) (logid:) SeqA 3-{n}: Processing Seq 3-{n}:  {{ Cmd , MgmtId: -1, via: 3, Ver: v1, Flags: 11, [{{\"com.cloud.agent.api.ConsoleProxyLoadReportCommand\":{{\"_proxyVmId\":\"2\",\"_loadInfo\":\"{{\n  \"connections\": []\n}}\",\"wait\":\"0\"}}}}] }}",
            n % 16
        ),
        4 => writeln!(
            out,
            "{stamp} TRACE [c.c.h.d.HostDaoImpl] (StatsCollector-{}:[ctx-{log:08x}]) (logid:{log:08x}) Found {} hosts in cluster {id:x}",
            n % 9,
            n % 300
        ),
        _ => writeln!(
            out,
            "{stamp} WARN  [c.c.s.StatsCollector] (StatsCollector-{}:[ctx-{log:08x}]) (logid:{log:08x}) Error\njava.lang.IllegalStateException: {id:x}\n\tat com.cloud.server.StatsCollector.one(StatsCollector.java:1)\n\tat com.cloud.server.StatsCollector.two(StatsCollector.java:22)\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1136)",
            n % 9
        ),
    }
}

/// Writes so many MiB of it; says how many bytes.
pub fn write(out: &mut dyn Write, mib: u64) -> io::Result<u64> {
    let mut text = Vec::new();
    let (mut written, mut n) = (0, 0);
    while written < mib << 20 {
        text.clear();
        line(&mut text, n)?;
        out.write_all(&text)?;
        (written, n) = (written + text.len() as u64, n + 1);
    }
    Ok(written)
}
