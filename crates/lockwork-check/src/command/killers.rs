// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What killed each mutant the last time. That client tries first, so that a run of all
//! mutants takes a fraction of the time. A line that is out of date costs time only:
//! the verdict comes from the run of today.
use super::kill::{Killer, Trial, Verdict};
use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

const HEAD: &str = "\
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# Which client killed each mutant, and in how many executions. That client tries first.
# Written by: lockwork check --mutants --killers FILE
# file, mutant, change, client, executions; a tab between two
";

/// The file, and what it says.
pub(crate) struct Killers {
    path: PathBuf,
    killers: BTreeMap<String, Killer>,
    text: String,
}

impl Killers {
    /// Reads `path`. A file that is not there yet says nothing.
    ///
    /// # Errors
    /// If the file cannot be read or written, or is no such file.
    pub fn open(path: &Path) -> Result<Self> {
        let text = match lockwork_report::input::text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()))
            }
        };
        let killers =
            read(&text).with_context(|| format!("{} is no list of killers", path.display()))?;
        // Better now than after the runs.
        let options = fs::OpenOptions::new().append(true).create(true).open(path);
        options.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Killers {
            path: path.to_owned(),
            killers,
            text,
        })
    }

    /// Who killed the mutant of this key.
    pub fn of(&self, key: &str) -> Option<&Killer> {
        self.killers.get(key)
    }

    /// Leaves out mutants of `files` that are not in `known`: they are gone.
    pub fn forget_all_but(&mut self, known: &BTreeSet<&str>, files: &BTreeSet<&str>) {
        let is_of = |key: &str| {
            key.split('\t')
                .next()
                .is_some_and(|file| files.contains(file))
        };
        self.killers
            .retain(|key, _| known.contains(key.as_str()) || !is_of(key));
    }

    /// Takes in what killed `trials`, and writes the file if something has changed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(mut self, trials: &[Trial]) -> Result<()> {
        for trial in trials {
            let key = &trial.planned.key;
            match &trial.verdict {
                Some(Verdict::Killed { by, answer }) => {
                    let killer = Killer {
                        client: by.title(),
                        executions: answer.outcome.executions,
                    };
                    self.killers.insert(key.clone(), killer);
                }
                _ => drop(self.killers.remove(key)),
            }
        }
        let text = write(&self.killers);
        if text == self.text {
            return Ok(());
        }
        fs::write(&self.path, text).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn write(killers: &BTreeMap<String, Killer>) -> String {
    let mut text = HEAD.to_owned();
    for (key, Killer { client, executions }) in killers {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{key}\t{client}\t{executions}");
    }
    text
}

fn read(text: &str) -> Result<BTreeMap<String, Killer>> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [file, name, what, client, executions] = cells[..] else {
                bail!("line {} has {} cells, not 5", number + 1, cells.len());
            };
            let executions = executions
                .parse()
                .with_context(|| format!("line {}: '{executions}' is no number", number + 1))?;
            let killer = Killer {
                client: client.to_owned(),
                executions,
            };
            Ok((format!("{file}\t{name}\t{what}"), killer))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn killers() -> BTreeMap<String, Killer> {
        let killer = |client: &str, executions| Killer {
            client: client.to_owned(),
            executions,
        };
        BTreeMap::from([
            (
                "tas_lock.h\ttas.A\txchg → relaxed".to_owned(),
                killer("tas_lock/pair", 3),
            ),
            (
                "x.c\tdoes not wake\twake_value does not wake".to_owned(),
                killer("x/foreign", 70_000),
            ),
        ])
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(read(&write(&killers())).expect("a list"), killers());
        assert!(read("").expect("nothing").is_empty());
    }

    #[test]
    fn another_file_is_refused_with_the_line() {
        for (text, wanted) in [
            ("# a\nfour\tcells\tin\tit", "line 2 has 4 cells"),
            ("a\tb\tc\td\tmany", "line 1: 'many'"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn what_has_gone_goes_and_what_others_wrote_stays() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("killers");
        let all = killers();
        fs::write(&path, write(&all)).expect("written");
        let open = || Killers::open(&path).expect("killers");
        let keys: Vec<String> = all.keys().cloned().collect();
        assert_eq!(open().of(&keys[0]), all.get(&keys[0]));
        // The mutant of x.c is not known any more; tas_lock.h was not looked at.
        let files = BTreeSet::from(["x.c"]);
        let mut killers = open();
        killers.forget_all_but(&BTreeSet::new(), &files);
        killers.save(&[]).expect("saved");
        let left: Vec<String> = open().killers.into_keys().collect();
        assert_eq!(left, keys[..1]);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_refused_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("no/killers");
        let error = Killers::open(&path).map(|_| ()).expect_err("no directory");
        assert!(format!("{error:#}").contains("cannot write"), "{error:#}");
    }
}
