// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A workload's file. Each number has its unit in its name, and its source
//! beside it, so that nobody takes an assumption for a measurement.

use super::model::Workload;
use super::place::{Bytes, Count, Duration, Place, Share};
use super::program_tables::{LockTable, QueueTable, ResourceTable, RoleTable};
use super::time::Time;
use anyhow::Result;
use lockwork_report::toml_fault;
use serde::Deserialize;
use toml::Spanned;

/// The most threads that a file or a command may ask for.
pub(crate) const MOST_THREADS: usize = 16_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    summary: String,
    locks: Spanned<Vec<String>>,
    threads: Spanned<Vec<usize>>,
    affinity: bool,
    preemptible: bool,
    #[serde(default)]
    fitted_to: Vec<String>,
    think: Option<Spanned<Duration>>,
    sleep: Option<Spanned<Duration>>,
    section: Option<Spanned<Duration>>,
    read_section: Option<Spanned<Duration>>,
    lines: Option<Spanned<Count>>,
    #[serde(default)]
    embedded: Option<Spanned<bool>>,
    reads: Option<Spanned<Share>>,
    long_hold: Option<Spanned<LongHold>>,
    short_hold: Option<Spanned<LongHold>>,
    entries: Option<Spanned<Bytes>>,
    loops: Option<Spanned<Count>>,
    warmup: Spanned<Duration>,
    measure: Spanned<Duration>,
    #[serde(default)]
    pub(super) lock: Vec<Spanned<LockTable>>,
    #[serde(default)]
    pub(super) queue: Vec<Spanned<QueueTable>>,
    #[serde(default)]
    pub(super) resource: Vec<Spanned<ResourceTable>>,
    #[serde(default)]
    pub(super) role: Vec<Spanned<RoleTable>>,
}

/// One in `one_in` sections, times the threads there are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongHold {
    one_in: f64,
    ns: Option<f64>,
    us: Option<f64>,
    pub(super) source: String,
}

/// Reads the workload `name` from `text`, which was found at `path`.
///
/// # Errors
/// What is wrong, and in which line.
pub(super) fn parse(path: &str, name: &str, text: &str) -> Result<Workload> {
    let place = Place { path, text };
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            return match error.message().strip_prefix("missing field ") {
                Some(field) => place.missing(span, field.trim_matches('`')),
                None => {
                    let page = "docs/sim.md, Workloads,";
                    place.wrong(span, &toml_fault::told(error.message(), page))
                }
            };
        }
    };
    place.workload(name, &file)
}

impl Place<'_> {
    fn workload(&self, name: &str, file: &File) -> Result<Workload> {
        let program = self.program(file)?;
        if program.is_some() {
            self.nothing_of_one_lock(file)?;
        }
        let nothing = || Time::Fixed(0.0);
        let needed = |what: &str, field: &Option<Spanned<Duration>>| match (field, &program) {
            (Some(field), _) => self.time(what, field),
            (None, Some(_)) => Ok(nothing()),
            (None, None) => self.missing(0..0, what),
        };
        let section = needed("section", &file.section)?;
        let read_section = self.maybe_time("read_section", &file.read_section)?;
        Ok(Workload {
            name: name.to_owned(),
            summary: file.summary.clone(),
            locks: self.locks(&file.locks)?,
            think: needed("think", &file.think)?,
            sleep: self.maybe_time("sleep", &file.sleep)?,
            read_section: read_section.unwrap_or_else(|| section.clone()),
            section,
            lines: self.number("lines", &file.lines, 0, 0..=4096)? as u32,
            embedded: self.embedded(file)?,
            reads: match &file.reads {
                Some(reads) => self.share("reads", reads)?,
                None => 0.0,
            },
            long_hold: self.hold("long_hold", &file.long_hold)?,
            short_hold: self.hold("short_hold", &file.short_hold)?,
            entry_bytes: self.entries(&file.entries)?,
            affinity: file.affinity,
            preemptible: file.preemptible,
            loops: self.loops(&file.loops)?,
            warmup_us: self.time("warmup", &file.warmup)?.mean() / 1e3,
            measure_us: self.measure(&file.measure)?,
            threads: self.threads(&file.threads)?,
            fitted_to: file.fitted_to.clone(),
            program,
        })
    }

    fn measure(&self, field: &Spanned<Duration>) -> Result<f64> {
        let us = self.time("measure", field)?.mean() / 1e3;
        if us == 0.0 {
            return self.wrong(field.span(), "measure must be longer than nothing");
        }
        Ok(us)
    }

    fn locks(&self, field: &Spanned<Vec<String>>) -> Result<Vec<String>> {
        let locks = field.get_ref();
        if locks.is_empty() {
            return self.wrong(field.span(), "locks must name at least one lock");
        }
        Ok(locks.clone())
    }

    fn threads(&self, field: &Spanned<Vec<usize>>) -> Result<Vec<usize>> {
        let threads = field.get_ref();
        let possible = |n: &usize| (1..=MOST_THREADS).contains(n);
        if threads.is_empty() || !threads.iter().all(possible) {
            let reason = format!("threads must be numbers from 1 to {MOST_THREADS}");
            return self.wrong(field.span(), &reason);
        }
        Ok(threads.clone())
    }

    fn loops(&self, field: &Option<Spanned<Count>>) -> Result<Option<u64>> {
        let count = |field| self.count("loops", field, 1..=1_000_000_000);
        field.as_ref().map(count).transpose()
    }

    /// Fields of a workload with one lock have no place beside roles.
    fn nothing_of_one_lock(&self, file: &File) -> Result<()> {
        let fields = [
            ("think", file.think.as_ref().map(Spanned::span)),
            ("sleep", file.sleep.as_ref().map(Spanned::span)),
            ("section", file.section.as_ref().map(Spanned::span)),
            (
                "read_section",
                file.read_section.as_ref().map(Spanned::span),
            ),
            ("lines", file.lines.as_ref().map(Spanned::span)),
            ("embedded", file.embedded.as_ref().map(Spanned::span)),
            ("reads", file.reads.as_ref().map(Spanned::span)),
            ("long_hold", file.long_hold.as_ref().map(Spanned::span)),
            ("short_hold", file.short_hold.as_ref().map(Spanned::span)),
            ("entries", file.entries.as_ref().map(Spanned::span)),
            ("loops", file.loops.as_ref().map(Spanned::span)),
        ];
        for (name, span) in fields {
            if let Some(span) = span {
                let reason = format!("{name} is of a workload with one lock, and this has roles");
                return self.wrong(span, &reason);
            }
        }
        Ok(())
    }

    fn hold(&self, what: &str, field: &Option<Spanned<LongHold>>) -> Result<Option<(f64, f64)>> {
        let Some(field) = field else { return Ok(None) };
        let hold = field.get_ref();
        self.sourced(what, field.span(), &hold.source)?;
        if !(1.0..=1e12).contains(&hold.one_in) {
            let reason = format!("{what}.one_in must be 1 or more, not {}", hold.one_in);
            return self.wrong(field.span(), &reason);
        }
        let ns = self.ns(what, field.span(), hold.ns, hold.us)?;
        Ok(Some((hold.one_in, ns)))
    }

    fn embedded(&self, file: &File) -> Result<bool> {
        match &file.embedded {
            Some(field) if *field.get_ref() && file.lines.is_none() => self.wrong(
                field.span(),
                "embedded: the lock lies in a line of its data; say how many `lines` these are",
            ),
            Some(field) => Ok(*field.get_ref()),
            None => Ok(false),
        }
    }

    fn entries(&self, field: &Option<Spanned<Bytes>>) -> Result<u32> {
        let Some(field) = field else { return Ok(0) };
        self.sourced("entries", field.span(), &field.get_ref().source)?;
        match field.get_ref().bytes {
            bytes @ 8..=4096 if bytes % 8 == 0 => Ok(bytes as u32),
            bytes => {
                let reason = format!("entries must be 8 to 4096 bytes, by eights, not {bytes}");
                self.wrong(field.span(), &reason)
            }
        }
    }
}
