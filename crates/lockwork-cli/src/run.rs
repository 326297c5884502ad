// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork run`: becomes the program, with another lock under it. Or it stays, and says in the
//! end what the program did with its locks.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use lockwork_report::settings::settings;
use lockwork_report::{bail_usage, text};

use crate::cli::RunArgs;
use crate::environment;
use crate::error::{Exit, CANNOT_EXECUTE, NOT_FOUND, OWN_ERROR};
use crate::inherited;
use crate::policy::Interposer;
use crate::profile;
use crate::program;
use crate::spec::{self, LockSpec};

/// Replaces this process by the program; returns only if that cannot be.
pub fn run(args: &RunArgs) -> Result<()> {
    let shared = settings(&args.set, spec::validate)?;
    let spec = LockSpec::parse(&args.lock, &shared)?;
    if spec.policy.interposer != Interposer::Lockwork && !shared.is_empty() {
        bail_usage!("{} has no knobs; leave --set out", spec.policy.name);
    }
    spec::read_by(&shared, &[spec.policy])?;
    let name = args
        .command
        .first()
        .map_or(OsStr::new(""), |n| n.as_os_str());
    let file = program::find(name)?;
    if spec.policy.interposer != Interposer::None {
        program::validate(&file)?;
    }
    environment::warn_of_unused("--lock");
    let mut changes = environment::changes(&spec)?;
    environment::keep_recorder(&mut changes);
    if spec.policy.interposer != Interposer::None {
        environment::put_first(&mut changes, &program::sanitizers(&file));
    }
    for (variable, value) in changes {
        match value {
            Some(value) => std::env::set_var(variable, value),
            None => std::env::remove_var(variable),
        }
    }
    Err(exec(name, &args.command))
}

/// Runs the program with the recorder before its lock, and says on standard error what it did with
/// its locks. The exit code is the program's.
pub fn counted(args: &RunArgs) -> Result<ExitCode> {
    let spec = profile::lock(&args.lock, &args.set)?;
    profile::check(&args.command)?;
    if environment::is_recorded() {
        let message = "lockwork profile records this program, which counts its lock calls: leave \
                       --count out";
        return Err(Exit::with(OWN_ERROR, message));
    }
    let room = profile::folder()?;
    let file = room.path().join("locks");
    let stacks = ("LOCKWORK_STACKS", OsStr::new("none"));
    let code = profile::record(&args.command, &spec, &file, &[stacks])?;
    text::complain(&match lockwork_profile::locking(&file) {
        Ok(locking) => format!("lockwork: {}\n", locking.sentence("this run")),
        Err(_) => "lockwork: nothing is counted: the program did not load the recorder, or could \
                   not write into the folder for temporary files\n"
            .to_owned(),
    });
    Ok(ExitCode::from(code))
}

fn exec(name: &OsStr, command: &[OsString]) -> anyhow::Error {
    let texts: Result<Vec<CString>, _> = command
        .iter()
        .map(|word| CString::new(word.as_bytes()))
        .collect();
    let Ok(texts) = texts else {
        return Exit::with(OWN_ERROR, "an argument contains a zero byte");
    };
    let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    inherited::restore_descriptors();
    inherited::restore_children();
    // SAFETY: the pointers are C strings, ended by a null pointer.
    unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
    let error = std::io::Error::last_os_error();
    let code = match error.raw_os_error() {
        Some(libc::ENOENT) => NOT_FOUND,
        _ => CANNOT_EXECUTE,
    };
    let message = format!("cannot execute '{}': {error}", Path::new(name).display());
    Exit::with(code, message)
}
