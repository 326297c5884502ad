// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A machine's file as text, in the order of those that are shipped.

use std::fmt::{Display, Write};

use super::file::{File, Home, Numa, Topology};

/// The text of `file`, with `notes` as comments on top.
pub(super) fn text(file: &File, notes: &[String]) -> String {
    let mut out = String::new();
    for note in notes {
        let _ = writeln!(out, "# {note}");
    }
    let _ = writeln!(
        out,
        "\n[machine]\nsummary = {}\nsource = {}",
        quoted(&file.machine.summary),
        quoted(&file.machine.source)
    );
    topology(&mut out, &file.topology);
    if let Some(matrix) = &file.matrix {
        let _ = writeln!(
            out,
            "\n[matrix]\nfile = {}\nsource = {}",
            quoted(matrix.file.get_ref()),
            quoted(&matrix.source)
        );
    }
    let mut current = String::new();
    for entry in file.entries() {
        let (section, field) = entry.path.rsplit_once('.').unwrap_or(("", &entry.path));
        if section != current {
            let _ = writeln!(out, "\n[{section}]");
            beside_numbers(&mut out, file, section);
            current = section.to_owned();
        }
        let _ = writeln!(
            out,
            "{field} = {{ {} = {}, source = {} }}",
            entry.unit,
            entry.value,
            quoted(entry.source)
        );
    }
    out
}

/// The fields of a section that are no numbers.
fn beside_numbers(out: &mut String, file: &File, section: &str) {
    if section == "line" {
        let home = match file.line.home {
            Home::Snoop => "snoop",
            Home::Directory => "directory",
        };
        let _ = writeln!(out, "home = \"{home}\"");
    } else if section == "hypervisor" {
        let _ = writeln!(out, "directed_yield = {}", file.hypervisor.directed_yield);
    }
}

fn topology(out: &mut String, topology: &Topology) {
    out.push_str("\n[topology]\n");
    let mut field = |name: &str, value: &dyn Display| {
        let _ = writeln!(out, "{name} = {value}");
    };
    field("sockets", topology.sockets.get_ref());
    field("dies_per_socket", topology.dies_per_socket.get_ref());
    field("clusters_per_die", topology.clusters_per_die.get_ref());
    field("cores_per_cluster", topology.cores_per_cluster.get_ref());
    field("threads_per_core", topology.threads_per_core.get_ref());
    let numa = match topology.numa {
        Numa::Die => "\"die\"",
        Numa::Socket => "\"socket\"",
    };
    field("numa", &numa);
    if let Some(hops) = &topology.hops {
        let rows = hops
            .get_ref()
            .iter()
            .map(|row| format!("  {:?},\n", row.get_ref()));
        field("hops", &format!("[\n{}]", rows.collect::<String>()));
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
