// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Boots the guest, follows what it does, and ends it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::Interrupt;

use crate::args::{Accel, GuestArgs};
use crate::console::Console;
use crate::outcome::{Outcome, Report};
use crate::plan::Request;
use crate::progress::Progress;
use crate::qemu::{has_kvm, Machine, Qemu};
use crate::work::Work;

/// How soon KVM must have got the guest's kernel to speak.
const KVM_BOOTS: Duration = Duration::from_secs(30);
/// How often a stock kernel that is emulated is booted if it hangs. It does, seldom, before
/// anything of ours runs in it.
const BOOTS: u32 = 3;
/// Between two looks for a Ctrl-C.
const TICK: Duration = Duration::from_millis(100);
/// How long the kernel may go on after a fault, to tell all of it.
const AFTER_SPLAT: Duration = Duration::from_secs(3);

/// How long what QEMU has written may take to be read when it has ended.
const DRAIN: Duration = Duration::from_secs(10);
/// How long the guest may take from one step to the next outside of tortures.
const STEP: Duration = Duration::from_secs(120);

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
    args: &GuestArgs,
    plan: &[Request],
    work: &Work,
) -> Result<Report> {
    let mut kvm = match args.accel {
        Accel::Auto => has_kvm(),
        Accel::Kvm => true,
        Accel::Tcg | Accel::Nested => false,
    };
    let mut follower = follow(machine, args, plan, work, kvm)?;
    if kvm && args.accel == Accel::Auto && follower.is_mute() {
        work.progress
            .step("KVM does not boot the guest here; emulating it");
        kvm = false;
        follower = follow(machine, args, plan, work, kvm)?;
    }
    // With patches in the kernel, a hang may be ours: it must be seen.
    let mut boots = 1;
    while machine.is_stock && !kvm && follower.hangs_in_boot() && boots < BOOTS {
        boots += 1;
        work.progress.note(&format!(
            "Debian's kernel {}; booting it again ({boots} of {BOOTS})",
            follower.waits_for
        ));
        follower = follow(machine, args, plan, work, kvm)?;
    }
    follower.report()
}

fn follow<'a>(
    machine: &Machine,
    args: &GuestArgs,
    plan: &'a [Request],
    work: &'a Work,
    kvm: bool,
) -> Result<Follower<'a>> {
    work.progress.step("booting the guest");
    let (tell, said) = channel();
    let room = tempfile::tempdir()?;
    let socket = room.path().join("results");
    let qemu = start(machine, kvm, &socket, tell)?;
    let (accel, boots) = match (args.accel, kvm) {
        (Accel::Nested, _) => ("nested", 2),
        (_, true) => ("kvm", 1),
        (_, false) => ("tcg", 1),
    };
    let report = Report::new(args.cpus, args.nodes, accel);
    let boot = boots * Duration::from_secs(args.boot_seconds.into());
    let mut follower = Follower::new(report, args, plan, &work.progress);
    follower.wait(boot, "did not boot");
    if kvm && args.accel == Accel::Auto {
        follower.deadline = Instant::now() + boot.min(KVM_BOOTS);
    }
    follower.listen(&said, &work.interrupt);
    // Its streams end with it; then what they still held counts too.
    drop(qemu);
    // If it never connected, somebody else must.
    drop(UnixStream::connect(&socket));
    follower.drain(&said);
    follower.conclude();
    Ok(follower)
}

/// Follows `script`, which does on this machine what it would do in a guest.
pub(crate) fn follow_here(
    mut script: Child,
    args: &GuestArgs,
    plan: &[Request],
    work: &Work,
) -> Result<Report> {
    let (tell, said) = channel();
    read(script.stderr.take(), tell.clone(), Said::Console, false);
    read(script.stdout.take(), tell, Said::Result, true);
    let mut follower = Follower::new(Report::new(0, 0, "here"), args, plan, &work.progress);
    follower.wait(STEP, "did not begin");
    follower.listen(&said, &work.interrupt);
    // Its own programs go first; then it puts the machine in order.
    // SAFETY: a group whose leader was not waited for is ours.
    unsafe { libc::kill(-(script.id() as i32), libc::SIGTERM) };
    let limit = Instant::now() + DRAIN;
    while script.try_wait()?.is_none() && Instant::now() < limit {
        thread::sleep(TICK);
    }
    let _ = script.kill();
    script.wait()?;
    follower.drain(&said);
    follower.conclude();
    Ok(follower.report)
}

/// QEMU, and threads that read all it says. They end with it.
fn start(machine: &Machine, kvm: bool, socket: &Path, tell: Sender<Said>) -> Result<Qemu> {
    let listener = UnixListener::bind(socket)
        .with_context(|| format!("cannot listen at {}", socket.display()))?;
    let mut qemu = Qemu::start(machine, kvm, socket)?;
    let (out, err) = (qemu.child().stdout.take(), qemu.child().stderr.take());
    read(out, tell.clone(), Said::Console, true);
    read(err, tell.clone(), Said::Qemu, false);
    thread::spawn(move || {
        if let Ok((stream, _)) = listener.accept() {
            lines(stream, &tell, Said::Result);
        }
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
    /// How much longer than it was asked for a torture may take.
    patience: Duration,
    plan: &'a [Request],
    progress: &'a Progress,
    console: Console,
    qemu_said: Vec<String>,
    /// The guest said that all is done.
    bye: bool,
    deadline: Instant,
    /// What to say of the guest if the deadline passes.
    waits_for: String,
    /// The deadline passed.
    is_late: bool,
}

impl<'a> Follower<'a> {
    fn new(report: Report, args: &GuestArgs, plan: &'a [Request], progress: &'a Progress) -> Self {
        Self {
            report,
            patience: Duration::from_secs(args.end_seconds.into()),
            plan,
            progress,
            console: Console::new(),
            qemu_said: Vec::new(),
            bye: false,
            deadline: Instant::now(),
            waits_for: String::new(),
            is_late: false,
        }
    }

    /// Takes what was said until the end, and has not been read yet.
    fn drain(&mut self, said: &Receiver<Said>) {
        let limit = Instant::now() + DRAIN;
        while Instant::now() < limit {
            match said.recv_timeout(TICK) {
                Ok(said) => self.take(said),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Nothing has come from the guest's kernel.
    fn is_mute(&self) -> bool {
        self.report.release.is_empty() && self.report.interrupted.is_none()
    }

    /// The kernel stopped before `init` ran, and did not say why.
    fn hangs_in_boot(&self) -> bool {
        self.is_late && self.is_mute() && self.console.splat().is_none()
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
                self.is_late = true;
                self.report.failure = Some(format!("the guest {}", self.waits_for));
                return;
            }
        }
    }

    fn take(&mut self, said: Said) {
        match said {
            Said::Console(line) => match line.strip_prefix("host: ") {
                Some(counts) => self.report.host = Some(counts.to_owned()),
                None => self.console.take(line),
            },
            Said::Qemu(line) => self.qemu_said.push(line),
            Said::Result(line) => self.result(&line),
            Said::End => {}
        }
    }

    /// "result 3 state passed", for example; see `init.sh`.
    fn result(&mut self, line: &str) {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let number = first.parse::<usize>().ok();
        // Tortures come one after the other.
        let count = self.report.outcomes.len();
        let current = number.is_some_and(|n| n + 1 == count);
        let outcome = self.report.outcomes.last_mut().filter(|_| current);
        match (what, outcome) {
            ("booted", _) => self.booted(first, more),
            ("loaded", _) => {}
            ("spinlocks", _) => self.report.spinlocks = Some(format!("{first} {more}")),
            ("start", _) if number == Some(count) => self.begin(count),
            ("result", Some(outcome)) => outcome.take(more),
            ("end", Some(_)) => self.wait(STEP, "did not go on after a torture"),
            ("refused", Some(outcome)) => {
                outcome.refuse();
                self.fail(format!("the guest's kernel refused '{more}'"));
            }
            ("refused", None) => {
                self.fail(format!(
                    "the guest's kernel refused the module {first}: {more}"
                ));
            }
            ("stuck", _) => self.fail(rest.to_owned()),
            ("event", _) => {
                let count = more.split(' ').next().and_then(|count| count.parse().ok());
                self.report
                    .events
                    .insert(first.to_owned(), count.unwrap_or(0));
            }
            ("bye", _) => {
                self.bye = true;
                self.wait(STEP, "did not power off");
            }
            _ => self.fail(format!("the guest said what was not expected: '{line}'")),
        }
    }

    /// "RELEASE CPUS NODES"
    fn booted(&mut self, release: &str, size: &str) {
        self.report.release = release.to_owned();
        let (cpus, nodes) = (self.report.cpus, self.report.nodes);
        if self.report.is_here() {
            let (cpus, nodes) = size.split_once(' ').unwrap_or((size, ""));
            self.report.cpus = cpus.parse().unwrap_or(0);
            self.report.nodes = nodes.parse().unwrap_or(0);
        } else if size != format!("{cpus} {nodes}") {
            self.fail(format!(
                "the guest has CPUs and nodes '{size}' instead of '{cpus} {nodes}'"
            ));
        }
        self.wait(STEP, "did not load the module");
    }

    fn wait(&mut self, limit: Duration, otherwise: &str) {
        self.deadline = Instant::now() + limit;
        self.waits_for = format!("{otherwise} within {} s", limit.as_secs());
    }

    /// The first failure counts.
    fn fail(&mut self, why: String) {
        self.report.failure.get_or_insert(why);
    }

    fn begin(&mut self, number: usize) {
        let count = self.plan.len();
        let Some(request) = self.plan.get(number) else {
            return self.fail(format!("the guest began torture {number}, of {count}"));
        };
        self.progress.step(&format!(
            "torture {} of {count}: {}",
            number + 1,
            request.name
        ));
        self.report.outcomes.push(Outcome::new(request));
        let limit = Duration::from_secs(u64::from(request.seconds)) + self.patience;
        let otherwise = format!("did not end the torture of {}", request.name);
        self.wait(limit, &otherwise);
    }

    /// What the end means.
    fn conclude(&mut self) {
        if self.report.interrupted.is_none() {
            if let Some(splat) = self.console.splat() {
                let why = format!("the guest's kernel reported a fault: {splat}");
                self.report.failure = Some(why);
            } else if !self.bye {
                self.fail("the guest ended too early".to_owned());
            } else if self.report.outcomes.len() != self.plan.len() {
                self.fail("the guest did not do all that it was asked to".to_owned());
            }
        }
        self.report.races_elsewhere = self.console.races_elsewhere();
        if self.report.failure.is_some() {
            self.report.console = self.console.last();
        }
        self.report.conclude();
    }

    /// The report; or what QEMU said, if it did not start.
    fn report(self) -> Result<Report> {
        if self.is_mute() && !self.qemu_said.is_empty() {
            bail!("qemu-system-x86_64 failed: {}", self.qemu_said.join("; "));
        }
        Ok(self.report)
    }
}
