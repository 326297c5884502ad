// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One run of the program: started in its own process group, waited for with a
//! limit, and measured from outside.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockwork_report::child::die_with_us;

use super::behind::Mark;
use super::metric::KEEP_OUTPUT;
use super::signals::Signals;
use crate::cli::Output;
use crate::inherited;
use crate::pidfd::{self, poll};

/// How much of the standard error's end is kept, where that is all that is kept.
const KEEP_ERRORS: usize = 1 << 10;
/// How long an interrupted program may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal, not ours.
    Signal(i32),
    /// We stopped it, because it took too long.
    TimedOut,
    /// We stopped it, because we got this signal.
    Interrupted(i32),
}

/// What a run was seen to do.
#[derive(Debug)]
pub struct Observed {
    /// How it ended.
    pub end: End,
    /// From before it was started until it ended.
    pub wall: Duration,
    /// CPU time, context switches and memory of the program and of those of
    /// its children that were waited for.
    pub usage: libc::rusage,
    /// The end of its output, if that was piped; of its standard error, if the output went nowhere.
    pub output: Vec<u8>,
    /// There was more of it, which was not kept.
    pub dropped: bool,
    /// Processes that went on in the background when it had ended, and were ended.
    pub behind: usize,
    /// This process was stopped meanwhile, so that the times are wrong.
    pub paused: bool,
}

/// Runs `command` until it ends, `limit` passes, or a signal comes. It is stopped while this process
/// is. With a `mark` the processes are ended that go on then.
pub fn observe(
    command: &mut Command,
    output: Output,
    limit: Option<Duration>,
    signals: &Signals,
    mark: Option<&Mark>,
) -> io::Result<Observed> {
    let pipe = connect(command, output)?;
    prepare(command);
    signals.settle();
    let started = Instant::now();
    let child = command.spawn()?;
    // The command keeps the pipe's writing end open until it is dropped or
    // given other streams.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = Run {
        pid: child.id() as libc::pid_t,
        pidfd: None,
        pipe,
        output: Vec::new(),
        keep: match output {
            Output::Pipe => KEEP_OUTPUT,
            _ => KEEP_ERRORS,
        },
        dropped: false,
        paused: false,
    };
    let waited = pidfd::open(run.pid).and_then(|pidfd| {
        run.pidfd = Some(pidfd);
        run.wait(started, limit, signals)
    });
    let wall = started.elapsed();
    let paused = run.paused || signals.stops.was_stopped();
    if let Some(mark) = mark {
        mark.settle();
    }
    // Before the process is reaped, its number cannot belong to another group.
    signal_group(run.pid, libc::SIGKILL);
    let (status, usage) = reap(run.pid)?;
    let behind = mark.map_or(0, |mark| mark.end(run.pid));
    run.read_rest();
    Ok(Observed {
        end: waited?.unwrap_or_else(|| ended(status)),
        wall,
        usage,
        output: run.output,
        dropped: run.dropped,
        behind,
        paused,
    })
}

/// A started program.
struct Run {
    pid: libc::pid_t,
    pidfd: Option<OwnedFd>,
    pipe: Option<File>,
    output: Vec<u8>,
    /// So much of it.
    keep: usize,
    dropped: bool,
    paused: bool,
}

impl Run {
    /// Waits for the end. Says why, if we brought it about.
    fn wait(
        &mut self,
        started: Instant,
        limit: Option<Duration>,
        Signals { interrupt, stops }: &Signals,
    ) -> io::Result<Option<End>> {
        let mut deadline = limit.map(|limit| started + limit);
        let mut why = None;
        loop {
            let fds = [
                self.pidfd.as_ref().map_or(-1, AsRawFd::as_raw_fd),
                interrupt.as_raw_fd(),
                stops.as_raw_fd(),
                self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            ];
            let ready = poll(fds, deadline)?;
            if ready[3] {
                self.read_some();
            }
            if ready[0] {
                return Ok(why);
            }
            if stops.is_asked() {
                signal_group(self.pid, libc::SIGSTOP);
                stops.stop();
                signal_group(self.pid, libc::SIGCONT);
            }
            if stops.was_stopped() {
                self.paused = true;
                // The time until now says nothing: the limit begins anew.
                let left = why.map_or(limit, |_| Some(GRACE));
                deadline = left.map(|left| Instant::now() + left);
            }
            if let Some(signal) = interrupt.take() {
                if why.is_some() {
                    return Ok(why); // asked twice: no more grace
                }
                why = Some(End::Interrupted(signal));
                signal_group(self.pid, signal);
                deadline = Some(Instant::now() + GRACE);
            } else if deadline.is_some_and(|at| Instant::now() >= at) {
                return Ok(Some(why.unwrap_or(End::TimedOut)));
            }
        }
    }

    /// Reads what is there; closes the pipe at its end.
    fn read_some(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut buffer = [0; 64 << 10];
        match pipe.read(&mut buffer) {
            Ok(n) if n > 0 => self.output.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return,
            _ => self.pipe = None,
        }
        if self.output.len() > 2 * self.keep {
            self.drop_excess();
        }
    }

    /// Reads what is left in the pipe. Others may still hold it open.
    fn read_rest(&mut self) {
        while self.pipe.is_some() {
            let before = self.output.len();
            self.read_some();
            if self.output.len() == before {
                break;
            }
        }
        self.drop_excess();
    }

    fn drop_excess(&mut self) {
        let excess = self.output.len().saturating_sub(self.keep);
        self.dropped |= excess > 0;
        self.output.drain(..excess);
    }
}

/// Sets the output up; returns the end to read from.
fn connect(command: &mut Command, output: Output) -> io::Result<Option<File>> {
    match output {
        Output::Inherit => {
            command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
            Ok(None)
        }
        Output::Null => {
            let (reader, writer) = pipe()?;
            command.stdout(Stdio::null()).stderr(writer);
            Ok(Some(File::from(reader)))
        }
        Output::Pipe => {
            let (reader, writer) = pipe()?;
            command.stdout(writer.try_clone()?).stderr(writer);
            Ok(Some(File::from(reader)))
        }
    }
}

/// A pipe whose reading end does not block.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: pipe2 fills both descriptors, which are then ours alone.
    let (reader, writer) = unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]))
    };
    // SAFETY: sets a flag on a descriptor that we own.
    unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    Ok((reader, writer))
}

/// Gives the program a group of its own, and has it end if we are killed before we could end it.
fn prepare(command: &mut Command) {
    command.process_group(0);
    die_with_us(command);
    // SAFETY: sets a disposition, which may be done between fork and exec.
    unsafe {
        command.pre_exec(|| {
            inherited::restore_children();
            Ok(())
        });
    }
}

fn signal_group(pid: libc::pid_t, signal: i32) {
    // SAFETY: pid is our child, not reaped yet, and leads its own group.
    unsafe { libc::kill(-pid, signal) };
}

fn reap(pid: libc::pid_t) -> io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    loop {
        // SAFETY: wait4 fills both; a zeroed rusage is a valid one.
        let (got, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid, &mut status, 0, &mut usage), usage)
        };
        if got == pid {
            return Ok((status, usage));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn ended(status: i32) -> End {
    if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    }
}
