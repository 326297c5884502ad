// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Workers at work: some children at once, each watched for its end, its
//! silence, and its death. A thread of the kit's pool listens to each; what is
//! here is about processes.
use super::listen::Said;
use super::printer::Printer;
use super::worker::{Answer, Request};
use crate::cpu_time::cpu_time;
use crate::{Fault, Kind, Outcome};
use anyhow::{Context, Result};
use libc::{SIGBUS, SIGFPE, SIGILL, SIGSEGV};
use lockwork_report::child::die_with_us;
use lockwork_report::interrupt::{signal_name, Interrupt};
use lockwork_report::pool;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A worker ends by itself when it has used its CPU time. After this much more it has hung.
const GRACE: Duration = Duration::from_secs(10);
/// One that uses no more CPU time has hung after so many times its limit, in real time: there may
/// be other work on the machine.
const PATIENCE: u32 = 10;
/// Variables that make the checkers do less than they are asked to.
const FOREIGN: [&str; 2] = ["LOOM_", "SHUTTLE_"];

/// Children, at most a number of them at once.
pub(crate) struct Pool {
    program: Vec<OsString>,
    grace: Duration,
    interrupt: Interrupt,
    workers: Vec<Worker>,
    /// Each hears one worker to its end.
    listeners: pool::Pool<(usize, Said)>,
}

struct Worker {
    id: usize,
    label: String,
    child: Child,
    started: Instant,
    /// Of CPU time.
    limit: Duration,
    /// CPU time that it had used when that was last seen to grow, and when that was.
    used: Duration,
    grew: Instant,
    late: bool,
    /// So far, by its own report.
    executions: Arc<AtomicU64>,
}

impl Pool {
    /// Up to `jobs` children, each of them `program`.
    pub fn new(program: Vec<OsString>, jobs: usize) -> Result<Self> {
        Ok(Pool {
            program,
            grace: GRACE,
            interrupt: Interrupt::listen().context("cannot listen for signals")?,
            workers: Vec::new(),
            listeners: pool::Pool::new(jobs),
        })
    }

    /// This program as a worker, wherever its file has gone since it started.
    pub fn own_program() -> Vec<OsString> {
        vec!["/proc/self/exe".into(), "check-worker".into()]
    }

    /// Whether another one may start now.
    pub fn has_room(&self) -> bool {
        self.listeners.has_room()
    }

    /// Whether nobody works.
    pub fn is_idle(&self) -> bool {
        self.listeners.is_idle()
    }

    /// Starts a run. `id` is told again when it ends.
    pub fn start(&mut self, id: usize, request: &Request) -> Result<()> {
        let mut child = self.spawn(request).context("cannot start a worker")?;
        let out = child.stdout.take().context("a worker has no output")?;
        let err = child.stderr.take().context("a worker has no errors")?;
        let executions = Arc::new(AtomicU64::new(0));
        let reported = Arc::clone(&executions);
        let limit = Duration::from_secs(request.task.seconds.into()) + self.grace;
        self.workers.push(Worker {
            id,
            label: format!("{}/{}", request.lock, request.client),
            child,
            started: Instant::now(),
            limit,
            used: Duration::ZERO,
            grew: Instant::now(),
            late: false,
            executions,
        });
        self.listeners.start(move || {
            let report = |executions| reported.store(executions, Ordering::Relaxed);
            (id, Said::all(out, err, report))
        })
    }

    /// The request is written before the child is there to read it: a child
    /// that dies early cannot break the pipe.
    fn spawn(&self, request: &Request) -> std::io::Result<Child> {
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.write_all(&serde_json::to_vec(request)?)?;
        drop(ours);
        let mut command = Command::new(&self.program[0]);
        command
            .args(&self.program[1..])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if FOREIGN
                .iter()
                .any(|prefix| name.to_string_lossy().starts_with(prefix))
            {
                command.env_remove(name);
            }
        }
        // Nobody would want the result any more.
        die_with_us(&mut command);
        command.spawn()
    }

    /// Waits until a run ends: which, and what it came to.
    pub fn wait(&mut self, printer: &Printer) -> Result<(usize, Answer)> {
        loop {
            if let Some((id, said)) = self.listeners.wait(&self.interrupt)? {
                let at = self.workers.iter().position(|worker| worker.id == id);
                let worker = self.workers.remove(at.context("an unknown worker ended")?);
                let answer = worker.end(said)?;
                // Ctrl-C is for the whole group: the worker died of it.
                self.interrupt.poll()?;
                return Ok((id, answer));
            }
            self.stop_late();
            let workers = self.workers.iter();
            printer.at_work(workers.map(|worker| (worker.label.as_str(), worker.executions())));
        }
    }

    fn stop_late(&mut self) {
        for worker in &mut self.workers {
            if worker.is_late() {
                worker.late = true;
                let _ = worker.child.kill();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.child.kill();
            let _ = worker.child.wait();
        }
    }
}

impl Worker {
    /// Its output is closed, so it is gone, or will be in a moment.
    fn end(mut self, said: Said) -> Result<Answer> {
        let status = self.child.wait().context("cannot wait for a worker")?;
        if self.late {
            let time = self.started.elapsed();
            let text = format!("it hung, and was stopped after {} s", time.as_secs());
            return Ok(self.no_answer(Kind::Timeout, text));
        }
        match said.answer {
            Some(answer) if status.success() => Ok(answer),
            _ => {
                let (kind, text) = death(status, &said.noise);
                Ok(self.no_answer(kind, text))
            }
        }
    }

    fn is_late(&mut self) -> bool {
        let used = cpu_time(self.child.id()).unwrap_or_default();
        if used > self.used {
            (self.used, self.grew) = (used, Instant::now());
        }
        used > self.limit || self.grew.elapsed() > self.limit * PATIENCE
    }

    fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    fn no_answer(&self, kind: Kind, text: String) -> Answer {
        let fault = Fault {
            kind,
            text,
            thread: 0,
            trace: Vec::new(),
        };
        Answer {
            outcome: Outcome {
                executions: self.executions(),
                pruned: 0,
                words: 0,
                seconds: self.started.elapsed().as_secs_f64(),
                cut: false,
                fault: Some(fault),
                reached: Vec::new(),
            },
            left_out: 0,
        }
    }
}

/// A crash is a verdict. A worker that somebody killed, or that gave up, says
/// nothing about the lock.
fn death(status: ExitStatus, noise: &str) -> (Kind, String) {
    let mut text = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the worker was killed by {}", signal_name(signal)),
        (_, Some(0)) => "the worker ended without a verdict".to_owned(),
        (_, code) => format!("the worker failed with code {}", code.unwrap_or(-1)),
    };
    if !noise.is_empty() {
        text += &format!(": {noise}");
    }
    let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE];
    match status.signal() {
        Some(signal) if crashes.contains(&signal) => (Kind::Crash, text),
        _ => (Kind::Checker, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::samples;
    use crate::command::worker::Message;

    /// What becomes of a worker that is this shell script.
    fn answer(script: &str, grace: Duration) -> Answer {
        let program = ["sh", "-c", script].map(OsString::from);
        let mut pool = Pool::new(program.to_vec(), 1).expect("a pool");
        pool.grace = grace;
        pool.start(7, &samples::request(0)).expect("a worker");
        assert!(!pool.has_room());
        let (id, answer) = pool.wait(&Printer::silent()).expect("an answer");
        assert_eq!(id, 7);
        assert!(pool.is_idle());
        answer
    }

    fn verdict(script: &str) -> (Option<Kind>, String) {
        let answer = answer(script, GRACE);
        let text = answer
            .outcome
            .fault
            .as_ref()
            .map(|fault| fault.text.clone());
        (answer.kind(), text.unwrap_or_default())
    }

    #[test]
    fn an_outcome_is_taken_as_it_is() {
        let outcome = serde_json::to_string(&Message::Outcome(Box::new(Answer {
            outcome: samples::passed(1234),
            left_out: 0,
        })));
        let outcome = outcome.expect("JSON");
        let script = format!("cat >/dev/null; echo '{{\"executions\":5}}'; echo '{outcome}'");
        let answer = answer(&script, GRACE);
        assert_eq!((answer.outcome.executions, answer.kind()), (1234, None));
    }

    #[test]
    fn a_crash_is_a_fault_of_the_lock() {
        let (kind, text) = verdict("kill -SEGV $$");
        assert_eq!(kind, Some(Kind::Crash));
        assert!(text.contains("SIGSEGV"), "{text}");
    }

    #[test]
    fn a_worker_that_gave_up_proves_nothing() {
        let (kind, text) = verdict("kill -KILL $$");
        assert_eq!(kind, Some(Kind::Checker), "{text}");
        let (kind, text) = verdict("echo 'out of luck' >&2; exit 3");
        assert_eq!(kind, Some(Kind::Checker));
        assert!(
            text.contains("code 3") && text.contains("out of luck"),
            "{text}"
        );
        let (kind, text) = verdict("exit 0");
        assert_eq!(kind, Some(Kind::Checker), "{text}");
        let (kind, text) = verdict("echo nonsense");
        assert_eq!(kind, Some(Kind::Checker));
        assert!(text.contains("nonsense"), "{text}");
    }

    #[test]
    fn a_worker_that_hangs_is_stopped() {
        for script in ["exec sleep 1000", "while :; do :; done"] {
            let answer = answer(script, Duration::from_millis(20));
            assert_eq!(answer.kind(), Some(Kind::Timeout), "{script}");
        }
    }
}
