// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The file of a suite: which programs, how many threads, which locks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use toml::Spanned;

use super::super::metric::{self, Better, Metric};
use super::fault::Fault;
use super::placeholder;
use crate::policy::{DEFAULT, POLICIES};
use crate::spec::LockSpec;

/// Rounds that count, unless the file or the command line has another number. It is even: the
/// order of every second round is the one before it backwards.
const ROUNDS: u32 = 6;
/// Seconds that a run may take, unless the file has another number.
const TIMEOUT: f64 = 120.0;

/// The fields of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    locks: Option<Vec<Spanned<String>>>,
    rounds: Option<Spanned<u32>>,
    #[serde(default = "one")]
    warmup: u32,
    threads: Option<Spanned<Vec<u32>>>,
    program: Vec<Spanned<ProgramFields>>,
}

/// The fields of a `[[program]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramFields {
    name: Spanned<String>,
    command: Spanned<Vec<Spanned<String>>>,
    threads: Option<Spanned<Vec<u32>>>,
    metric: Option<Spanned<String>>,
    better: Option<Better>,
    package: Option<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    setup: Vec<Spanned<String>>,
    timeout: Option<Spanned<f64>>,
}

fn one() -> u32 {
    super::super::rules::WARMUP
}

/// A suite.
#[derive(Debug)]
pub struct Suite {
    /// The folder of its file.
    pub dir: PathBuf,
    /// The locks to compare with glibc.
    pub locks: Vec<String>,
    /// Rounds that count.
    pub rounds: u32,
    /// Rounds before them.
    pub warmup: u32,
    /// The programs.
    pub programs: Vec<Program>,
}

/// A program of a suite.
#[derive(Debug)]
pub struct Program {
    /// What the table calls it.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The numbers of threads to measure it with.
    pub threads: Vec<u32>,
    /// What a run is judged by.
    pub metric: Metric,
    /// The Debian package that has it.
    pub package: Option<String>,
    /// Other programs that it needs.
    pub needs: Vec<String>,
    /// What runs once before the rounds of a row; nothing if empty.
    pub setup: Vec<String>,
    /// When any run is stopped.
    pub timeout: Duration,
}

impl Suite {
    /// Reads `file`, and checks all that can be checked before the first run.
    pub fn read(file: &Path) -> Result<Suite> {
        let text = lockwork_report::input::text(file)
            .with_context(|| format!("cannot read the suite '{}'", file.display()))?;
        let dir = file.parent().unwrap_or(Path::new(""));
        let dir = std::fs::canonicalize(match dir.as_os_str().is_empty() {
            true => Path::new("."),
            false => dir,
        })?;
        suite(&text, dir).map_err(|fault| fault.tell(file, &text))
    }
}

fn suite(text: &str, dir: PathBuf) -> Result<Suite, Fault> {
    let fields: Fields = toml::from_str(text)?;
    let mut locks = Vec::new();
    for lock in fields.locks.iter().flatten() {
        validate_lock(lock)?;
        locks.push(lock.get_ref().clone());
    }
    if locks.is_empty() {
        locks.push(DEFAULT.to_owned());
    }
    let rounds = fields.rounds.as_ref().map_or(ROUNDS, |r| *r.get_ref());
    if let Some(given) = fields.rounds.filter(|r| *r.get_ref() == 0) {
        return Err(Fault::at(given.span(), "rounds must be 1 or more"));
    }
    let mut programs: Vec<Program> = Vec::new();
    for given in fields.program {
        let name = given.get_ref().name.clone();
        if name.get_ref().trim().is_empty() {
            return Err(Fault::at(name.span(), "the name is empty; give one"));
        }
        if programs.iter().any(|p| p.name == *name.get_ref()) {
            let why = format!("there are two programs '{}'; rename one", name.get_ref());
            return Err(Fault::at(name.span(), why));
        }
        programs.push(program(given, fields.threads.as_ref())?);
    }
    if programs.is_empty() {
        return Err(Fault::at(0..0, "the suite has no [[program]]; add one"));
    }
    Ok(Suite {
        dir,
        locks,
        rounds,
        warmup: fields.warmup,
        programs,
    })
}

fn program(
    given: Spanned<ProgramFields>,
    threads: Option<&Spanned<Vec<u32>>>,
) -> Result<Program, Fault> {
    let whole = given.span();
    let fields = given.into_inner();
    let all = fields.command.get_ref().iter().chain(&fields.setup);
    for word in all.clone() {
        if let Some(why) = placeholder::mistake(word.get_ref()) {
            return Err(Fault::at(word.span(), why));
        }
    }
    if fields.command.get_ref().is_empty() {
        return Err(Fault::at(fields.command.span(), "the command is empty"));
    }
    let Some(threads) = fields.threads.as_ref().or(threads) else {
        let why = "how many threads? Add threads = [2, 8] here or at the top of the file";
        return Err(Fault::at(whole, why));
    };
    validate_threads(threads)?;
    let mut words = all.map(Spanned::get_ref);
    if threads.get_ref().len() > 1 && !words.any(|word| placeholder::has_threads(word)) {
        let why = "the command has no {threads}, so that several numbers of threads would all \
                   run the same; add it, or give one number";
        return Err(Fault::at(fields.command.span(), why));
    }
    let timeout = fields.timeout.as_ref().map_or(TIMEOUT, |t| *t.get_ref());
    if !(timeout > 0.0 && timeout <= 86_400.0) {
        let span = fields.timeout.map_or(whole, |t| t.span());
        let why = "timeout must be seconds, from above 0 to 86400";
        return Err(Fault::at(span, why));
    }
    Ok(Program {
        name: fields.name.into_inner(),
        command: plain(fields.command.into_inner()),
        threads: threads.get_ref().clone(),
        metric: read_metric(fields.metric.as_ref(), fields.better)?,
        package: fields.package,
        needs: fields.needs,
        setup: plain(fields.setup),
        timeout: Duration::from_secs_f64(timeout),
    })
}

fn plain(words: Vec<Spanned<String>>) -> Vec<String> {
    words.into_iter().map(Spanned::into_inner).collect()
}

fn validate_lock(lock: &Spanned<String>) -> Result<(), Fault> {
    let name = lock.get_ref().split(':').next().unwrap_or_default().trim();
    if !POLICIES.iter().any(|p| p.name == name) {
        let names: Vec<&str> = POLICIES.iter().map(|p| p.name).collect();
        let why = format!(
            "there is no lock '{name}'; use one of: {}",
            names.join(", ")
        );
        return Err(Fault::at(lock.span(), why));
    }
    let checked = LockSpec::parse(lock.get_ref(), &[]);
    checked.map_err(|error| Fault::at(lock.span(), format!("{error:#}")))?;
    Ok(())
}

fn validate_threads(threads: &Spanned<Vec<u32>>) -> Result<(), Fault> {
    let all = threads.get_ref();
    let twice = all.iter().enumerate().any(|(i, n)| all[..i].contains(n));
    if all.is_empty() || twice || all.iter().any(|n| !(1..=10_000).contains(n)) {
        let why = "threads must be different numbers from 1 to 10000, and at least one";
        return Err(Fault::at(threads.span(), why));
    }
    Ok(())
}

fn read_metric(text: Option<&Spanned<String>>, better: Option<Better>) -> Result<Metric, Fault> {
    let pattern = match text {
        Some(text) if text.get_ref() != "wall" => {
            let pattern = metric::pattern(text.get_ref());
            Some(pattern.map_err(|why| Fault::at(text.span(), format!("metric {why}")))?)
        }
        _ => None,
    };
    let usual = match pattern {
        Some(_) => Better::Higher,
        None => Better::Lower,
    };
    Ok(Metric {
        pattern,
        better: better.unwrap_or(usual),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Suite, String> {
        let file = Path::new("x.toml");
        let read = suite(text, PathBuf::new());
        read.map_err(|fault| fault.tell(file, text).to_string())
    }

    const GOOD: &str = "rounds = 3\nthreads = [1, 2]\n[[program]]\nname = 'a'\n\
                        command = ['a', '-t{threads}']\n";

    #[test]
    fn what_is_left_out_has_a_default() {
        let suite = read(GOOD).expect("a suite");
        assert_eq!((suite.rounds, suite.warmup), (3, 1));
        assert_eq!(suite.locks, [DEFAULT]);
        let program = &suite.programs[0];
        assert_eq!(program.threads, [1, 2]);
        assert!(program.metric.pattern.is_none());
        assert_eq!(program.metric.better, Better::Lower);
        let more = format!("{GOOD}metric = 'rate: (\\d+)'\nthreads = [7]\ntimeout = 2\n");
        let suite = read(&more).expect("a suite");
        assert_eq!(suite.programs[0].metric.better, Better::Higher);
        assert_eq!(suite.programs[0].threads, [7]);
        assert_eq!(suite.programs[0].timeout, Duration::from_secs(2));
    }

    #[test]
    fn the_suites_that_ship_are_read() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/suites");
        let files = std::fs::read_dir(root).expect("suites");
        let paths = files.map(|file| file.expect("a file").path());
        let suites: Vec<PathBuf> = paths
            .filter(|p| p.extension() == Some("toml".as_ref()))
            .collect();
        assert!(!suites.is_empty());
        for path in suites {
            let suite = Suite::read(&path).expect("a suite");
            for program in &suite.programs {
                // It is in a package, or an example that the user compiles.
                let own = program.command[0].strip_prefix("./");
                let source = own.map(|name| format!("{root}/../{name}.c"));
                let compiled = source.is_some_and(|path| Path::new(&path).exists());
                assert_ne!(program.package.is_some(), compiled, "{}", program.name);
            }
        }
    }

    #[test]
    fn mistakes_are_one_sentence_with_their_line() {
        for (added, line, words) in [
            ("colour = 1\n", 6, "there is no field `colour`"),
            ("better = 'more'\n", 6, "`more` is not known here"),
            ("threads = []\n", 6, "threads must be"),
            ("threads = [2, 2]\n", 6, "threads must be"),
            ("threads = 'two'\n", 6, "give a list, as [\"two\"]"),
            ("threads = [-1]\n", 6, "give a whole number from 0 on"),
            (
                "metric = '(a'\n",
                6,
                "metric '(a' is not a regular expression: unclosed group",
            ),
            (
                "setup = [\n'x',\n'{tpm}/y']\n",
                8,
                "there is no placeholder {tpm}",
            ),
            (
                "[[program]]\nname = 'b'\ncommand = ['b',\n'{0/threads}']\n",
                9,
                "{0/threads} does not begin with a number",
            ),
            (
                "[[program]]\nname = ''\ncommand = ['b', '{threads}']\n",
                7,
                "the name is empty",
            ),
            ("metric = 'a'\n", 6, "has 0 groups and needs exactly one"),
            ("timeout = 0\n", 6, "timeout must be"),
            ("= 5\n", 6, ""),
            (
                "[[program]]\nname = 'b'\n",
                6,
                "the field `command` is missing",
            ),
            (
                "[[program]]\nname = 'a'\ncommand = ['a', '{threads}']\n",
                7,
                "there are two programs 'a'",
            ),
            (
                "[[program]]\nname = 'b'\ncommand = ['b']\n",
                8,
                "the command has no {threads}",
            ),
            (
                "[[program]]\nname = 'b'\ncommand = []\n",
                8,
                "the command is empty",
            ),
        ] {
            let error = read(&format!("{GOOD}{added}")).expect_err(added);
            let place = format!("x.toml:{line}: ");
            assert!(error.starts_with(&place), "{added}: {error}");
            assert!(error.contains(words), "{added}: {error}");
            assert_eq!(error.lines().count(), 1, "{added}: {error}");
        }
    }

    #[test]
    fn wrong_locks_and_rounds_are_found_as_well() {
        for (top, words) in [
            (
                "locks = ['mutex', 'nope']\n",
                "there is no lock 'nope'; use one of: glibc",
            ),
            (
                "locks = ['mutex:nope=1']\n",
                "there is no knob named 'nope'",
            ),
            ("locks = ['glibc:spin_budget=1']\n", "glibc has no knobs"),
        ] {
            let error = read(&format!("{top}{GOOD}")).expect_err(top);
            assert!(error.starts_with("x.toml:1: "), "{error}");
            assert!(error.contains(words), "{error}");
        }
        let none = GOOD.replace("rounds = 3", "rounds = 0");
        assert!(read(&none)
            .expect_err("none")
            .contains("x.toml:1: rounds must be 1"));
        let no_threads = GOOD.replace("threads = [1, 2]", "");
        let error = read(&no_threads).expect_err("no threads");
        assert!(error.starts_with("x.toml:3: how many threads?"), "{error}");
        assert!(read("threads = [1]\nprogram = []\n").is_err());
    }
}
