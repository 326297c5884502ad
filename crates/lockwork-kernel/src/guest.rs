// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Boots the guest, follows what it does, and ends it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lockwork_report::interrupt::Interrupt;

use crate::console::Console;
use crate::outcome::{Outcome, Report};
use crate::plan::Request;
use crate::progress::Progress;
use crate::qemu::{has_kvm, Machine, Qemu};
use crate::{Accel, ModuleArgs};

/// How much longer than it was asked for a torture may take. An emulated guest on a busy
/// machine is slow to stop.
const PATIENCE: Duration = Duration::from_secs(300);
/// How soon KVM must have got the guest's kernel to speak.
const KVM_BOOTS: Duration = Duration::from_secs(30);
/// Between two looks for a Ctrl-C.
const TICK: Duration = Duration::from_millis(100);
/// How long the kernel may go on after a fault, to tell all of it.
const AFTER_SPLAT: Duration = Duration::from_secs(3);

/// What comes from the guest.
enum Said {
    /// A line of the kernel's console.
    Console(String),
    /// A line of `init.sh`.
    Result(String),
    /// A line of QEMU's standard error.
    Qemu(String),
    /// QEMU has ended.
    End,
}

/// Boots `machine` and makes the requests of `plan`.
pub(crate) fn run(
    machine: &Machine,
    args: &ModuleArgs,
    plan: &[Request],
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Report> {
    let kvm = match args.accel {
        Accel::Auto => has_kvm(),
        Accel::Kvm => true,
        Accel::Tcg => false,
    };
    let mut follower = follow(machine, args, plan, interrupt, progress, kvm)?;
    if kvm && args.accel == Accel::Auto && follower.is_mute() {
        progress.step("KVM does not boot the guest here; emulating it");
        follower = follow(machine, args, plan, interrupt, progress, false)?;
    }
    Ok(follower.report)
}

fn follow<'a>(
    machine: &Machine,
    args: &ModuleArgs,
    plan: &'a [Request],
    interrupt: &Interrupt,
    progress: &'a Progress,
    kvm: bool,
) -> Result<Follower<'a>> {
    progress.step("booting the guest");
    let (tell, said) = channel();
    let mut qemu = start(machine, kvm, tell)?;
    let boot = Duration::from_secs(args.boot_seconds.into());
    let mut follower = Follower {
        report: Report::new(machine.cpus, machine.nodes, if kvm { "kvm" } else { "tcg" }),
        plan,
        progress,
        console: Console::new(),
        qemu_said: Vec::new(),
        bye: false,
        deadline: Instant::now() + boot,
        waits_for: format!("did not boot within {} s", boot.as_secs()),
    };
    if kvm && args.accel == Accel::Auto {
        follower.deadline = Instant::now() + boot.min(KVM_BOOTS);
    }
    follower.listen(&said, interrupt);
    // Killed, so that its streams end; then what they still held counts too.
    let _ = qemu.child().kill();
    drop(qemu);
    while let Ok(said) = said.recv_timeout(TICK) {
        follower.take(said);
    }
    follower.conclude();
    Ok(follower)
}

/// QEMU, and threads that read all it says. They end with it.
fn start(machine: &Machine, kvm: bool, tell: Sender<Said>) -> Result<Qemu> {
    let room = tempfile::tempdir()?;
    let socket = room.path().join("results");
    let listener = UnixListener::bind(&socket)
        .with_context(|| format!("cannot listen at {}", socket.display()))?;
    let mut qemu = Qemu::start(machine, kvm, &socket)?;
    let (out, err) = (qemu.child().stdout.take(), qemu.child().stderr.take());
    read(out, tell.clone(), Said::Console, true);
    read(err, tell.clone(), Said::Qemu, false);
    thread::spawn(move || {
        // QEMU connects before it starts the guest; if it fails, the thread waits on
        // and goes with the process.
        if let Ok((stream, _)) = listener.accept() {
            lines(stream, &tell, Said::Result);
        }
        drop(room);
    });
    Ok(qemu)
}

fn read(
    stream: Option<impl Read + Send + 'static>,
    tell: Sender<Said>,
    kind: fn(String) -> Said,
    is_last: bool,
) {
    let Some(stream) = stream else { return };
    thread::spawn(move || {
        lines(stream, &tell, kind);
        if is_last {
            let _ = tell.send(Said::End);
        }
    });
}

/// Sends each line, without what moves a cursor.
fn lines(stream: impl Read, tell: &Sender<Said>, kind: fn(String) -> Said) {
    let mut stream = BufReader::new(stream);
    let mut bytes = Vec::new();
    while stream.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
        let line = String::from_utf8_lossy(&bytes);
        let line: String = line
            .trim_end()
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        if tell.send(kind(line)).is_err() {
            return;
        }
        bytes.clear();
    }
}

/// Makes a report of what is said.
struct Follower<'a> {
    report: Report,
    plan: &'a [Request],
    progress: &'a Progress,
    console: Console,
    qemu_said: Vec<String>,
    /// The guest said that all is done.
    bye: bool,
    deadline: Instant,
    /// What to say of the guest if the deadline passes.
    waits_for: String,
}

impl Follower<'_> {
    /// Nothing has come from the guest's kernel.
    fn is_mute(&self) -> bool {
        self.report.release.is_empty() && self.report.interrupted.is_none()
    }

    fn listen(&mut self, said: &Receiver<Said>, interrupt: &Interrupt) {
        let mut ends = None;
        loop {
            match said.recv_timeout(TICK) {
                Ok(Said::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(said) => self.take(said),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(signal) = interrupt.take() {
                self.report.interrupted = Some(signal);
                return;
            }
            if self.console.splat().is_some() && ends.is_none() {
                ends = Some(Instant::now() + AFTER_SPLAT);
            }
            if ends.is_some_and(|ends| Instant::now() > ends) {
                return;
            }
            if Instant::now() > self.deadline {
                self.report.failure = Some(format!("the guest {}", self.waits_for));
                return;
            }
        }
    }

    fn take(&mut self, said: Said) {
        match said {
            Said::Console(line) => self.console.take(line),
            Said::Qemu(line) => self.qemu_said.push(line),
            Said::Result(line) => self.result(&line),
            Said::End => {}
        }
    }

    /// "result 3 state passed", for example; see `init.sh`.
    fn result(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (number, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let numbered = number.parse::<usize>().ok();
        match (what, numbered) {
            ("booted", _) => self.report.release = number.to_owned(),
            ("bye", _) => self.bye = true,
            ("start", Some(number)) if number < self.plan.len() => self.begin(number),
            ("result", Some(_)) => {
                if let Some(outcome) = self.report.outcomes.last_mut() {
                    outcome.take(more);
                }
            }
            ("event", _) => {
                let count = more.split(' ').next().and_then(|count| count.parse().ok());
                let count = count.unwrap_or(0);
                self.report.events.insert(number.to_owned(), count);
            }
            ("refused", Some(_)) => {
                let why = format!("the module refused '{more}'");
                self.report.failure.get_or_insert(why);
                if let Some(outcome) = self.report.outcomes.last_mut() {
                    outcome.refuse();
                }
            }
            ("refused", None) => {
                let why = format!("the guest's kernel refused the module: {more}");
                self.report.failure.get_or_insert(why);
            }
            _ => {}
        }
    }

    fn begin(&mut self, number: usize) {
        let request = &self.plan[number];
        let count = self.plan.len();
        self.progress.step(&format!(
            "torture {} of {count}: {}",
            number + 1,
            request.name
        ));
        self.report.outcomes.push(Outcome::new(request));
        self.deadline = Instant::now() + Duration::from_secs(request.seconds.into()) + PATIENCE;
        self.waits_for = format!("did not end the torture of {}", request.name);
    }

    /// What the end means.
    fn conclude(&mut self) {
        if self.report.interrupted.is_some() {
            return;
        }
        if let Some(splat) = self.console.splat() {
            self.report.failure = Some(format!("the guest's kernel reported a fault: {splat}"));
        } else if !self.bye && self.report.failure.is_none() {
            let said = self.qemu_said.join("; ");
            self.report.failure = Some(match said.is_empty() {
                true => "the guest ended too early".to_owned(),
                false => format!("qemu-system-x86_64 failed: {said}"),
            });
        }
        if self.report.failure.is_some() {
            self.report.console = self.console.last();
        }
    }
}
