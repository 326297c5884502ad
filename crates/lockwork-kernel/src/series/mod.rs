// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks as patches for the kernel, in three series: made anew from a kernel's sources, so
//! that a port to another release is another run.

mod edit;
mod git;
pub(crate) mod patch;
pub(crate) mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use lockwork_report::{bail_usage, text};

use crate::work::{self, Work};
use patch::{Patch, Series};
use tree::{Files, Tree};

/// Unpacks Debian's kernel sources: all of them, or some files.
const LINUX_SOURCE: &str = include_str!("../../../../scripts/linux-source");

/// Options of `lockwork kernel patches`.
#[derive(Debug, clap::Args)]
pub(crate) struct PatchesArgs {
    /// The folder that the patches are written to: a folder in it for each series.
    #[arg(short, long, value_name = "DIR", required_unless_present = "apply")]
    output: Option<PathBuf>,
    /// The kernel's sources, which are only read [default: what the edits need of Debian's
    /// linux-source, which is fetched].
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    /// Apply the edits to the kernel's sources in DIR, and write no patches. What they
    /// change is kept in DIR/.lockwork.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "source", "signoff"])]
    apply: Option<PathBuf>,
    /// Only this series [default: all].
    #[arg(long, value_name = "SERIES")]
    series: Option<Series>,
    /// Add the Signed-off-by line of your git identity to each patch.
    #[arg(long)]
    signoff: bool,
    /// Install missing packages without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What each of the patches makes of a tree.
pub(crate) fn steps(tree: &Tree, patches: &[Patch]) -> Result<Vec<Files>> {
    let mut all = Files::new();
    let mut steps = Vec::new();
    for patch in patches {
        let files = patch.apply(tree, &all)?;
        all.extend(files.clone());
        steps.push(files);
    }
    Ok(steps)
}

/// Gives the patches to the sources in `root`.
pub(crate) fn install(root: &Path, patches: &[Patch]) -> Result<()> {
    let mut tree = Tree::open(root)?;
    let steps = steps(&tree, patches)?;
    let all = steps.into_iter().flatten().collect();
    tree.install(&all)
}

/// How many patches there are.
pub(crate) fn count() -> usize {
    patch::patches(None).map_or(0, |patches| patches.len())
}

/// Unpacks Debian's kernel sources into `target`; `files`: only these.
pub(crate) fn unpack(target: &Path, files: &[String], work: &Work) -> Result<()> {
    let mut script = Command::new("sh");
    script
        .args(["-c", LINUX_SOURCE, "linux-source"])
        .arg(target)
        .args(files);
    work::run(&mut script, "unpacking linux-source", work)
}

/// Said before the sources are fetched: what is there, or else what it would be made in, must be
/// a folder.
fn may_be_folder(output: &Path) -> Result<()> {
    let there = output.ancestors().find(|path| path.exists());
    match there {
        Some(path) if !path.is_dir() => bail_usage!(
            "the patches cannot be written to {}, because {} is not a folder: name a folder",
            output.display(),
            path.display()
        ),
        _ => Ok(()),
    }
}

/// `lockwork kernel patches`
pub(crate) fn run(args: &PatchesArgs, work: &Work) -> Result<ExitCode> {
    let patches = patch::patches(args.series)?;
    if let Some(root) = &args.apply {
        install(root, &patches)?;
        work.progress.clear();
        text::print(&format!(
            "{} patches are in {}\n",
            patches.len(),
            root.display()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.as_deref().context("no folder is named")?;
    may_be_folder(output)?;
    let room = tempfile::tempdir()?;
    let root = match &args.source {
        Some(root) => root.clone(),
        None => {
            work.progress.step("fetching Debian's kernel sources");
            let mut files = patch::needed(&patches);
            files.push("Makefile".to_owned());
            unpack(&room.path().join("source"), &files, work)?;
            room.path().join("source")
        }
    };
    let tree = Tree::open(&root)?;
    let chosen = args.series.map_or(Series::ALL.to_vec(), |one| vec![one]);
    let mut written = String::new();
    for series in chosen {
        let patches = patch::patches(Some(series))?;
        let steps = steps(&tree, &patches)?;
        let target = output.join(series.name());
        let letter = format!("kernel/series/{}.txt", series.name());
        let of = git::Letter {
            text: &patch::ours(&letter)?,
            target: &target,
            signoff: args.signoff,
        };
        written += &git::format(&tree, &patches, &steps, &of, work)?;
    }
    work.progress.clear();
    text::print(&written)?;
    Ok(ExitCode::SUCCESS)
}
