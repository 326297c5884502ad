// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork explain -- PROGRAM`: runs the program once with a lock of ours, recorded and with
//! events counted, and says what its acquisitions cost. The other worlds are in
//! `lockwork-explain`.

use std::fs;
use std::process::ExitCode;

use anyhow::Result;
use lockwork_explain::{event_sums, rendered, ExplainArgs, Output, Ran};
use lockwork_profile::explained;
use lockwork_report::resources::Resources;
use lockwork_report::settings::put;
use lockwork_report::text;

use crate::error::OWN_ERROR;
use crate::policy::{self, Interposer};
use crate::profile::{check, folder, lock, record};
use crate::spec::LockSpec;

/// The knob, and its value that has the sums written.
const COUNT: (&str, &str) = ("count_events", "2");

/// Runs `lockwork explain`.
pub fn explain(args: &ExplainArgs) -> Result<ExitCode> {
    if is_program(args) {
        return program(args);
    }
    lockwork_explain::run(args)
}

/// Whether the exit code is to be a program's.
pub fn is_program(args: &ExplainArgs) -> bool {
    args.world.is_none() && !args.command.is_empty()
}

fn program(args: &ExplainArgs) -> Result<ExitCode> {
    let name = args.lock.as_deref().unwrap_or(policy::DEFAULT);
    let mut spec = lock(name, &args.set)?;
    check(&args.command)?;
    let is_ours = spec.policy.interposer == Interposer::Lockwork;
    if is_ours {
        put(&mut spec.settings, (COUNT.0.to_owned(), COUNT.1.to_owned()));
    }
    let room = folder()?;
    let (file, sums) = (room.path().join("profile"), room.path().join("events"));
    let output = Output::open(args.output.as_deref())?;
    let before = Resources::of_children();
    let code = record(
        &args.command,
        &spec,
        &file,
        &[("LOCKWORK_EVENTS", sums.as_os_str())],
    )?;
    let used = Resources::of_children().since(&before);
    match ran(args, &spec, is_ours, used, [&file, &sums]) {
        Ok(ran) => {
            output.write(&rendered(&[ran.account()], args.json), |said| {
                // A table stands apart from what the program said.
                let gap = if args.json { "" } else { "\n" };
                text::complain(&format!("{gap}{said}"));
                Ok(())
            })?;
            return Ok(ExitCode::from(code));
        }
        Err(_) if !file.exists() => text::complain(
            "lockwork: nothing was recorded, so nothing is explained: the program did not load \
             the recorder, or could not write into the folder for temporary files\n",
        ),
        Err(error) => text::complain(&format!("lockwork: nothing is explained: {error:#}\n")),
    }
    Ok(ExitCode::from(if code == 0 { OWN_ERROR } else { code }))
}

fn ran(
    args: &ExplainArgs,
    spec: &LockSpec,
    is_ours: bool,
    used: Resources,
    [file, sums]: [&std::path::PathBuf; 2],
) -> Result<Ran> {
    let words = args.command.iter().map(|word| word.to_string_lossy());
    let (locking, why) = explained(file)?;
    Ok(Ran {
        program: words.collect::<Vec<_>>().join(" "),
        lock: spec.label.clone(),
        is_ours,
        locking,
        why,
        events: fs::read_to_string(sums)
            .ok()
            .and_then(|text| event_sums(&text)),
        used,
    })
}
