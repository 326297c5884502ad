// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Writes a series as git format-patch does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use lockwork_report::bail_usage;

use super::patch::Patch;
use super::tree::{write, Files, Tree};
use crate::work::Work;

/// In its place in the file: the first line, and what follows it.
const SUBJECT: &str = "*** SUBJECT HERE ***";
const BLURB: &str = "*** BLURB HERE ***";

/// How a series is sent.
pub(crate) struct Letter<'a> {
    /// The cover letter: its subject, a line, and what it says.
    pub(crate) text: &'a str,
    /// The folder that it is written to, with the patches.
    pub(crate) target: &'a Path,
    /// Whether each patch has the user's Signed-off-by.
    pub(crate) signoff: bool,
}

/// Writes the patches and the cover letter; the list of files.
pub(crate) fn format(
    tree: &Tree,
    patches: &[Patch],
    steps: &[Files],
    letter: &Letter<'_>,
    work: &Work,
) -> Result<String> {
    work.progress.step("writing the patches");
    let room = tempfile::tempdir()?;
    let (target, signoff) = (letter.target, letter.signoff);
    let git = Git {
        root: room.path(),
        named: identity(signoff)?,
    };
    git.run(&["init", "-q"])?;
    for files in steps {
        for path in files.keys() {
            if let Some(text) = tree.original(path)? {
                write(&room.path().join(path), &text)?;
            }
        }
    }
    let version = tree.version()?;
    git.commit(&format!("Linux {version}"), false)?;
    for (patch, files) in patches.iter().zip(steps) {
        for (path, text) in files {
            write(&room.path().join(path), text)?;
        }
        let message = format!("{}\n\n{}", patch.subject, patch.message.trim());
        git.commit(&message, signoff)?;
    }
    fs::create_dir_all(target).with_context(|| format!("cannot make {}", target.display()))?;
    let folder = target.canonicalize()?;
    let count = format!("-{}", patches.len());
    let folder = folder.to_str().context("the folder's name is not UTF-8")?;
    let list = git.run(&[
        "format-patch",
        "--rfc",
        "--zero-commit",
        "--cover-letter",
        "--stat=80",
        "-o",
        folder,
        &count,
    ])?;
    let cover = list.lines().next().context("git wrote nothing")?;
    fill(Path::new(cover), letter.text, &version)?;
    Ok(list)
}

/// Puts our words into the cover letter.
fn fill(file: &Path, letter: &str, version: &str) -> Result<()> {
    let cover = letter.replace("LINUX_VERSION", version);
    let (subject, blurb) = cover
        .split_once('\n')
        .context("the cover letter is empty")?;
    let text = fs::read_to_string(file)?;
    let text = text.replace(SUBJECT, subject).replace(BLURB, blurb.trim());
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The user's name and address in git; without them patches come from the project.
fn identity(signoff: bool) -> Result<bool> {
    let mut ask = Command::new("git");
    let named = output(ask.args(["config", "user.email"]), "git").is_ok();
    if signoff && !named {
        bail_usage!("--signoff needs your identity: git config --global user.name and user.email");
    }
    Ok(named)
}

struct Git<'a> {
    root: &'a Path,
    named: bool,
}

impl Git<'_> {
    fn run(&self, words: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.root);
        if !self.named {
            git.args([
                "-c",
                "user.name=Lockwork",
                "-c",
                "user.email=lockwork@localhost",
            ]);
        }
        git.args([
            "-c",
            "commit.gpgsign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ]);
        git.args(["-c", "format.signature=Lockwork"]);
        output(git.args(words), "git")
    }

    fn commit(&self, message: &str, signoff: bool) -> Result<()> {
        self.run(&["add", "-A"])?;
        let mut words = vec!["commit", "-q", "-m", message];
        if signoff {
            words.push("-s");
        }
        self.run(&words)?;
        Ok(())
    }
}

/// What a program prints, as text.
fn output(command: &mut Command, name: &str) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        anyhow::bail!("{name} failed ({}): {last}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::patch::{ours, Series};

    const LETTER: &str = include_str!("../../../../kernel/series/osq.txt");
    const SPINLOCKS: &str = include_str!("../../../../kernel/series/spinlock.txt");
    const ANSWERS: &str = include_str!("../../../../docs/answers.md");
    const FIDELITY: &str = include_str!("../../../../docs/fidelity.md");
    const KNOBS: &str = include_str!("../../../../platform/knobs.def");

    /// The numbers of the first line that begins so.
    fn numbers<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
        let lines = text.lines().map(str::trim_start);
        let found = lines.filter_map(|line| line.strip_prefix(start)).next();
        let found = found.unwrap_or_else(|| panic!("no line {start}"));
        found.split_whitespace().collect()
    }

    /// `lockwork reproduce --markdown` writes docs/fidelity.md; nothing writes the letter.
    #[test]
    fn the_cover_letter_has_the_figures_of_the_simulations() {
        let (_, table) = FIDELITY
            .split_once("|  | mutex\\_numa over mutex | longest wait")
            .expect("the table");
        let writers = numbers(LETTER, "writers");
        let gains = numbers(LETTER, "this series");
        let intervals = numbers(LETTER, "+-");
        let stock = numbers(LETTER, "wait, osq");
        let ours = numbers(LETTER, "wait, this");
        for (at, writers) in writers.iter().enumerate() {
            let rows = [
                format!("| {writers} writers | "),
                format!("| {writers} writer | "),
            ];
            let row = table
                .lines()
                .find_map(|line| rows.iter().find_map(|row| line.strip_prefix(row.as_str())));
            let row = row.unwrap_or_else(|| panic!("no row of {writers} writers"));
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(cells[0], gains[at], "{writers} writers");
            assert_eq!(cells[2], format!("±{}", intervals[at]), "{writers} writers");
            let waits: Vec<&str> = row
                .split(" | ")
                .filter_map(|cell| cell.split_once(" ±").map(|(wait, _)| wait))
                .collect();
            assert_eq!(waits[1], stock[at], "{writers} writers");
            assert_eq!(waits[3], ours[at], "{writers} writers");
        }
    }

    /// The first rate of a lock in the answers, two virtual CPUs on each CPU, millions a second.
    fn answered(lock: &str, section: &str) -> f64 {
        let row = format!("| 32 on 1/2 | {section} | qspinlock\\_{lock} | ");
        let cells = ANSWERS.lines().find_map(|line| line.strip_prefix(&row));
        let cells = cells.unwrap_or_else(|| panic!("no row {row}")).split(" | ");
        let rate = cells.filter_map(|cell| cell.split(" ±").next()?.parse().ok());
        rate.into_iter().next().expect("a rate")
    }

    /// `lockwork answers --write` writes docs/answers.md.
    #[test]
    fn the_letter_of_the_spinlocks_has_the_figures_of_the_answers() {
        for (row, lock) in [
            ("fair queue", "fair"),
            ("steal ", "steal"),
            ("pv ", "pv"),
            ("tas ", "tas"),
        ] {
            let shown = numbers(SPINLOCKS, row);
            for (shown, section) in shown.iter().zip(["0.1 µs", "2 µs"]) {
                let of_steal = 100.0 * answered(lock, section) / answered("steal", section);
                let shown: f64 = shown.parse().expect("a number");
                assert!((of_steal - shown).abs() < 0.6, "{row}{section}: {of_steal}");
            }
        }
    }

    #[test]
    fn each_letter_has_a_subject_and_short_lines() {
        for series in Series::ALL {
            let letter = ours(&format!("kernel/series/{}.txt", series.name())).expect("a letter");
            let (subject, text) = letter.split_once('\n').expect("two parts");
            assert!(
                !subject.is_empty() && text.contains("LINUX_VERSION"),
                "{subject}"
            );
            let long = letter.lines().find(|line| line.len() > 75);
            assert!(long.is_none(), "{}: {long:?}", series.name());
        }
    }

    #[test]
    fn the_cover_letter_says_from_when_a_queue_is_long() {
        let knob = KNOBS
            .lines()
            .find(|line| line.contains("(osq_lock_depth, "))
            .expect("the knob");
        let depth = LETTER
            .split_once("long if it has more than ")
            .and_then(|(_, rest)| rest.split_whitespace().next())
            .expect("a number");
        assert!(knob.contains(&format!(", {depth}, ")), "{knob}");
        assert!(LETTER.contains(&format!("Up to {depth} waiters:")));
    }
}
