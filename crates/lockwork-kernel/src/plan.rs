// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is asked of the module: a request for each lock.

use anyhow::{bail, Result};
use lockwork_catalogue::{catalogue, LockKind, Promises};
use lockwork_report::settings::{self, put, Setting};
use lockwork_report::{bail_usage, usage};

use crate::args::{GuestArgs, ModuleArgs, PatchedArgs};
use crate::load::{self, Fs};
use crate::stock;

include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// The broken locks that the module can be built with; see `kernel/canaries.c`.
const CANARIES: &[(&str, bool)] = &[
    ("canary_exclusion", false),
    ("canary_nesting", false),
    ("canary_reader", true),
];

/// Who tortures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Our module, its own locks.
    Ours,
    /// The kernel's locktorture, the kernel's locks.
    Stock,
    /// A program, the kernel's locks.
    Load(Fs),
}

/// One torture, and the knobs that the locks have meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    /// What it is called in the table.
    pub(crate) name: String,
    /// The line for the module's file; or for locktorture its kind of lock, the seconds,
    /// and parameters.
    pub(crate) line: String,
    /// How long it takes, if nothing goes wrong.
    pub(crate) seconds: u32,
    /// Its knobs.
    pub(crate) knobs: Vec<Setting>,
    /// Its place in a sweep.
    pub(crate) sweep: Option<Sweep>,
}

/// One of the runs of a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    /// The torture or load.
    pub(crate) of: String,
    pub(crate) writers: u32,
    /// Long queues are divided.
    pub(crate) divides: bool,
}

impl Request {
    /// Whether locktorture does it.
    pub(crate) fn is_stock(&self) -> bool {
        self.kind == Kind::Stock
    }

    /// The line with another number of writers, or workers.
    fn line_for(&self, writers: u32) -> String {
        let mut words: Vec<String> = self.line.split(' ').map(str::to_owned).collect();
        match self.kind {
            Kind::Load(_) => words[1] = writers.to_string(),
            Kind::Stock => words.push(format!("nwriters_stress={writers}")),
            Kind::Ours => words.push(format!("writers={writers} switch_ms=0")),
        }
        words.join(" ")
    }
}

/// What the module's tortures depend on.
struct Wish<'a> {
    guest: &'a GuestArgs,
    canaries: bool,
    /// CPUs go off and on.
    hotplug: bool,
    /// The locks divide queues sooner than they would by themselves.
    low: bool,
    set: Vec<Setting>,
}

/// All that `args` asks for.
pub(crate) fn of_module(args: &ModuleArgs) -> Result<Vec<Request>> {
    let wish = Wish {
        guest: &args.guest,
        canaries: args.canaries,
        hotplug: true,
        low: true,
        set: settings::settings(&args.guest.set, validate)?,
    };
    let of_all = args.torture.is_empty();
    let mut requests = Vec::new();
    if of_all {
        for kind in catalogue() {
            requests.push(ours(&wish, &[kind.name()], false)?);
        }
        // Where spinners keep their CPUs a queue gets long enough to be divided.
        for name in ["numa_osq", "mutex_numa"] {
            requests.push(ours(&wish, &[name], true)?);
        }
        let modes = ["steal", "tas", "pv", "auto"].map(|mode| format!("qspinlock_{mode}"));
        let modes: Vec<&str> = modes.iter().map(String::as_str).collect();
        requests.push(ours(&wish, &modes, false)?);
    }
    for names in &args.torture {
        requests.push(named(&wish, names, false)?);
    }
    Ok(requests)
}

/// All that `args` asks for.
pub(crate) fn of_patched(args: &PatchedArgs) -> Result<Vec<Request>> {
    let wish = Wish {
        guest: &args.guest,
        canaries: false,
        // Who measures wants all CPUs all the time.
        hotplug: !args.sweep,
        low: !args.here,
        set: settings::settings(&args.guest.set, validate)?,
    };
    if args.here && wish.guest.shell {
        bail_usage!("--here has no guest to open a shell in");
    }
    if let Some(modes) = args.torture.iter().find(|names| names.contains('+')) {
        if args.sweep {
            bail_usage!("--sweep runs one lock at a time, and {modes} is several; name them by ,");
        }
    }
    let mut names: Vec<&str> = args.torture.iter().map(String::as_str).collect();
    if names.is_empty() && args.load.is_empty() {
        names = stock::PATCHED.to_vec();
    }
    let tortures = names
        .iter()
        .map(|names| named(&wish, names, args.has_controls()));
    let loads = args
        .load
        .iter()
        .map(|name| of_load(&wish, name, args.has_controls()));
    let all: Vec<Request> = tortures.chain(loads).collect::<Result<_>>()?;
    if !args.sweep {
        return Ok(all);
    }
    let controls = args.has_controls();
    Ok(all.iter().flat_map(|one| sweep(one, controls)).collect())
}

/// Each with 1 to 64 writers, and each of these without division and with it.
fn sweep(request: &Request, controls: bool) -> Vec<Request> {
    let mut all = Vec::new();
    let divisions = [("0", "off"), ("1", "on")];
    for writers in [1, 2, 4, 8, 16, 32, 64] {
        // Without controls there is nothing to switch on.
        for (value, word) in &divisions[..1 + usize::from(controls)] {
            let mut one = request.clone();
            one.name = format!("{}, {writers}, {word}", request.name);
            one.line = request.line_for(writers);
            one.sweep = Some(Sweep {
                of: request.name.clone(),
                writers,
                divides: *value == "1",
            });
            if controls {
                put(&mut one.knobs, ("dynamic_enable".into(), (*value).into()));
            }
            all.push(one);
        }
    }
    all
}

/// The torture of what the user named. `controls`: the kernel has those of its own locks.
fn named(wish: &Wish<'_>, names: &str, controls: bool) -> Result<Request> {
    let names: Vec<&str> = names.split('+').map(str::trim).collect();
    match names[..] {
        [name] => match stock::KINDS.iter().find(|(known, _)| *known == name) {
            Some((name, reads)) => of_kernel(wish, name, *reads, controls),
            None => ours(wish, &names, false),
        },
        _ => ours(wish, &names, false),
    }
}

/// What divides queues in a guest of eight CPUs.
const LOW: [(&str, &str); 2] = [("osq_lock_depth", "2"), ("osq_keep_times", "16")];

fn low_knobs(wish: &Wish<'_>) -> Vec<Setting> {
    let low = LOW.iter().filter(|_| wish.low);
    low.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// The request for locktorture. CPUs go off and on; tasks pause together now and then.
fn of_kernel(wish: &Wish<'_>, name: &str, reads: bool, controls: bool) -> Result<Request> {
    let mut knobs = low_knobs(wish);
    let mut line = format!("{name} {}", wish.guest.seconds);
    let mut writers = wish.guest.cpus * 2;
    for (option, value) in &wish.set {
        match option.as_str() {
            "writers" => writers = value.parse()?,
            "readers" if reads => line += &format!(" nreaders_stress={value}"),
            "readers" => {
                bail_usage!("{name} has no readers; leave readers out of --set");
            }
            knob if controls && KNOBS.iter().any(|(name, ..)| *name == knob) => {
                put(&mut knobs, (option.clone(), value.clone()));
            }
            other => bail_usage!(
                "{name} is tortured by the kernel's locktorture, which has no {other}; set writers                  or readers, or choose our locks"
            ),
        }
    }
    let has_readers = reads && !wish.set.contains(&("readers".into(), "0".into()));
    if writers == 0 && !has_readers {
        bail_usage!("--set writers=0 leaves {name} without a thread; give it one");
    }
    line += &format!(" nwriters_stress={writers} stat_interval=0 verbose=0");
    if wish.hotplug {
        line += " onoff_interval=1";
    }
    Ok(Request {
        kind: Kind::Stock,
        name: name.to_owned(),
        line,
        seconds: wish.guest.seconds,
        knobs: if controls { knobs } else { Vec::new() },
        sweep: None,
    })
}

/// CPUs and nodes must fit each other, and the numbers of interrupt controllers.
pub(crate) fn validate_machine(args: &GuestArgs) -> Result<()> {
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
struct Traits {
    sleeps: bool,
    reads: bool,
    /// None: a canary.
    kind: Option<LockKind>,
}

/// What the module would refuse too, with a number that says less.
fn check_modes(names: &[&str], all: &[Traits], options: &[Setting]) -> Result<()> {
    if let [first, others @ ..] = all {
        let orders = Promises::FIFO | Promises::SLEEPS;
        let mixes = |one: &Traits| match (&first.kind, &one.kind) {
            (Some(a), Some(b)) => {
                a.is_mode_beside(b) && !(a.flags() | b.flags()).intersects(orders)
            }
            _ => false,
        };
        if let Some(at) = others.iter().position(|one| !mixes(one)) {
            bail_usage!(
                "{} and {} cannot take turns on one object; modes of one lock do, but for those \
                 that promise an order or sleep",
                names[0],
                names[at + 1]
            );
        }
    }
    if names.len() > MODES {
        bail_usage!("{} modes are too many; take {MODES} at most", names.len());
    }
    let number = |option: &str| {
        let found = options.iter().find(|(name, _)| name == option);
        found.and_then(|(_, value)| value.parse::<u32>().ok())
    };
    for name in ["stutter_ms", "hotplug_ms", "switch_ms"] {
        if let Some(ms @ 1..=19) = number(name) {
            bail_usage!("{name}={ms} is too short; write 20 or more, or 0 for never");
        }
    }
    if names.len() > 1 && number("switch_ms") == Some(0) {
        bail_usage!("switch_ms=0 leaves the first mode alone; write 20 or more, or name one lock");
    }
    if number("interrupts") == Some(1) && number("hold_ns").is_some_and(|ns| ns > 50_000) {
        bail_usage!(
            "hold_ns above 50000 keeps interrupts off for too long; add interrupts=0, or hold the \
             lock for less"
        );
    }
    Ok(())
}

fn traits(wish: &Wish<'_>, name: &str) -> Result<Traits> {
    if let Some((_, reads)) = CANARIES.iter().find(|(canary, _)| *canary == name) {
        if !wish.canaries {
            bail_usage!("{name} is broken on purpose; give --canaries to build it too");
        }
        return Ok(Traits {
            sleeps: false,
            reads: *reads,
            kind: None,
        });
    }
    let kind: LockKind = lockwork_catalogue::by_name(name).map_err(usage::error)?;
    Ok(Traits {
        sleeps: kind.flags().contains(Promises::SLEEPS),
        reads: kind.has_read(),
        kind: Some(kind),
    })
}

/// The request for a load.
fn of_load(wish: &Wish<'_>, name: &str, controls: bool) -> Result<Request> {
    let load = load::by_name(name)?;
    let mut workers = wish.guest.cpus * load.workers_per_cpu;
    let mut knobs = low_knobs(wish);
    for (option, value) in &wish.set {
        match option.as_str() {
            "writers" => workers = value.parse()?,
            knob if controls && KNOBS.iter().any(|(name, ..)| *name == knob) => {
                put(&mut knobs, (option.clone(), value.clone()));
            }
            other => bail_usage!("a load has no {other}; set writers, or knobs of the locks"),
        }
    }
    if workers == 0 {
        bail_usage!("--set writers=0 leaves the load without a worker; give it one");
    }
    let seconds = wish.guest.seconds;
    Ok(Request {
        kind: Kind::Load(load.fs),
        name: name.to_owned(),
        line: format!("{} {workers} {seconds} {}", load.kind, load.fs.name()),
        seconds,
        knobs: if controls { knobs } else { Vec::new() },
        sweep: None,
    })
}

/// The request for one object, whose locks take turns; `pinned`: its threads keep
/// their CPUs.
fn ours(wish: &Wish<'_>, names: &[&str], pinned: bool) -> Result<Request> {
    let set = &wish.set;
    let mut handlers = true;
    let mut all = Vec::new();
    let is = |option: &str, value: &str| set.iter().any(|(o, v)| o == option && v == value);
    for name in names {
        let kind = traits(wish, name)?;
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
        all.push(kind);
    }
    let text = |name: &str, value: u32| (name.to_owned(), value.to_string());
    let mut options = vec![
        text("seconds", wish.guest.seconds),
        text("hotplug_ms", if wish.hotplug { 500 } else { 0 }),
        text("switch_ms", 100),
        text("pin", pinned.into()),
        text("interrupts", handlers.into()),
    ];
    let mut knobs = low_knobs(wish);
    for setting in set {
        if KNOBS.iter().any(|(name, ..)| *name == setting.0) {
            put(&mut knobs, setting.clone());
        } else {
            put(&mut options, setting.clone());
        }
    }
    check_modes(names, &all, &options)?;
    let mut line = format!("lock={}", names.join(","));
    for (name, value) in &options {
        line += &format!(" {name}={value}");
    }
    let seconds = options.iter().find(|(name, _)| name == "seconds");
    let seconds = seconds.and_then(|(_, value)| value.parse().ok());
    let pinned = if pinned { " (pinned)" } else { "" };
    Ok(Request {
        kind: Kind::Ours,
        name: match names.len() {
            1 => format!("{}{pinned}", names[0]),
            modes => format!("{}, {modes} modes", names[0]),
        },
        line,
        seconds: seconds.unwrap_or(wish.guest.seconds),
        knobs,
        sweep: None,
    })
}

/// A setting that the module would take.
fn validate(name: &str, value: &str) -> Result<()> {
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
        validate_machine(&line.args.guest)?;
        of_module(&line.args)
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
    fn low_knobs_divide_sooner_than_the_defaults() {
        let knobs = lockwork_catalogue::knobs();
        for (name, value) in LOW {
            let knob = knobs.iter().find(|knob| knob.name() == name);
            let value: u32 = value.parse().expect("a number");
            assert!(value < knob.expect("a knob").default(), "{name}");
        }
    }

    #[test]
    fn a_sweep_has_all_cpus_and_one_lock_at_a_time() {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            args: PatchedArgs,
        }
        let plan =
            |line: &[&str]| of_patched(&Line::parse_from([&["patched"], line].concat()).args);
        let all = plan(&["--sweep", "--torture", "mutex_numa,mutex_lock"]).expect("a plan");
        for request in &all {
            assert!(!request.line.contains("hotplug_ms=500"), "{}", request.line);
            assert!(!request.line.contains("onoff_interval"), "{}", request.line);
        }
        let error = plan(&["--sweep", "--torture", "qspinlock_steal+qspinlock_tas"]);
        assert!(usage::is(&error.expect_err("refused")));
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
            (
                &["--torture", "mutex_lock", "--set", "readers=4"],
                "has no readers",
            ),
            (
                &["--torture", "rwsem_lock", "--set", "pin=1"],
                "locktorture, which has no pin",
            ),
            (
                &["--torture", "mutex_lock", "--set", "writers=0"],
                "without a thread",
            ),
            (
                &["--torture", "tas_lock+ticket_lock"],
                "tas_lock and ticket_lock cannot take turns",
            ),
            (
                &["--torture", "qspinlock_fair+qspinlock_steal"],
                "promise an order",
            ),
            (&["--torture", "mutex+mutex_numa"], "cannot take turns"),
            (
                &[
                    "--torture",
                    "qspinlock_steal+qspinlock_tas",
                    "--set",
                    "switch_ms=0",
                ],
                "switch_ms=0",
            ),
            (
                &["--torture", "tas_lock", "--set", "stutter_ms=5"],
                "20 or more",
            ),
            (
                &["--torture", "tas_lock", "--set", "hold_ns=100000"],
                "interrupts=0",
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
