// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is asked of the module: a request for each lock.

use anyhow::{bail, Result};
use lockwork_report::settings::{self, put, Setting};
use lockwork_report::{bail_usage, usage};
use lockwork_user::{catalogue, LockKind, Promises};

use crate::ModuleArgs;

include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// The broken locks that the module can be built with; see `kernel/canaries.c`.
const CANARIES: &[(&str, bool)] = &[
    ("canary_exclusion", false),
    ("canary_nesting", false),
    ("canary_reader", true),
];

/// One torture, and the knobs that the locks have meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// What it is called in the table.
    pub(crate) name: String,
    /// The line for the module's file.
    pub(crate) line: String,
    /// How long it takes, if nothing goes wrong.
    pub(crate) seconds: u32,
    /// Its knobs.
    pub(crate) knobs: Vec<Setting>,
}

/// All that `args` asks for.
pub(crate) fn plan(args: &ModuleArgs) -> Result<Vec<Request>> {
    let set = settings::settings(&args.set, check)?;
    let of_all = args.torture.is_empty();
    let mut requests = Vec::new();
    if of_all {
        for kind in catalogue() {
            requests.push(request(args, &set, &[kind.name()], false)?);
        }
        // Where spinners keep their CPUs a queue gets long enough to be divided.
        for name in ["numa_osq", "mutex_numa"] {
            requests.push(request(args, &set, &[name], true)?);
        }
        let modes = ["steal", "tas", "pv", "auto"].map(|mode| format!("qspinlock_{mode}"));
        let modes: Vec<&str> = modes.iter().map(String::as_str).collect();
        requests.push(request(args, &set, &modes, false)?);
    }
    for names in &args.torture {
        let names: Vec<&str> = names.split('+').map(str::trim).collect();
        requests.push(request(args, &set, &names, false)?);
    }
    Ok(requests)
}

/// CPUs and nodes must fit each other, and the numbers of interrupt controllers.
pub(crate) fn check_machine(args: &ModuleArgs) -> Result<()> {
    if args.cpus % args.nodes != 0 {
        bail_usage!(
            "--cpus {} cannot be divided evenly by --nodes {}; choose a multiple",
            args.cpus,
            args.nodes
        );
    }
    let cores = args.cpus / args.nodes;
    if (args.nodes - 1) * cores.next_power_of_two() + cores > 255 {
        bail_usage!(
            "--cpus {} on --nodes {} is more than QEMU's machine has numbers for; take fewer CPUs, or \
             a power of two for each node",
            args.cpus,
            args.nodes
        );
    }
    Ok(())
}

/// What a lock is, as far as the plan depends on it.
struct Kind {
    sleeps: bool,
    reads: bool,
}

fn kind(args: &ModuleArgs, name: &str) -> Result<Kind> {
    if let Some((_, reads)) = CANARIES.iter().find(|(canary, _)| *canary == name) {
        if !args.canaries {
            bail_usage!("{name} is broken on purpose; give --canaries to build it too");
        }
        return Ok(Kind {
            sleeps: false,
            reads: *reads,
        });
    }
    let kind: LockKind = lockwork_user::by_name(name).map_err(usage::error)?;
    Ok(Kind {
        sleeps: kind.flags().contains(Promises::SLEEPS),
        reads: kind.has_read(),
    })
}

/// The request for one object, whose locks take turns; `pinned`: its threads keep
/// their CPUs.
fn request(args: &ModuleArgs, set: &[Setting], names: &[&str], pinned: bool) -> Result<Request> {
    let mut handlers = true;
    let is = |option: &str, value: &str| set.iter().any(|(o, v)| o == option && v == value);
    for name in names {
        let kind = kind(args, name)?;
        handlers &= !kind.sleeps;
        let asks_readers = set
            .iter()
            .any(|(option, value)| option == "readers" && value != "0");
        if !kind.reads && asks_readers {
            bail_usage!("{name} has no readers; leave readers out of --set, or choose other locks");
        }
        if is("writers", "0") && (!kind.reads || is("readers", "0")) {
            bail_usage!("--set writers=0 leaves {name} without a thread; give it one");
        }
        if kind.sleeps && is("interrupts", "1") {
            bail_usage!("{name} sleeps, which handlers cannot; leave interrupts out of --set");
        }
    }
    let text = |name: &str, value: u32| (name.to_owned(), value.to_string());
    let mut options = vec![
        text("seconds", args.seconds),
        text("hotplug_ms", 500),
        text("switch_ms", 100),
        text("pin", pinned.into()),
        text("interrupts", handlers.into()),
    ];
    // So low that a guest of eight CPUs divides queues.
    let mut knobs = vec![text("osq_lock_depth", 5), text("osq_keep_times", 16)];
    for setting in set {
        if KNOBS.iter().any(|(name, ..)| *name == setting.0) {
            put(&mut knobs, setting.clone());
        } else {
            put(&mut options, setting.clone());
        }
    }
    let mut line = format!("lock={}", names.join(","));
    for (name, value) in &options {
        line += &format!(" {name}={value}");
    }
    let seconds = options.iter().find(|(name, _)| name == "seconds");
    let seconds = seconds.and_then(|(_, value)| value.parse().ok());
    let pinned = if pinned { " (pinned)" } else { "" };
    Ok(Request {
        name: match names.len() {
            1 => format!("{}{pinned}", names[0]),
            modes => format!("{}, {modes} modes", names[0]),
        },
        line,
        seconds: seconds.unwrap_or(args.seconds),
        knobs,
    })
}

/// A setting that the module would take.
fn check(name: &str, value: &str) -> Result<()> {
    let all = || OPTIONS.iter().chain(KNOBS);
    let Some((_, min, max)) = all().find(|(known, ..)| *known == name) else {
        let names: Vec<&str> = all().map(|(name, ..)| *name).collect();
        bail!(
            "there is no '{name}' to set; choose one of {}",
            names.join(", ")
        );
    };
    match value.parse::<u32>() {
        Ok(number) if (*min..=*max).contains(&number) => Ok(()),
        _ => bail!("{name}={value}: write a number from {min} to {max}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ModuleArgs,
    }

    fn parse(line: &[&str]) -> Result<Vec<Request>> {
        let line = Line::parse_from([&["module"], line].concat());
        check_machine(&line.args)?;
        plan(&line.args)
    }

    #[test]
    fn every_lock_is_tortured_and_only_spinlocks_by_handlers() {
        let all = parse(&[]).expect("a plan");
        for kind in catalogue() {
            let of_it = all.iter().find(|request| request.name == kind.name());
            let line = &of_it.expect("a request for each lock").line;
            let sleeps = kind.flags().contains(Promises::SLEEPS);
            assert_eq!(line.contains("interrupts=0"), sleeps, "{line}");
        }
    }

    #[test]
    fn settings_go_where_they_belong() {
        let all = parse(&["--torture", "mutex", "--set", "seconds=9,pin=1,osq_pool=3"]);
        let all = all.expect("a plan");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].seconds, 9);
        assert!(all[0].line.starts_with("lock=mutex "));
        assert!(all[0].line.contains(" pin=1") && !all[0].line.contains("osq_pool"));
        assert!(all[0].knobs.contains(&("osq_pool".into(), "3".into())));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, words) in [
            (&["--torture", "mutexx"][..], "mutexx"),
            (&["--torture", "canary_exclusion"], "--canaries"),
            (&["--set", "writers=9999"], "from 0 to 4096"),
            (&["--set", "writters=9"], "writers, readers"),
            (&["--set", "pin=-1"], "from 0 to 1"),
            (
                &["--torture", "mutex", "--set", "readers=4"],
                "has no readers",
            ),
            (
                &["--torture", "tas_lock", "--set", "writers=0"],
                "without a thread",
            ),
            (
                &["--torture", "mutex", "--set", "interrupts=1"],
                "handlers cannot",
            ),
            (&["--cpus", "6"], "choose a multiple"),
            (&["--cpus", "255", "--nodes", "15"], "fewer CPUs"),
        ] {
            let error = parse(line).expect_err("refused");
            assert!(usage::is(&error), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
