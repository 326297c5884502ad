// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork profile`: runs the program with the recorder loaded, then reports.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};
use lockwork_profile::Sampler;
use lockwork_report::interrupt::Interrupt;
use lockwork_report::resources::Resources;
use lockwork_report::settings::settings;
use lockwork_report::{bail_usage, text};
use tempfile::TempDir;

use crate::cli::ProfileArgs;
use crate::environment;
use crate::error::{Exit, CANNOT_EXECUTE, NOT_FOUND, OWN_ERROR};
use crate::inherited;
use crate::pidfd;
use crate::policy::Interposer;
use crate::program;
use crate::spec::{self, LockSpec};

/// The recorder takes no longer name.
const LONGEST_PATH: usize = 3799;

/// Runs `lockwork profile`; the exit code is the program's.
pub fn profile(args: &ProfileArgs) -> Result<ExitCode> {
    let spec = lock(&args.lock, &args.set)?;
    check(&args.command)?;
    let file = make_room(&args.output)?;
    let stacks = ("LOCKWORK_STACKS", OsStr::new(args.stacks.name()));
    let status = record(&args.command, &spec, &file, &[stacks])?;
    if !lockwork_profile::is_profile(&file) {
        text::complain(&format!(
            "lockwork: nothing was recorded into {}: the program did not load the recorder, or \
             could not write there\n",
            args.output.display()
        ));
        return Ok(ExitCode::from(if status == 0 { OWN_ERROR } else { status }));
    }
    if !args.quiet {
        report(&file, &args.output);
    }
    Ok(ExitCode::from(status))
}

/// The lock of that name, with knobs.
pub fn lock(name: &str, set: &[String]) -> Result<LockSpec> {
    let shared = settings(set, spec::validate)?;
    let spec = LockSpec::parse(name, &shared)?;
    if spec.policy.interposer != Interposer::Lockwork && !shared.is_empty() {
        bail_usage!("{} has no knobs; leave --set out", spec.policy.name);
    }
    spec::read_by(&shared, &[spec.policy])?;
    Ok(spec)
}

/// Checks that the recorder works in the program of a command.
pub fn check(command: &[OsString]) -> Result<()> {
    let program = program::find(name_of(command))?;
    program::validate(&program)?;
    program::check_sanitizers(&program)
}

fn name_of(command: &[OsString]) -> &OsStr {
    command.first().map_or(OsStr::new(""), |n| n.as_os_str())
}

/// Runs a command with a lock and the recorder, and `more` in its environment. Returns the
/// exit code.
pub fn record(
    command: &[OsString],
    spec: &LockSpec,
    file: &Path,
    more: &[(&str, &OsStr)],
) -> Result<u8> {
    let name = name_of(command);
    environment::warn_of_unused("--lock");
    let mut started = Command::new(name);
    started.args(&command[1..]);
    for (variable, value) in environment::recording(spec, file, &program::find(name)?)? {
        match value {
            Some(value) => started.env(variable, value),
            None => started.env_remove(variable),
        };
    }
    started.envs(more.iter().copied());
    let interrupt = Interrupt::listen_for_a_program().context("cannot listen for signals")?;
    let clock = lockwork_profile::Clock::start();
    let before = Resources::of_children();
    let child = start(&mut started, name)?;
    let sampler = Sampler::start(file, child.id());
    let (status, passed_on) = wait(child, &interrupt)?;
    clock.finish(file, status.signal().or(passed_on));
    if let Some(sampler) = sampler {
        sampler.finish(file);
    }
    let used = Resources::of_children().since(&before);
    lockwork_profile::note_sleeps(file, used.voluntary);
    Ok(code(status))
}

/// The report, or why there is none. The program's own result stays what it was.
fn report(file: &Path, shown: &Path) {
    match lockwork_profile::text(file, text::stderr_columns()) {
        Ok(report) => text::complain(&format!("\n{report}\n{}", how_again(shown))),
        Err(error) => text::complain(&format!("lockwork: {error:#}\n")),
    }
}

/// How the report of `file` is printed again; nothing if its name is no text.
fn how_again(file: &Path) -> String {
    match file.to_str() {
        Some(name) => {
            let command = text::shell(&["lockwork", "report", name]);
            format!("{command} prints this again.\n")
        }
        None => String::new(),
    }
}

/// A folder for the files of a recording that nobody keeps. Everybody may write there, as in /tmp:
/// a child that gives up its rights records, too.
///
/// # Errors
/// It cannot be made.
pub fn folder() -> Result<TempDir> {
    let room = tempfile::Builder::new()
        .prefix("lockwork-")
        .tempdir()
        .context("cannot make a folder for the figures")?;
    fs::set_permissions(room.path(), fs::Permissions::from_mode(0o1733))
        .context("cannot open the folder for the figures to others")?;
    Ok(room)
}

/// The absolute path of a file that can be made, and is not there. Profiles of an earlier
/// run are removed.
fn make_room(output: &Path) -> Result<PathBuf> {
    let refuse = |why: String| {
        let message = format!("cannot record into {}: {why}", output.display());
        Exit::with(OWN_ERROR, message)
    };
    let file = std::path::absolute(output).map_err(|e| refuse(e.to_string()))?;
    if file.as_os_str().len() > LONGEST_PATH {
        return Err(refuse(
            "its path is too long; give a shorter one by -o".into(),
        ));
    }
    let there = fs::symlink_metadata(&file);
    if there.as_ref().is_ok_and(|there| there.is_symlink()) && !file.exists() {
        return Err(refuse(
            "it is a symbolic link to nothing; give another name by -o".into(),
        ));
    }
    let what = match there {
        Ok(there) if there.is_dir() => Some("it is a directory"),
        Ok(there) if !there.is_file() && !there.is_symlink() => Some("it is no regular file"),
        Ok(there) if there.len() > 0 || !there.is_file() => Some("it is there and is no profile"),
        _ => None,
    };
    if let Some(what) = what.filter(|_| !lockwork_profile::is_profile(&file)) {
        return Err(refuse(format!("{what}; give another name by -o")));
    }
    let children = lockwork_profile::children(&file);
    let all = || children.iter().chain([&file]);
    if let Some(pid) = all().find_map(|old| lockwork_profile::recorded_by(old)) {
        return Err(refuse(format!(
            "process {pid} is recorded into it now; give another name by -o"
        )));
    }
    for old in all() {
        match fs::remove_file(old) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(refuse(format!("{}: {e}", old.display())));
            }
            _ => {}
        }
    }
    // The program makes it itself; whether that will work is found before it runs.
    let made = OpenOptions::new().write(true).create_new(true).open(&file);
    let made = made.map_err(|e| refuse(format!("{e}; give another name by -o")))?;
    let reserved = reserve(&made);
    fs::remove_file(&file).map_err(|e| refuse(e.to_string()))?;
    reserved.map_err(|e| refuse(format!("there is no room for it: {e}")))?;
    Ok(file)
}

/// Has the file system set aside what a recording needs at once.
fn reserve(file: &fs::File) -> std::io::Result<()> {
    let bytes = lockwork_profile::LEAST;
    // SAFETY: it consists of numbers, and the call fills it.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: the limit is ours.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } == 0;
    // Beyond that, the kernel would end this process by a signal.
    if known && limit.rlim_cur < bytes {
        return Err(std::io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: the descriptor is open.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

fn start(command: &mut Command, name: &OsStr) -> Result<Child> {
    // SAFETY: only closes descriptors.
    unsafe {
        command.pre_exec(|| {
            inherited::restore_descriptors();
            inherited::restore_children();
            Ok(())
        });
    }
    command.spawn().map_err(|error| {
        let code = match error.raw_os_error() {
            Some(libc::ENOENT) => NOT_FOUND,
            _ => CANNOT_EXECUTE,
        };
        let message = format!("cannot execute '{}': {error}", Path::new(name).display());
        Exit::with(code, message)
    })
}

/// Waits for the program's end. A signal to us is for the program; one that a terminal
/// sends has reached it already. Returns that signal too.
fn wait(mut child: Child, interrupt: &Interrupt) -> Result<(ExitStatus, Option<i32>)> {
    let pid = child.id() as libc::pid_t;
    let ended = pidfd::open(pid).context("cannot wait for the program")?;
    let mut passed_on = None;
    loop {
        let fds = [ended.as_raw_fd(), interrupt.as_raw_fd()];
        if pidfd::poll(fds, None)?[0] {
            return Ok((child.wait()?, passed_on));
        }
        if let Some(signal) = interrupt.take() {
            if Interrupt::ends(signal) {
                passed_on = Some(signal);
            }
            if signal != libc::SIGINT || !is_of_terminal() {
                // SAFETY: the child has not been waited for, so this is its number.
                unsafe { libc::kill(pid, signal) };
            }
        }
    }
}

/// Whether Ctrl-C would reach this process and the program: their group is in front.
fn is_of_terminal() -> bool {
    let Ok(terminal) = fs::File::open("/dev/tty") else {
        return false;
    };
    // SAFETY: these only read.
    unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) == libc::getpgrp() }
}

fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (_, Some(signal)) => 128 + signal as u8,
        _ => OWN_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_name_that_cannot_be_typed_is_in_no_command() {
        let again = |name: &[u8]| how_again(Path::new(OsStr::from_bytes(name)));
        assert_eq!(
            again(b"a b.prof"),
            "lockwork report 'a b.prof' prints this again.\n"
        );
        assert_eq!(again(b"a\xffb.prof"), "");
        assert_eq!(
            again(b"a\nb.prof"),
            "lockwork report $'a\\nb.prof' prints this again.\n"
        );
    }
}
