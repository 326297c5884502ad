// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork report`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, Context, Result};
use lockwork_report::{bail_usage, page, spare, text};

use crate::files::{children, header};
use crate::model::{Profile, Started};
use crate::raw::RawFile;
use crate::{callers, folded, html, json, processes, read, speedscope, summary, unseen};

/// Processes that a message names.
const NAMED: usize = 8;

/// The long help of `lockwork report`.
pub const HELP: &str = "\
Prints the report of a profile that `lockwork profile` recorded.

FILE may still be written: a report of a running program shows it up to now. The
files of child processes, FILE.PID, are read too; each process has a report of
its own, and the process whose threads waited longest comes first. Of more than four
processes a table comes before the reports, and only the four that waited longest have
a report, if they waited long.

For each of the locks that threads waited for most, the report says in one
sentence why, shows the figures behind it, and says what to try. docs/profile.md
explains each figure.

`9 threads at a time`: of the threads that had used a pthread lock or condition
variable, at most so many lived at the same time. Threads that never did are not
counted. Of acquisitions that the file had no room for only the number is known,
which a note names.";

/// Examples of `lockwork report`.
pub const AFTER_HELP: &str = "\
Exit status:
  0; or 2 for a wrong command line, 125 if FILE cannot be read or is no profile, or if
  the report cannot be written: a full disk, or a standard output that is closed.

Examples:
  lockwork report lockwork.prof
  lockwork report lockwork.prof --json | jq '.[0].locks[0].why'
  lockwork report lockwork.prof --html locks.html
  lockwork report lockwork.prof --speedscope waits.json
  lockwork report lockwork.prof --folded > waits.folded
  lockwork report lockwork.prof --calls > calls.folded";

/// Options of `lockwork report`.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The file that `lockwork profile` wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
    /// Print the stacks of waits, one a line, as tools for flame graphs read them. The
    /// number is microseconds waited.
    #[arg(long, conflicts_with = "json")]
    pub folded: bool,
    /// The same of all calls that take a lock; the number is that of the calls. For a profile that
    /// was recorded by `lockwork profile --stacks all`.
    #[arg(long, conflicts_with_all = ["json", "folded"])]
    pub calls: bool,
    /// Print which threads wait for which lock now, and each deadlock among them.
    #[arg(long, conflicts_with_all = ["json", "folded", "calls"])]
    pub deadlock: bool,
    /// Write the report as one HTML page to OUT, with a flame graph of the waits, histograms, a
    /// timeline of the hottest locks and wait-for graphs. It needs no network.
    #[arg(long, value_name = "OUT", conflicts_with_all = ["json", "folded", "calls", "deadlock"])]
    pub html: Option<PathBuf>,
    /// Write the stacks of waits to OUT as a file for speedscope (speedscope.app), weighted by
    /// the time waited.
    #[arg(long, value_name = "OUT")]
    #[arg(conflicts_with_all = ["json", "folded", "calls", "deadlock", "html"])]
    pub speedscope: Option<PathBuf>,
    /// Leave the files of child processes out.
    #[arg(long)]
    pub alone: bool,
    /// Only the process with this number.
    #[arg(long, value_name = "PID", conflicts_with = "alone")]
    pub process: Option<u64>,
}

/// Runs `lockwork report`.
pub fn report(args: &ReportArgs) -> Result<ExitCode> {
    for out in [&args.html, &args.speedscope].into_iter().flatten() {
        if out.as_os_str() == "-" {
            bail_usage!("'-' is no file: name the file that is to be written");
        }
        let read = std::iter::once(args.file.clone()).chain(children(&args.file));
        spare::inputs(out, read)?;
        page::writable(out)?;
    }
    let mut profiles = profiles(&args.file, args.alone)?;
    if let Some(pid) = args.process {
        if !profiles.iter().any(|profile| profile.pid == pid) {
            let file = text::path(&args.file);
            bail!("{file} has no process {pid}; it has {}", known(&profiles));
        }
        profiles.retain(|profile| profile.pid == pid);
    }
    if let Some(page) = &args.html {
        page::write(page, &html::render(&profiles))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(out) = &args.speedscope {
        page::write(out, &format!("{}\n", speedscope::render(&profiles)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if args.json {
        let all: Vec<_> = profiles.iter().map(json::process).collect();
        let text = serde_json::to_string_pretty(&all).context("cannot write JSON")?;
        text + "\n"
    } else if args.folded {
        profiles.iter().map(folded::render).collect()
    } else if args.calls {
        calls(&args.file, &profiles)?
    } else if args.deadlock {
        profiles.iter().map(crate::deadlock::render).collect()
    } else {
        render(&profiles, text::stdout_columns())
    };
    text::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The numbers of these processes, each once: one that executed another program has two files.
fn known(profiles: &[Profile]) -> String {
    let mut seen = HashSet::new();
    let all = profiles.iter().map(|profile| profile.pid);
    let all: Vec<String> = all
        .filter(|pid| seen.insert(*pid))
        .map(|pid| pid.to_string())
        .collect();
    let named = all.iter().take(NAMED).map(String::as_str);
    let named: Vec<&str> = named.collect();
    match all.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn calls(file: &Path, profiles: &[Profile]) -> Result<String> {
    if !profiles.iter().any(|profile| profile.all_stacks) {
        bail!(
            "{} has the stacks of waits only: record it with lockwork profile --stacks all",
            text::path(file)
        );
    }
    for missing in profiles.iter().filter_map(callers::missing) {
        text::complain(&format!("lockwork: {missing}\n"));
    }
    Ok(profiles.iter().map(folded::render_calls).collect())
}

/// The report on the processes that `file` and its children's files are of.
///
/// `width`: columns of the terminal, if it is one.
///
/// # Errors
/// `file` cannot be read or is no profile.
pub fn text(file: &Path, width: Option<usize>) -> Result<String> {
    Ok(render(&profiles(file, false)?, width))
}

/// What was recorded into `file` and its children's files; the process that waited longest
/// comes first.
pub fn profiles(file: &Path, alone: bool) -> Result<Vec<Profile>> {
    let children = children(file);
    let all = std::iter::once(file).chain(children.iter().map(PathBuf::as_path));
    let heads: Vec<RawFile> = all.filter_map(header).collect();
    let first = read::profile(file, &heads)?;
    let started = Started {
        command: first.command.clone(),
        fate: first.fate,
    };
    let mut all = vec![first];
    if !alone {
        for child in children {
            match read::profile(&child, &heads) {
                Ok(mut profile) => {
                    profile.started = Some(started.clone());
                    all.push(profile);
                }
                Err(error) => text::complain(&format!("lockwork: {error:#}\n")),
            }
        }
    }
    all.sort_by_cached_key(|profile| u64::MAX - processes::waited(profile));
    Ok(all)
}

fn render(profiles: &[Profile], width: Option<usize>) -> String {
    let (used, idle): (Vec<_>, Vec<_>) = profiles.iter().partition(|profile| {
        let counted = profile.sum().count > 0 || profile.dropped > 0;
        let says_something = counted || !profile.warnings.is_empty();
        says_something || !profile.waiters.is_empty() || profiles.len() == 1
    });
    let in_full = processes::in_full(&used);
    let mut parts: Vec<String> = in_full.iter().map(|p| summary::render(p, width)).collect();
    if in_full.len() < used.len() {
        parts.insert(0, processes::table(&used, width));
    }
    let mut text = parts.join("\n");
    if !idle.is_empty() {
        let idle = text::counted(idle.len(), "other process");
        let idle = idle.replace("processs", "processes");
        text += &format!("\n{idle} locked nothing that is seen.\n");
    }
    // The others' reports say it themselves.
    let in_full: Vec<u64> = in_full.iter().map(|profile| profile.pid).collect();
    let untold = profiles.iter().filter(|p| !in_full.contains(&p.pid));
    for told in untold.filter_map(unseen::unrecorded) {
        text += &format!("\nnote: {told}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_two_files_is_named_once() {
        let of = |pids: &[u64]| {
            let profile = |pid: &u64| Profile {
                pid: *pid,
                ..Profile::default()
            };
            let all: Vec<Profile> = pids.iter().map(profile).collect();
            known(&all)
        };
        assert_eq!(of(&[7155, 7155]), "7155");
        assert_eq!(of(&[7155, 8, 7155]), "7155, 8");
        let many = [1, 2, 3, 4, 5, 6, 7, 8, 8, 9];
        assert_eq!(of(&many), "1, 2, 3, 4, 5, 6, 7, 8 and 1 more");
    }
}
