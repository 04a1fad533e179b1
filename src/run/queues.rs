//! `volrecon jobs`: the queues, from the database alone.

use super::deadline::{Timed, Watch};
use super::look::assemble;
use super::{judge, options, words};
use crate::classify::{Class, QueuedJob, queue};
use crate::cli::{self, Cli};
use crate::config::{Config, Sources};
use crate::evidence::Scope;
use crate::exit::Exit;
use crate::gather::Reader;
use crate::model::{HostId, VmId};
use crate::render::{self, JobsDocument, Terminals, Tool, message};
use crate::sight::Sight;
use anyhow::Context;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// `volrecon jobs`.
pub(super) fn jobs(cli: &Cli, args: &cli::Jobs, terminals: &Terminals) -> anyhow::Result<Exit> {
    let mut config = Config::load(&Sources::from_process(cli.global.config.clone()))?;
    let watch = Watch::start(cli, terminals, "reading the database", || ());
    let limit = cli.global.timeout.unwrap_or(Duration::MAX);
    let mut reader = Timed::new(Reader::open_within(&config.database()?, limit)?, watch);
    let scope = reader.resolve(&words(&args.scope))?;
    if !cli.global.quiet {
        for warning in config.warnings.iter().chain(reader.warnings()) {
            let _ = message::write_warning(warning, terminals.stderr_color, &mut std::io::stderr());
        }
    }
    let document = document(&mut reader, &scope)?;
    drop(reader);
    let exit = if document.stragglers.is_empty() {
        Exit::Consistent
    } else {
        Exit::Findings
    };
    let written = render::write_jobs(
        &document,
        cli.global.output,
        &options(cli, terminals),
        &mut std::io::stdout().lock(),
    );
    render::after_writing(written, exit).context("cannot write the results to stdout")
}

fn document(reader: &mut Reader, scope: &Scope) -> anyhow::Result<JobsDocument> {
    let found = reader.queues()?;
    let read_at = found.rows.read_at;
    // Everything is judged, since a job leads from one VM to another; the scope chooses among it.
    let evidence = assemble(
        reader,
        &Scope::default(),
        Duration::ZERO,
        found.rows,
        BTreeMap::new(),
        Timestamp::now(),
    );
    let sight = Sight::new(&evidence);
    let mut jobs = queue(&sight, &found.order, read_at);
    jobs.retain(|job| is_in(scope, &sight, job));
    let told: BTreeSet<_> = jobs.iter().filter_map(|job| job.volume_id).collect();
    let mut stragglers = judge(&sight).findings;
    stragglers.retain(|finding| {
        let volume = finding.volume.as_ref().map(|v| v.id);
        finding.class == Class::PendingStraggler && volume.is_some_and(|id| told.contains(&id))
    });
    Ok(JobsDocument {
        document: "jobs",
        version: 1,
        tool: Tool::own(),
        read_at,
        scope: scope.words.clone(),
        jobs,
        stragglers,
    })
}

/// By the volume, by either VM, or by the host of either.
fn is_in(scope: &Scope, sight: &Sight<'_>, job: &QueuedJob) -> bool {
    let vms: Vec<VmId> = job.vm_id.into_iter().chain(job.claim_id).collect();
    let host = |id: &VmId| -> Option<HostId> { sight.vm(*id).and_then(|vm| vm.host.or(vm.last_host)) };
    let hosts = vms.iter().filter_map(host);
    scope.is_everything()
        || job.volume_id.is_some_and(|id| scope.volumes.contains(&id))
        || vms.iter().any(|id| scope.vms.contains(id))
        || hosts
            .into_iter()
            .any(|id| scope.hosts.contains(&id) || scope.areas.contains(&id))
}
