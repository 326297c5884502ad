// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the CPUs of this machine are, by what the kernel says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

/// Where one CPU is. Names are the kernel's; what it does not say is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) socket: usize,
    pub(super) die: usize,
    /// The first CPU with the same last-level cache.
    pub(super) cache: usize,
    /// The first CPU of the same core.
    pub(super) core: usize,
    pub(super) node: usize,
}

/// What the kernel says.
#[derive(Clone, Debug, Default)]
pub(super) struct Sysfs {
    pub(super) seats: BTreeMap<usize, Seat>,
    /// Distances of NUMA nodes, by node.
    pub(super) nodes: BTreeMap<usize, Vec<u32>>,
    /// Bytes of the largest cache of any CPU.
    pub(super) largest_cache: usize,
    pub(super) warnings: Vec<String>,
}

impl Sysfs {
    /// Reads it below `root`, which is `/sys` but in tests, for these CPUs.
    pub(super) fn read(root: &Path, cpus: &[usize]) -> Result<Sysfs> {
        let mut all = Sysfs::default();
        let nodes = root.join("devices/system/node");
        let by_node = node_cpus(&nodes)?;
        for &node in by_node.keys() {
            let text = line(&nodes.join(format!("node{node}/distance"))).unwrap_or_default();
            let distances = text.split_whitespace().filter_map(|d| d.parse().ok());
            all.nodes.insert(node, distances.collect());
        }
        let mut no_cache = false;
        for &cpu in cpus {
            let dir = root.join(format!("devices/system/cpu/cpu{cpu}"));
            let topology = |name: &str| line(&dir.join("topology").join(name));
            let number = |name: &str| topology(name).and_then(|text| text.parse().ok());
            let socket = number("physical_package_id").unwrap_or(0);
            let siblings = topology("core_cpus_list").or(topology("thread_siblings_list"));
            let core = first(siblings.as_deref()).unwrap_or(cpu);
            let cache = last_cache(&dir.join("cache"));
            no_cache |= cache.is_none();
            let (cache, bytes) = cache.unwrap_or((socket, 0));
            all.largest_cache = all.largest_cache.max(bytes);
            let node = by_node.iter().find(|(_, cpus)| cpus.contains(&cpu));
            all.seats.insert(
                cpu,
                Seat {
                    socket,
                    die: number("die_id").unwrap_or(0),
                    cache,
                    core,
                    node: node.map_or(0, |(&node, _)| node),
                },
            );
        }
        if no_cache {
            all.warnings.push(
                "the kernel does not say which CPUs share a last-level cache: \
                 all of a die are taken to"
                    .into(),
            );
        }
        Ok(all)
    }
}

/// One line of a small file, if it is there.
fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn first(list: Option<&str>) -> Option<usize> {
    parse_list(list?).ok()?.first().copied()
}

fn node_cpus(nodes: &Path) -> Result<BTreeMap<usize, Vec<usize>>> {
    let mut all = BTreeMap::new();
    let Ok(entries) = fs::read_dir(nodes) else {
        return Ok(all);
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix("node")?.parse().ok());
        if let Some(node) = number {
            let cpus = line(&entry.path().join("cpulist")).unwrap_or_default();
            all.insert(node, parse_list(&cpus)?);
        }
    }
    Ok(all)
}

/// The first CPU that shares the last cache for data, and its bytes.
fn last_cache(dir: &Path) -> Option<(usize, usize)> {
    let entries = fs::read_dir(dir).ok()?.flatten();
    let data = |index: PathBuf| {
        let kind = line(&index.join("type"))?;
        let level: u32 = line(&index.join("level"))?.parse().ok()?;
        let shared = first(line(&index.join("shared_cpu_list")).as_deref())?;
        let bytes = bytes(&line(&index.join("size")).unwrap_or_default());
        (kind != "Instruction").then_some((level, shared, bytes))
    };
    let last = entries.filter_map(|entry| data(entry.path())).max()?;
    Some((last.1, last.2))
}

/// `36608K` and its like; what cannot be read is 0.
fn bytes(text: &str) -> usize {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'K')) => (&text[..at], 1 << 10),
        Some((at, 'M')) => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    number.parse::<usize>().unwrap_or(0) * unit
}

/// A list of CPUs as the kernel writes it: `0-3,8`.
pub(super) fn parse_list(text: &str) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| -> Result<usize> {
            text.trim()
                .parse()
                .with_context(|| format!("'{part}' is no CPU or range of CPUs, as in 0-3,8"))
        };
        let (from, to) = (number(from)?, number(to)?);
        if from > to || to >= 1 << 20 {
            bail!("'{part}' is no range of CPUs; give the lower number first, as in 0-3,8");
        }
        all.extend(from..=to);
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}
