// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork check`.
use crate::client::{Bound, MAX_THREADS};
use crate::{clients, logic_mutants, rival_mutants, rivals, subjects};
use crate::{Client, LogicMutant, RIVAL_SOURCES, SOURCES};
use std::fmt;
use std::path::PathBuf;

/// No exploration needs more acquisitions.
const MAX_ACQUISITIONS: u32 = 99;
/// No exploration needs more preemptions.
const MAX_PREEMPTIONS: u32 = 99;
/// No exploration has to last longer than a month.
const MAX_SECONDS: i64 = 31 * 86_400;

/// Options of `lockwork check`.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckArgs {
    /// The locks to check [default: all locks of the catalogue].
    #[arg(value_name = "LOCK")]
    pub locks: Vec<String>,
    /// Check the rivals instead: the published locks that `lockwork sim` compares
    /// with. LOCK then names one of these.
    #[arg(long)]
    pub rivals: bool,
    /// The bound: T threads, A acquisitions by each, and P preemptions in total.
    /// Without @P, or with @none, preemptions are not bounded. A client whose threads
    /// differ keeps its T [default: each client's own bound]
    #[arg(long, value_name = "TxA[@P]", value_parser = bound)]
    pub bound: Option<Bound>,
    /// Run only the clients of this name (repeatable); see --list.
    #[arg(long = "client", value_name = "NAME")]
    pub clients: Vec<String>,
    /// Also run each mutant (one ordering weakened, or one step of logic broken) and
    /// print which client detects it: the kill table.
    #[arg(long)]
    pub mutants: bool,
    /// Run only the mutants of this tag, as in `[tas.B]` (repeatable). Implies
    /// --mutants.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// FILE names the client that killed each mutant the last time; that client tries
    /// first. FILE is written anew at the end. Implies --mutants.
    #[arg(long, value_name = "FILE")]
    pub killers: Option<PathBuf>,
    /// Print interleavings in full, not only their last steps. With mutants, also
    /// print the interleaving that killed each.
    #[arg(long)]
    pub trace: bool,
    /// Number of fuzzer schedules for each client: N random ones and N by PCT; 0
    /// turns the fuzzer off.
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub fuzz: u64,
    /// Seed of the fuzzer.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Runs at the same time [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Seconds of CPU time after which a run fails [default: each client's own limit].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=MAX_SECONDS))]
    pub timeout: Option<u32>,
    /// Explore one step beyond each client's bound: one more preemption, or one
    /// more acquisition where preemptions are not bounded. The time limit is 20
    /// times as long.
    #[arg(long, conflicts_with = "bound")]
    pub deep: bool,
    /// Explore one preemption less than each client's bound, and at most two where
    /// preemptions are not bounded.
    #[arg(long, conflicts_with_all = ["bound", "deep"])]
    pub shallow: bool,
    /// Explore a client with more than N executions within its bound again, with one
    /// preemption less and to the end. Mutants meet the client at its bound.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub at_most: Option<u64>,
    /// Print JSON: one line for each run and each mutant.
    #[arg(long, conflicts_with_all = ["list", "pairs"])]
    pub json: bool,
    /// List the clients, their bounds and the mutants. Nothing runs.
    #[arg(long)]
    pub list: bool,
    /// Check only the tags, of the locks and of the user world: every ordering must
    /// have a tag, and every tag its partners. DIR is a source tree, whose tables of
    /// tags are checked too. Without DIR, the sources that are built in are checked.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["locks", "rivals", "clients", "mutants", "killers", "tags", "list"])]
    pub pairs: Option<Option<PathBuf>>,
}

impl CheckArgs {
    /// The clients that LOCK may name.
    pub(crate) fn all_clients(&self) -> Vec<Client> {
        match self.rivals {
            true => rivals(),
            false => clients(),
        }
    }

    /// The locks, in the order of their list.
    pub(crate) fn all_locks(&self) -> Vec<&'static str> {
        if !self.rivals {
            return subjects();
        }
        let mut names: Vec<&str> = rivals().iter().map(|client| client.lock()).collect();
        names.dedup();
        names
    }

    /// The text of their files.
    pub(crate) fn sources(&self) -> &'static [(&'static str, &'static str)] {
        match self.rivals {
            true => RIVAL_SOURCES,
            false => SOURCES,
        }
    }

    /// The mistakes in logic that their clients' files name.
    pub(crate) fn all_mistakes(&self) -> Vec<LogicMutant> {
        match self.rivals {
            true => rival_mutants(),
            false => logic_mutants(),
        }
    }

    /// Whether mutants are wanted.
    pub(crate) fn wants_mutants(&self) -> bool {
        self.mutants || self.killers.is_some() || !self.tags.is_empty()
    }
}

/// As in `--bound`.
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}x{}", self.threads, self.acquisitions);
        if let Some(preemptions) = self.preemptions {
            text += &format!("@{preemptions}");
        }
        f.pad(&text)
    }
}

/// Reads what `Display` writes, and `2x2@none`.
fn bound(text: &str) -> Result<Bound, String> {
    let shape = "write THREADSxACQUISITIONS@PREEMPTIONS, as 3x2@2, 2x2 or 2x2@none";
    let (sizes, preemptions) = match text.split_once('@') {
        Some((sizes, preemptions)) => (sizes, preemptions),
        None => (text, "none"),
    };
    let (threads, acquisitions) = sizes.split_once('x').ok_or(shape)?;
    let number = |text: &str, name: &str, least: u32, most: u32| {
        let number = text.parse::<u32>().map_err(|_| shape.to_owned())?;
        match (least..=most).contains(&number) {
            true => Ok(number),
            false => Err(format!("{name} must be {least} to {most}")),
        }
    };
    Ok(Bound {
        threads: number(threads, "threads", 1, MAX_THREADS)?,
        acquisitions: number(acquisitions, "acquisitions", 1, MAX_ACQUISITIONS)?,
        preemptions: match preemptions {
            "none" => None,
            some => Some(number(some, "preemptions", 0, MAX_PREEMPTIONS)?),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_they_are_written() {
        for text in ["3x2@2", "1x1@0", "5x99@99", "2x2"] {
            assert_eq!(bound(text).map(|bound| bound.to_string()), Ok(text.into()));
        }
        assert_eq!(bound("2x2@none"), bound("2x2"));
        assert_eq!(
            format!("[{:<7}]", bound("3x2@2").expect("a bound")),
            "[3x2@2  ]"
        );
    }

    #[test]
    fn wrong_bounds_are_refused_with_what_to_write() {
        for text in [
            "", "x", "3", "3x", "x2", "3x2@", "3x2@x", "3x2x2", "-1x2", "3 x2",
        ] {
            let error = bound(text).expect_err(text);
            assert!(error.contains("3x2@2"), "{text}: {error}");
        }
        for text in ["0x1", "9x1", "1x0", "1x100", "1x1@100"] {
            let error = bound(text).expect_err(text);
            assert!(error.contains(" must be "), "{text}: {error}");
        }
    }
}
