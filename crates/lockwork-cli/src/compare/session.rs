// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The runs of a comparison. Whatever ends it, the samples so far are kept.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use lockwork_profile::Locking;
use lockwork_report::interrupt::signal_name;
use lockwork_report::progress::{self, ProgressBar};
use lockwork_report::text::counted;
use tempfile::TempDir;

use super::arms::{Arm, Orders};
use super::behind::Mark;
use super::child::{self, End, Observed};
use super::hook::{self, Trouble};
use super::metric::{self, Metric};
use super::report::{Ended, Outcome, Sample, Step};
use super::rules::Rules;
use super::signals::Signals;
use crate::cli::Output;
use crate::elf;
use crate::environment::{self, Change};
use crate::error::{Exit, OWN_ERROR};
use crate::profile::folder;
use crate::program;
use crate::workload;

/// What is run.
pub struct Program {
    /// The file.
    pub file: PathBuf,
    /// The name it is called by, and its arguments.
    pub command: Vec<OsString>,
    /// Where its output goes.
    pub output: Output,
    /// Whether its locks may be counted, in a run that does not count.
    pub recorded: bool,
}

impl Program {
    /// The command for people and JSON.
    pub fn shown(&self) -> Vec<String> {
        let words = self.command.iter().map(|w| w.to_string_lossy());
        words
            .map(|w| w.replace("/proc/self/exe", "lockwork"))
            .collect()
    }

    /// Does it use locks at all, as far as its ELF file tells?
    pub fn warnings(&self) -> Vec<String> {
        if self.imports_locks() != Some(false) {
            return Vec::new();
        }
        let name = self.file.display();
        vec![format!(
            "neither {name} nor its libraries import lock functions; unless programs that it \
             starts do, every arm runs the same code"
        )]
    }

    /// Itself or by a library that is loaded with it; `None`: cannot tell.
    fn imports_locks(&self) -> Option<bool> {
        let (elf, _) = program::elf_behind(&self.file).ok()??;
        let linkage = elf::linkage(&elf).ok()?;
        let libraries = elf::libraries(&elf, linkage.interpreter.as_deref()?);
        let imports = |path: &PathBuf| elf::linkage(path).is_ok_and(|l| l.imports_locks);
        Some(linkage.imports_locks || libraries.iter().any(imports))
    }
}

/// Why a comparison is over.
type Over = (Ended, Option<anyhow::Error>);

/// A comparison while it runs.
pub struct Session<'a> {
    rules: &'a Rules,
    metric: &'a Metric,
    program: &'a Program,
    /// The arms; glibc is the first.
    pub arms: Vec<Arm>,
    /// Every run so far.
    pub samples: Vec<Sample>,
    /// What glibc's first warm-up run did with its locks, or why that is not known; none: it was
    /// not to be recorded.
    pub locking: Option<Result<Locking, String>>,
    signals: &'a Signals,
    bar: ProgressBar,
    slowest_baseline: Option<Duration>,
}

impl<'a> Session<'a> {
    /// Shows a progress bar, if there is a terminal.
    pub fn new(
        rules: &'a Rules,
        metric: &'a Metric,
        program: &'a Program,
        mut arms: Vec<Arm>,
        signals: &'a Signals,
    ) -> Result<Session<'a>> {
        let runtimes = program::sanitizers(&program.file);
        for arm in arms.iter_mut().filter(|arm| !arm.is_baseline()) {
            environment::put_first(&mut arm.environment, &runtimes);
        }
        let bar = match program.output {
            Output::Inherit => ProgressBar::hidden(),
            _ => progress::bar((rules.runs + rules.warmup) as usize * arms.len()),
        };
        Ok(Session {
            rules,
            metric,
            program,
            arms,
            samples: Vec::new(),
            locking: None,
            signals,
            bar,
            slowest_baseline: None,
        })
    }

    /// Runs all rounds, or as many as can be.
    pub fn run(&mut self) -> Over {
        let setup = self.hook(Step::Setup, self.rules.setup.as_deref(), "");
        let over = setup.and_then(|()| self.rounds());
        let cleaned = self.hook(Step::Cleanup, self.rules.cleanup.as_deref(), "");
        self.signals.settle();
        self.bar.finish_and_clear();
        let over = over.and(cleaned);
        over.err().unwrap_or((Ended::Completed, None))
    }

    /// Runs the command of a step, if it has one; `when` is put behind it in messages.
    fn hook(&self, what: Step, line: Option<&str>, when: &str) -> Result<(), Over> {
        let Some(line) = line else { return Ok(()) };
        let option = match what {
            Step::Setup => "--setup",
            Step::Prepare => "--prepare",
            Step::Cleanup => "--cleanup",
            Step::Run => "the run",
        };
        hook::shell(line, self.signals).map_err(|trouble| match trouble {
            Trouble::Interrupted(signal) => interrupted(signal),
            Trouble::Failed(why) => {
                let why = format!("{option} '{line}' failed{when}: {why}");
                (Ended::Failed { what, why }, None)
            }
        })
    }

    fn rounds(&mut self) -> Result<(), Over> {
        let mut orders = Orders::new(self.arms.len(), self.rules.seed);
        let (warmup, runs) = (i64::from(self.rules.warmup), i64::from(self.rules.runs));
        for round in 1 - warmup..=runs {
            if round == 1 {
                orders.restart();
            }
            let order = orders.next(self.slowest_baseline.is_none());
            for (place, arm) in order.into_iter().enumerate() {
                // A run that was paused is made again.
                while !self.arms[arm].stopped && !self.one_run(arm, round, place + 1)? {}
                self.bar.inc(1);
            }
        }
        Ok(())
    }

    /// Whether its times are right: this process was not stopped meanwhile.
    fn one_run(&mut self, arm: usize, round: i64, order: usize) -> Result<bool, Over> {
        if let Some(signal) = self.signals.interrupt.seen() {
            return Err(interrupted(signal));
        }
        let label = self.arms[arm].label().to_string();
        let progress = match round {
            1.. => format!("round {round} of {}: {label}", self.rules.runs),
            _ => format!("warm-up: {label}"),
        };
        self.bar
            .set_message(format!("{}{progress}", self.rules.label));
        let when = format!(" before a run under {label}");
        self.hook(Step::Prepare, self.rules.prepare.as_deref(), &when)?;
        let recorded = self.records(arm, round);
        let observed = match &recorded {
            Some(file) => self.recorded(arm, file.path()),
            None => self.start(arm, &self.arms[arm].environment),
        };
        let observed = observed.map_err(|error| {
            let why = format!("cannot run '{}': {error:#}", self.program.file.display());
            let exit = Exit::with(OWN_ERROR, why.clone());
            (run_failed(why), Some(exit))
        })?;
        let mut sample = sample(&observed, label, round, order);
        if observed.paused && !matches!(observed.end, End::Interrupted(_)) {
            sample.outcome = Outcome::Paused;
            self.samples.push(sample);
            return Ok(false);
        }
        if self.arms[arm].is_baseline() {
            let slowest = self.slowest_baseline.unwrap_or_default();
            self.slowest_baseline = Some(slowest.max(observed.wall));
        }
        let verdict = self.judge(arm, &observed, &mut sample);
        self.samples.push(sample);
        verdict.map(|()| true)
    }

    /// A folder for what this run does with its locks, if that is asked for: the first
    /// warm-up run of glibc is recorded, because it does not count.
    fn records(&mut self, arm: usize, round: i64) -> Option<TempDir> {
        let wanted = self.program.recorded && self.locking.is_none() && round <= 0;
        let wanted = wanted && self.arms[arm].is_baseline();
        match wanted.then(folder)? {
            Ok(folder) => Some(folder),
            Err(error) => {
                self.locking = Some(Err(format!("{error:#}")));
                None
            }
        }
    }

    fn recorded(&mut self, arm: usize, folder: &Path) -> Result<Observed> {
        let file = folder.join("locks");
        let spec = &self.arms[arm].spec;
        let environment = environment::recording(spec, &file, &self.program.file)?;
        let observed = self.start(arm, &environment)?;
        // Of a run that was cut short nothing can be said.
        if matches!(observed.end, End::Code(_)) && !observed.paused {
            lockwork_profile::note_sleeps(&file, observed.usage.ru_nvcsw as u64);
            self.locking = Some(match lockwork_profile::is_profile(&file) {
                true => lockwork_profile::locking(&file).map_err(|error| format!("{error:#}")),
                false => Err("nothing could be written there".to_owned()),
            });
        }
        Ok(observed)
    }

    fn start(&self, arm: usize, environment: &[Change]) -> Result<Observed> {
        let arm = &self.arms[arm];
        let mut command = Command::new(&self.program.file);
        command.arg0(&self.program.command[0]);
        command.args(&self.program.command[1..]);
        for (variable, value) in environment {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        let mark = Mark::put_on(&mut command);
        command.stdin(match &self.rules.stdin {
            Some(path) => File::open(path)
                .with_context(|| format!("cannot open {} for it", path.display()))?
                .into(),
            None => Stdio::null(),
        });
        let limit = self.limit(arm);
        let output = self.program.output;
        Ok(child::observe(
            &mut command,
            output,
            limit,
            self.signals,
            Some(&mark),
        )?)
    }

    /// How long a run of `arm` may take.
    fn limit(&self, arm: &Arm) -> Option<Duration> {
        let slowest = self.slowest_baseline.filter(|_| !arm.is_baseline());
        let limit = slowest
            .map(|slowest| slowest.mul_f64(self.rules.timeout_factor) + Duration::from_secs(1));
        [limit, self.rules.limit].into_iter().flatten().min()
    }

    /// Decides what a run counts for, and whether there is a next one.
    fn judge(&mut self, arm: usize, run: &Observed, sample: &mut Sample) -> Result<(), Over> {
        let found = self.metric.find(&run.output);
        sample.metric = found.as_ref().ok().copied().flatten();
        if self.rules.embedded {
            sample.contended = workload::contended(&run.output);
        }
        let problem = match (run.end, &found) {
            (End::Interrupted(signal), _) => {
                sample.outcome = Outcome::Interrupted;
                return Err(interrupted(signal));
            }
            (End::TimedOut, _) => {
                sample.outcome = Outcome::Stopped;
                sample.metric = None;
                self.arms[arm].limit = self.limit(&self.arms[arm]);
                self.arms[arm].stopped = true;
                return self.without_baseline(arm);
            }
            (End::Code(0), Ok(_)) => None,
            (End::Code(0), Err(why)) if run.dropped => Some(format!(
                "{why}; only the last {} MiB of it were searched",
                metric::KEEP_OUTPUT >> 20
            )),
            (End::Code(0), Err(why)) => Some(why.clone()),
            (End::Code(code), _) => Some(format!("it ended with exit code {code}")),
            (End::Signal(signal), _) => Some(format!("it was killed by {}", signal_name(signal))),
        };
        let ignored = self.rules.ignore_failure;
        let usable =
            found.is_ok() && matches!(run.end, End::Code(code) if by_signal(code).is_none());
        sample.counted = sample.round > 0 && usable && (ignored || problem.is_none());
        let Some(problem) = problem else {
            return Ok(());
        };
        sample.outcome = Outcome::Failed;
        if ignored {
            return Ok(());
        }
        let why = self.explain(arm, sample, &problem, &run.output);
        Err((run_failed(why), None))
    }

    /// Without glibc there is nothing to compare with.
    fn without_baseline(&self, arm: usize) -> Result<(), Over> {
        if !self.arms[arm].is_baseline() {
            return Ok(());
        }
        let limit = self.rules.limit.unwrap_or_default().as_secs_f64();
        let why = format!("a run under glibc took longer than the time limit of {limit} s");
        Err((run_failed(why), None))
    }

    /// A failure in words, with what helps to tell whose fault it is.
    fn explain(&self, arm: usize, sample: &Sample, problem: &str, output: &[u8]) -> String {
        let name = self.program.shown().into_iter().next().unwrap_or_default();
        let run = match sample.round {
            1.. => format!("round {}", sample.round),
            _ => "a warm-up round".into(),
        };
        let label = self.arms[arm].label();
        let base = self.arms[0].label();
        let good = |s: &&Sample| s.arm == base && s.outcome == Outcome::Ok;
        let good = self.samples.iter().filter(good).count();
        let mut why = format!("'{name}' failed under {label} in {run}: {problem}");
        if arm != 0 && good > 0 {
            why += &format!(" (under {base} it finished {})", counted(good, "time"));
        }
        if self.program.output == Output::Pipe {
            let tail = metric::tail(output);
            why += &match tail.trim_end() {
                "" => "; it printed nothing".to_owned(),
                tail => format!("; its output ends with:\n{tail}"),
            };
        } else if self.program.output == Output::Null && !output.is_empty() {
            let tail = metric::tail(output);
            why += &format!("; its standard error ends with:\n{}", tail.trim_end());
        } else if self.program.output == Output::Null {
            why += "; --output inherit shows what it prints";
        }
        why
    }
}

fn run_failed(why: String) -> Ended {
    let what = Step::Run;
    Ended::Failed { what, why }
}

fn interrupted(signal: i32) -> Over {
    let signal = signal_name(signal);
    (Ended::Interrupted { signal }, None)
}

fn sample(run: &Observed, arm: String, round: i64, order: usize) -> Sample {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    let usage = &run.usage;
    Sample {
        arm,
        round,
        order,
        outcome: Outcome::Ok,
        counted: false,
        wall: run.wall.as_secs_f64(),
        user: seconds(usage.ru_utime),
        sys: seconds(usage.ru_stime),
        voluntary: usage.ru_nvcsw,
        involuntary: usage.ru_nivcsw,
        max_rss_kib: usage.ru_maxrss,
        behind: run.behind,
        metric: None,
        contended: None,
        exit_code: match run.end {
            End::Code(code) => Some(code),
            _ => None,
        },
        signal: match run.end {
            End::Signal(signal) => Some(signal_name(signal)),
            End::Code(code) => by_signal(code).map(signal_name),
            _ => None,
        },
    }
}

/// Shells that start the program tell by their exit code which signal ended it.
fn by_signal(code: i32) -> Option<i32> {
    (129..=128 + 31).contains(&code).then(|| code - 128)
}
