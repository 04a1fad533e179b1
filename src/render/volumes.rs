//! `--all`: rows beside disks, healthy ones too.

use super::Options;
use super::document::Pair;
use super::text::{visible, wrap};
use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use std::io::{self, Write};

/// Columns of a uuid.
const UUID: usize = 36;
/// From here on every witness has a column of its own.
const WIDE: usize = 160;

pub(super) fn write(pairs: &[Pair], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let wide = options.width >= WIDE;
    // Two columns stand between two cells.
    let rest = options.width.saturating_sub(UUID + 17 + 4);
    let widths = if wide {
        // Names and places are long, claims short.
        let part = (rest - 19) / 20;
        vec![UUID, part * 7, part * 4, part * 9, 17, 11]
    } else {
        vec![UUID, rest, 17]
    };
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if options.headers {
        table.set_header(if wide {
            vec!["VOLUME", "NAME", "DATABASE", "LIBVIRT", "VERDICT", "FINDING"]
        } else {
            vec!["VOLUME", "DATABASE / LIBVIRT", "VERDICT"]
        });
    }
    for pair in pairs {
        table.add_row(Row::from(cells(pair, wide, &widths)));
    }
    let last = widths.len() - 1;
    for (column, (at, width)) in table.column_iter_mut().zip(widths.iter().enumerate()) {
        column.set_padding((0, if at == last { 0 } else { 2 }));
        let width = u16::try_from(*width + if at == last { 0 } else { 2 }).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out)
}

fn cells(pair: &Pair, wide: bool, widths: &[usize]) -> Vec<String> {
    let Pair {
        uuid,
        name,
        state,
        claim_vm,
        claim_device_id,
        holders,
        verdict,
        finding,
    } = pair;
    let uuid = uuid.as_deref().unwrap_or("(no uuid)").to_owned();
    let name = name.as_deref().unwrap_or("").to_owned();
    let claim = match (claim_vm, claim_device_id) {
        (Some(vm), Some(id)) => format!("{vm}/{id}"),
        (Some(vm), None) => format!("{vm}/-"),
        (None, _) if state == "Ready" => "-".to_owned(),
        (None, _) => state.clone(),
    };
    let finding = finding.as_deref().unwrap_or("").to_owned();
    let disks = if holders.is_empty() {
        vec!["-".to_owned()]
    } else {
        holders.clone()
    };
    let texts = if wide {
        vec![
            vec![uuid],
            vec![name],
            vec![claim],
            disks,
            vec![verdict.clone()],
            vec![finding],
        ]
    } else {
        let mut witnesses = vec![claim];
        witnesses.extend(disks);
        vec![vec![uuid, name], witnesses, vec![verdict.clone(), finding]]
    };
    texts
        .iter()
        .zip(widths)
        .map(|(lines, width)| folded(lines, *width))
        .collect()
}

/// Lines that fit; a place breaks after a slash rather than inside a name.
fn folded(lines: &[String], width: usize) -> String {
    let mut out = Vec::new();
    for line in lines.iter().filter(|l| !l.is_empty()) {
        let line = visible(line);
        if super::text::width(&line) <= width {
            out.push(line.into_owned());
            continue;
        }
        let parts: String = line.replace('/', "/ ");
        out.extend(wrap(&parts, width).into_iter().map(|l| l.replace("/ ", "/")));
    }
    out.join("\n")
}
