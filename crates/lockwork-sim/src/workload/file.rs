// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A workload's file. Each number has its unit in its name, and its source
//! beside it, so that nobody takes an assumption for a measurement.

use super::histogram::Histogram;
use super::model::{Time, Workload};
use anyhow::{bail, Result};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// The longest time that makes sense, ns: ten simulated seconds.
const LONGEST: f64 = 1e10;
/// The most threads that a file or a command may ask for.
pub(crate) const MOST_THREADS: usize = 16_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    summary: String,
    locks: Spanned<Vec<String>>,
    threads: Spanned<Vec<usize>>,
    affinity: bool,
    preemptible: bool,
    think: Spanned<Duration>,
    sleep: Option<Spanned<Duration>>,
    section: Spanned<Duration>,
    read_section: Option<Spanned<Duration>>,
    lines: Option<Spanned<Count>>,
    reads: Option<Spanned<Share>>,
    long_hold: Option<Spanned<LongHold>>,
    short_hold: Option<Spanned<LongHold>>,
    entries: Option<Spanned<Bytes>>,
    loops: Option<Spanned<Count>>,
    warmup: Spanned<Duration>,
    measure: Spanned<Duration>,
}

/// `{ ns = 50, distribution = "exponential", source = "assumed" }`, or with `"histogram"`
/// and `classes = [[32, 64, 900], [64, 128, 100]]`, where the mean may be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Duration {
    ns: Option<f64>,
    us: Option<f64>,
    #[serde(default)]
    distribution: Distribution,
    /// From, to and how many: ns.
    classes: Option<Vec<(f64, f64, u64)>>,
    source: String,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Distribution {
    #[default]
    Fixed,
    Exponential,
    Histogram,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    count: u64,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    bytes: u64,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Share {
    share: f64,
    source: String,
}

/// One in `one_in` sections, times the threads there are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongHold {
    one_in: f64,
    ns: Option<f64>,
    us: Option<f64>,
    source: String,
}

/// A file's text, to say where in it something is wrong.
struct Place<'a> {
    path: &'a str,
    text: &'a str,
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
            let reason = error.message().trim().replace('\n', "; ");
            return place.wrong(error.span().unwrap_or(0..0), &reason);
        }
    };
    place.workload(name, &file)
}

impl Place<'_> {
    /// An error at a place of the file.
    fn wrong<T>(&self, span: Range<usize>, reason: &str) -> Result<T> {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        bail!("{}:{line}: {reason}", self.path)
    }

    fn workload(&self, name: &str, file: &File) -> Result<Workload> {
        let section = self.time("section", &file.section)?;
        let read_section = self.maybe_time("read_section", &file.read_section)?;
        Ok(Workload {
            name: name.to_owned(),
            summary: file.summary.clone(),
            locks: self.locks(&file.locks)?,
            think: self.time("think", &file.think)?,
            sleep: self.maybe_time("sleep", &file.sleep)?,
            read_section: read_section.unwrap_or_else(|| section.clone()),
            section,
            lines: self.lines(&file.lines)?,
            reads: self.reads(&file.reads)?,
            long_hold: self.hold("long_hold", &file.long_hold)?,
            short_hold: self.hold("short_hold", &file.short_hold)?,
            entry_bytes: self.entries(&file.entries)?,
            affinity: file.affinity,
            preemptible: file.preemptible,
            loops: self.loops(&file.loops)?,
            warmup_us: self.time("warmup", &file.warmup)?.mean() / 1e3,
            measure_us: self.measure(&file.measure)?,
            threads: self.threads(&file.threads)?,
        })
    }

    fn sourced(&self, what: &str, span: Range<usize>, source: &str) -> Result<()> {
        if source.trim().is_empty() {
            return self.wrong(
                span,
                &format!("{what} has no source; say where the number is from, or \"assumed\""),
            );
        }
        Ok(())
    }

    /// The one of `ns` and `us` that is there, in ns.
    fn ns(&self, what: &str, at: Range<usize>, ns: Option<f64>, us: Option<f64>) -> Result<f64> {
        let value = match (ns, us) {
            (Some(ns), None) => ns,
            (None, Some(us)) => us * 1e3,
            _ => return self.wrong(at, &format!("{what} needs a time: either ns or us")),
        };
        if !(0.0..=LONGEST).contains(&value) {
            let reason = format!("{what} must be a time from 0 to 10 s, not {value} ns");
            return self.wrong(at, &reason);
        }
        Ok(value)
    }

    fn time(&self, what: &str, field: &Spanned<Duration>) -> Result<Time> {
        let time = field.get_ref();
        self.sourced(what, field.span(), &time.source)?;
        if time.distribution == Distribution::Histogram {
            return self.histogram(what, field);
        }
        if time.classes.is_some() {
            let reason = format!("{what} has classes: its distribution must be \"histogram\"");
            return self.wrong(field.span(), &reason);
        }
        let ns = self.ns(what, field.span(), time.ns, time.us)?;
        Ok(match time.distribution {
            Distribution::Exponential => Time::Exponential(ns),
            _ => Time::Fixed(ns),
        })
    }

    fn histogram(&self, what: &str, field: &Spanned<Duration>) -> Result<Time> {
        let time = field.get_ref();
        let Some(classes) = &time.classes else {
            let reason = format!("{what} needs classes = [[from, to, count], …] for a histogram");
            return self.wrong(field.span(), &reason);
        };
        let times = match Histogram::new(classes) {
            Ok(times) => times,
            Err(reason) => return self.wrong(field.span(), &format!("{what}.classes {reason}")),
        };
        if classes.iter().any(|class| class.1 > LONGEST) {
            let reason = format!("{what}.classes must end at 10 s");
            return self.wrong(field.span(), &reason);
        }
        Ok(Time::Histogram(match (time.ns, time.us) {
            (None, None) => times,
            (ns, us) => times.with_mean(self.ns(what, field.span(), ns, us)?),
        }))
    }

    fn maybe_time(&self, what: &str, field: &Option<Spanned<Duration>>) -> Result<Option<Time>> {
        field.as_ref().map(|f| self.time(what, f)).transpose()
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

    fn lines(&self, field: &Option<Spanned<Count>>) -> Result<u32> {
        let Some(field) = field else { return Ok(0) };
        self.sourced("lines", field.span(), &field.get_ref().source)?;
        match field.get_ref().count {
            count @ 0..=4096 => Ok(count as u32),
            count => self.wrong(
                field.span(),
                &format!("lines must be 0 to 4096, not {count}"),
            ),
        }
    }

    fn loops(&self, field: &Option<Spanned<Count>>) -> Result<Option<u64>> {
        let Some(field) = field else { return Ok(None) };
        self.sourced("loops", field.span(), &field.get_ref().source)?;
        match field.get_ref().count {
            count @ 1..=1_000_000_000 => Ok(Some(count)),
            count => self.wrong(
                field.span(),
                &format!("loops must be 1 to 1000000000, not {count}"),
            ),
        }
    }

    fn reads(&self, field: &Option<Spanned<Share>>) -> Result<f64> {
        let Some(field) = field else { return Ok(0.0) };
        self.sourced("reads", field.span(), &field.get_ref().source)?;
        let share = field.get_ref().share;
        if !(0.0..=1.0).contains(&share) {
            let reason = format!("reads must be a share from 0 to 1, not {share}");
            return self.wrong(field.span(), &reason);
        }
        Ok(share)
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
