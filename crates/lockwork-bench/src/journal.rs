// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The JSON: a line for what is measured, one for each round of each lock,
//! written as they come, and one for the end. Nothing is lost by a stop.
use crate::plan::Plan;
use crate::sample::Sample;
use crate::score::Score;
use crate::tools::Calibration;
use anyhow::{bail, Context, Result};
use lockwork_report::bail_usage;
use lockwork_report::input;
use lockwork_report::machine::Machine;
use lockwork_report::{spare, text};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The version of the JSON; changes when a field changes its meaning.
pub const SCHEMA: u32 = 1;

/// A file is searched so far for a round of an earlier run. Its first one is behind a header.
const MOST_SEARCHED: u64 = 16 << 20;

/// A lock that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockInfo {
    /// Its name in samples.
    pub name: String,
    /// Where it is from.
    pub library: String,
    /// What it is compared with: `mutex`, `spin` or `rw`.
    pub family: String,
    /// The library's version.
    pub version: String,
}

/// A lock of others that this build does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbsentInfo {
    /// Its name.
    pub name: String,
    /// What it would be compared with.
    pub family: String,
    /// Why it is not here.
    pub reason: String,
}

/// The first line; a run that was resumed has another one for each time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of this format.
    pub schema: u32,
    /// The version of lockwork.
    pub lockwork: String,
    /// Which build of it: a number of the program's file; not in files of older versions.
    #[serde(default)]
    pub build: String,
    /// Was it compiled without optimisation?
    #[serde(default)]
    pub debug: bool,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// Where it ran.
    pub machine: Machine,
    /// What is measured.
    pub plan: Plan,
    /// The locks of the plan.
    pub locks: Vec<LockInfo>,
    /// Peers that are not here.
    pub absent: Vec<AbsentInfo>,
    /// The tools, at the start.
    pub calibration: Calibration,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum Ended {
    /// All was measured.
    Completed,
    /// A lock failed.
    Failed {
        /// Which and how.
        why: String,
    },
    /// A signal came.
    Interrupted {
        /// Its number.
        signal: i32,
    },
}

/// The last line; a run that was resumed has several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct End {
    /// How it ended.
    #[serde(flatten)]
    pub ended: Ended,
    /// The tools, at the end.
    pub calibration: Calibration,
    /// How long it took, in seconds; not in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The locks under test beside the best peers; not in files of older versions. A
    /// report computes them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
enum Record {
    Header(Box<Header>),
    Sample(Box<Sample>),
    End(End),
}

/// All that a run left behind; what is printed is made of this alone.
#[derive(Clone, Debug)]
pub struct Data {
    /// What was measured, where, and by what.
    pub header: Header,
    /// The same for each time that it was resumed.
    pub resumed: Vec<Header>,
    /// Every round so far.
    pub samples: Vec<Sample>,
    /// The last end, if it got that far.
    pub end: Option<End>,
}

impl Data {
    /// The lock of that name.
    pub fn lock(&self, name: &str) -> Option<&LockInfo> {
        self.header.locks.iter().find(|lock| lock.name == name)
    }

    /// Reads what a [`Journal`] wrote. A last line that is cut short, because
    /// the machine went down in the middle of it, is left out; also returns how
    /// many bytes are whole.
    pub fn read(path: &Path) -> Result<(Data, u64)> {
        let text =
            input::written(path).with_context(|| format!("cannot read '{}'", path.display()))?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        let not_ours = |line: usize| {
            format!(
                "'{}' is not what 'lockwork bench --json' writes: line {line}",
                path.display()
            )
        };
        let mut data: Option<Data> = None;
        for (i, line) in text[..whole].lines().enumerate() {
            let record: Record = serde_json::from_str(line).with_context(|| not_ours(i + 1))?;
            match (record, &mut data) {
                (Record::Header(header), None) if header.schema == SCHEMA => {
                    data = Some(Data::new(*header));
                }
                (Record::Header(header), None) => bail!(
                    "'{}' has format {}, and this lockwork reads format {SCHEMA}",
                    path.display(),
                    header.schema
                ),
                (Record::Header(header), Some(data)) if header.plan.is_like(&data.header.plan) => {
                    data.end = None;
                    data.resumed.push(*header);
                }
                (Record::Sample(sample), Some(data)) => data.samples.push(*sample),
                (Record::End(end), Some(data)) => data.end = Some(end),
                _ => bail!(not_ours(i + 1)),
            }
        }
        let data = data.with_context(|| not_ours(1))?;
        Ok((data, whole as u64))
    }

    /// Is all of it from one machine?
    pub fn is_of_one_machine(&self) -> bool {
        self.all_have_the_same(|header| {
            let machine = &header.machine;
            (machine.cpus, &machine.model, &machine.kernel)
        })
    }

    /// Is all of it of the same software: this program, its locks and the libraries?
    pub fn is_of_one_build(&self) -> bool {
        self.all_have_the_same(|header| {
            let program = (&header.lockwork, &header.build);
            (program, &header.locks, &header.machine.glibc)
        })
    }

    fn all_have_the_same<'a, T: PartialEq>(&'a self, what: impl Fn(&'a Header) -> T) -> bool {
        let first = what(&self.header);
        self.resumed.iter().all(|header| what(header) == first)
    }

    /// The header of each time that it was begun or resumed.
    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        std::iter::once(&self.header).chain(&self.resumed)
    }

    /// Nothing measured yet.
    pub fn new(header: Header) -> Data {
        Data {
            header,
            resumed: Vec::new(),
            samples: Vec::new(),
            end: None,
        }
    }
}

/// Refuses a `path` with the rounds of an earlier run: [`Journal::open`] would empty it. `-` is
/// standard output. Whatever else is there may be overwritten.
///
/// # Errors
/// As said.
pub fn without_rounds(path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        return Ok(());
    };
    if has_rounds(path) {
        bail_usage!(
            "'{}' has the rounds of an earlier run; give --json another file, or measure what is \
             missing with --resume {}",
            path.display(),
            text::shell(&[path.display().to_string()])
        );
    }
    Ok(())
}

/// Is it a file that a [`Journal`] wrote, with a round in it? What cannot be read has none.
fn has_rounds(path: &Path) -> bool {
    // Opening a pipe would wait for a writer.
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return false;
    }
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut lines = BufReader::new(file.take(MOST_SEARCHED)).lines();
    let mut next = || -> Option<serde_json::Value> {
        let line = lines.next()?.ok()?;
        serde_json::from_str(&line).ok()
    };
    let is = |record: &serde_json::Value, kind: &str| record["record"] == kind;
    // A journal begins with a header.
    let Some(first) = next().filter(|first| is(first, "header") && first["plan"].is_object())
    else {
        return false;
    };
    std::iter::successors(Some(first), |_| next()).any(|record| is(&record, "sample"))
}

/// Where the lines go.
#[derive(Debug)]
pub enum Journal {
    /// Nowhere.
    None,
    /// Standard output.
    Stdout,
    /// A file.
    File(File, PathBuf),
}

impl Journal {
    /// Makes sure that `path` can be written, and is no program; `-` is standard output.
    pub fn open(path: Option<&Path>) -> Result<Journal> {
        match path {
            None => Ok(Journal::None),
            Some(path) if path == Path::new("-") => Ok(Journal::Stdout),
            Some(path) => {
                spare::programs(path)?;
                let file = File::create(path).with_context(|| refused(path))?;
                Ok(Journal::File(file, path.to_owned()))
            }
        }
    }

    /// Goes on after the first `whole` bytes of `path`.
    pub fn append(path: &Path, whole: u64) -> Result<Journal> {
        let open = || {
            let file = File::options().append(true).open(path)?;
            file.set_len(whole)?;
            Ok::<File, std::io::Error>(file)
        };
        let file = open().with_context(|| refused(path))?;
        Ok(Journal::File(file, path.to_owned()))
    }

    /// How a run that was interrupted goes on; none: it is nowhere.
    pub fn resumed_by(&self, plots: Option<&Path>) -> Option<String> {
        let command = |file: &str| {
            let mut words = ["lockwork", "bench", "--resume", file]
                .map(str::to_owned)
                .to_vec();
            if let Some(plots) = plots {
                words.extend(["--plots".to_owned(), plots.display().to_string()]);
            }
            text::shell(&words)
        };
        match self {
            Journal::None => None,
            Journal::Stdout => Some(
                "lockwork: interrupted; save standard output as FILE, and `lockwork bench --resume \
                 FILE` measures what is missing\n"
                    .to_owned(),
            ),
            Journal::File(_, path) => Some(format!(
                "lockwork: interrupted; this measures what is missing: {}\n",
                command(&path.display().to_string())
            )),
        }
    }

    /// Writes the first line.
    pub fn header(&mut self, header: &Header) -> Result<()> {
        self.line(&Record::Header(Box::new(header.clone())))
    }

    /// Writes one round of one lock.
    pub fn sample(&mut self, sample: &Sample) -> Result<()> {
        self.line(&Record::Sample(Box::new(sample.clone())))
    }

    /// Writes the end.
    pub fn end(&mut self, end: &End) -> Result<()> {
        self.line(&Record::End(end.clone()))
    }

    fn line(&mut self, record: &Record) -> Result<()> {
        if matches!(self, Journal::None) {
            return Ok(());
        }
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        match self {
            Journal::None => Ok(()),
            Journal::Stdout => text::print(&line),
            Journal::File(file, path) => file
                .write_all(line.as_bytes())
                .with_context(|| refused(path)),
        }
    }
}

fn refused(path: &Path) -> String {
    format!(
        "cannot write JSON to '{}'; name a file that you can write to",
        path.display()
    )
}
