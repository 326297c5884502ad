// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line of `lockwork check`.
use crate::client::{Bound, MAX_THREADS};
use std::fmt;
use std::path::PathBuf;

/// More acquisitions than anybody explores.
const MAX_ACQUISITIONS: u32 = 99;
/// More preemptions than anybody explores.
const MAX_PREEMPTIONS: u32 = 99;
/// No exploration has to last longer than a month.
const MAX_SECONDS: i64 = 31 * 86_400;

/// Options of `lockwork check`.
#[derive(Debug, Clone, clap::Args)]
pub struct CheckArgs {
    /// The locks to check; without any, all of the catalogue.
    #[arg(value_name = "LOCK")]
    pub locks: Vec<String>,
    /// How far to explore, instead of each client's own bound: threads, times
    /// that each acquires, and preemptions of all together. Without @P, or with
    /// @none, there is no bound on preemptions.
    #[arg(long, value_name = "TxA[@P]", value_parser = bound)]
    pub bound: Option<Bound>,
    /// Only the clients of this name (repeatable); see --list.
    #[arg(long = "client", value_name = "NAME")]
    pub clients: Vec<String>,
    /// Also weaken each ordering and break each step of logic, and print which
    /// client finds it: the kill table.
    #[arg(long)]
    pub mutants: bool,
    /// Only the mutants of this tag, as in `[tas.B]` (repeatable); implies
    /// --mutants.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Print interleavings in full, and not only the last steps; with mutants,
    /// also those that killed them.
    #[arg(long)]
    pub trace: bool,
    /// Schedules for each client under the fuzzer, N at random and N by PCT;
    /// 0: none.
    #[arg(long, value_name = "N", default_value_t = 300)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub fuzz: u64,
    /// Seeds the fuzzer.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Runs at once [default: the number of CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    /// Seconds after which a run has failed, instead of each client's own.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=MAX_SECONDS))]
    pub timeout: Option<u32>,
    /// For nights: explore one step deeper than each client's bound (one more
    /// preemption; where these are not bounded, one more acquisition), in 20
    /// times the time.
    #[arg(long, conflicts_with = "bound")]
    pub deep: bool,
    /// Print JSON, one line for each run and each mutant.
    #[arg(long, conflicts_with_all = ["list", "pairs"])]
    pub json: bool,
    /// List the clients, their bounds, and what mutants there are; run nothing.
    #[arg(long)]
    pub list: bool,
    /// Check only the tags: every ordering has one, and every tag its partners.
    /// DIR is a source tree, whose pages are checked as well; without it, the
    /// sources built in.
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    #[arg(conflicts_with_all = ["locks", "clients", "mutants", "tags", "list"])]
    pub pairs: Option<Option<PathBuf>>,
}

impl CheckArgs {
    /// Whether mutants are asked for.
    pub(crate) fn wants_mutants(&self) -> bool {
        self.mutants || !self.tags.is_empty()
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
