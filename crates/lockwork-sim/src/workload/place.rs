// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The numbers of a workload's file: each with its unit, its source, and what it may be.

use super::histogram::Histogram;
use super::time::Time;
use anyhow::{bail, Result};
use serde::Deserialize;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;

/// The longest time that makes sense, ns: ten simulated seconds.
const LONGEST: f64 = 1e10;
/// `{ ns = 50, distribution = "exponential", source = "assumed" }`, or with `"histogram"`
/// and `classes = [[32, 64, 900], [64, 128, 100]]`, where the mean may be left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Duration {
    ns: Option<f64>,
    us: Option<f64>,
    #[serde(default)]
    distribution: Distribution,
    /// From, to and how many: ns.
    classes: Option<Vec<(f64, f64, u64)>>,
    pub(super) source: String,
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
pub(super) struct Count {
    pub(super) count: u64,
    pub(super) source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bytes {
    pub(super) bytes: u64,
    pub(super) source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Share {
    pub(super) share: f64,
    pub(super) source: String,
}

/// A file's text, to say where in it something is wrong.
pub(super) struct Place<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl Place<'_> {
    /// An error at a place of the file.
    pub(super) fn wrong<T>(&self, span: Range<usize>, reason: &str) -> Result<T> {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        bail!("{}:{line}: {reason}", self.path)
    }

    /// An error: the table at `span` lacks a field.
    pub(super) fn missing<T>(&self, span: Range<usize>, field: &str) -> Result<T> {
        let table = match self.table(&span) {
            Some(table) => format!("in {table}; add it"),
            None => "of the whole workload; add it above the first table".to_owned(),
        };
        let reason = format!(
            "missing field `{field}` {table} (docs/sim.md, Workloads, describes each field)"
        );
        self.wrong(span, &reason)
    }

    /// The table that begins there, as its file names it: "[[role]]", "`lines` of [[lock]]";
    /// none: it is the file itself.
    fn table(&self, span: &Range<usize>) -> Option<String> {
        let (before, at) = self.text.split_at_checked(span.start)?;
        if span.start == 0 {
            return None;
        }
        let is_inline = at.starts_with('{');
        let line_end = at.find('\n').unwrap_or(at.len());
        let until = if is_inline {
            before.len()
        } else {
            before.len() + line_end
        };
        let lines = self.text[..until].lines().rev();
        let header = lines.map(str::trim).find(|line| {
            let name = line.trim_start_matches('[');
            name.len() < line.len() && name.starts_with(char::is_alphabetic)
        });
        let header = header.and_then(|line| {
            line.split_inclusive(']').next().map(|first| {
                let end = if line.starts_with("[[") { "]" } else { "" };
                format!("{first}{end}")
            })
        });
        if !is_inline {
            return header;
        }
        let key = before.trim_end().strip_suffix('=').map(str::trim_end);
        let key = key.and_then(|text| {
            text.rsplit(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        });
        let key = key.map_or("a table in braces".to_owned(), |key| format!("`{key}`"));
        Some(match header {
            Some(header) => format!("{key} of {header}"),
            None => key,
        })
    }

    pub(super) fn sourced(&self, what: &str, span: Range<usize>, source: &str) -> Result<()> {
        if source.trim().is_empty() {
            return self.wrong(
                span,
                &format!("{what} has no source; say where the number is from, or \"assumed\""),
            );
        }
        Ok(())
    }

    /// The one of `ns` and `us` that is there, in ns.
    pub(super) fn ns(
        &self,
        what: &str,
        at: Range<usize>,
        ns: Option<f64>,
        us: Option<f64>,
    ) -> Result<f64> {
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

    pub(super) fn time(&self, what: &str, field: &Spanned<Duration>) -> Result<Time> {
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
        if (time.ns, time.us) == (None, None) {
            return Ok(Time::Histogram(times));
        }
        let mean = self.ns(what, field.span(), time.ns, time.us)?;
        if times.mean() == 0.0 && mean > 0.0 {
            let reason = format!(
                "{what}.classes are all 0, and no factor makes their mean {mean} ns: give longer \
                 classes, or no ns and no us"
            );
            return self.wrong(field.span(), &reason);
        }
        Ok(Time::Histogram(times.with_mean(mean)))
    }

    pub(super) fn maybe_time(
        &self,
        what: &str,
        field: &Option<Spanned<Duration>>,
    ) -> Result<Option<Time>> {
        field.as_ref().map(|f| self.time(what, f)).transpose()
    }

    /// A number with its source, that must be one of `possible`.
    pub(super) fn count(
        &self,
        what: &str,
        field: &Spanned<Count>,
        possible: RangeInclusive<u64>,
    ) -> Result<u64> {
        self.sourced(what, field.span(), &field.get_ref().source)?;
        let count = field.get_ref().count;
        if !possible.contains(&count) {
            let (least, most) = (possible.start(), possible.end());
            let reason = format!("{what} must be {least} to {most}, not {count}");
            return self.wrong(field.span(), &reason);
        }
        Ok(count)
    }

    /// The same; without the field, `usual`.
    pub(super) fn number(
        &self,
        what: &str,
        field: &Option<Spanned<Count>>,
        usual: u64,
        possible: RangeInclusive<u64>,
    ) -> Result<u64> {
        let count = |field| self.count(what, field, possible);
        field.as_ref().map_or(Ok(usual), count)
    }

    /// A share with its source.
    pub(super) fn share(&self, what: &str, field: &Spanned<Share>) -> Result<f64> {
        self.sourced(what, field.span(), &field.get_ref().source)?;
        let share = field.get_ref().share;
        if !(0.0..=1.0).contains(&share) {
            let reason = format!("{what} must be a share from 0 to 1, not {share}");
            return self.wrong(field.span(), &reason);
        }
        Ok(share)
    }
}
