// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The measurements that have a name.
use crate::args::BenchArgs;
use crate::journal::Data;
use crate::plan::Form;
use crate::presets::{locktorture, plain, single_thread, spin_micro, sweep, Defaults};
use anyhow::Result;
use lockwork_report::{bail_usage, choice};

/// A named measurement.
struct Preset {
    name: &'static str,
    about: &'static str,
    defaults: fn(&BenchArgs) -> Defaults,
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "spin-micro",
        about: "milliseconds for a fixed number of loops, 1 to 8 tasks, four spinlocks",
        defaults: spin_micro::defaults,
    },
    Preset {
        name: "single-thread",
        about: "nanoseconds of an uncontended pair, called by pointer and inlined",
        defaults: single_thread::defaults,
    },
    Preset {
        name: "locktorture",
        about: "writers with short holds and rare long ones; improvement on a baseline",
        defaults: locktorture::defaults,
    },
    Preset {
        name: "sweep",
        about: "1 to 256 threads by work inside and outside: the table of docs/performance.md",
        defaults: sweep::defaults,
    },
];

/// One line a preset.
pub(crate) fn list() -> String {
    let line = |p: &Preset| format!("  {:<14} {}\n", p.name, p.about);
    PRESETS.iter().map(line).collect()
}

/// What the arguments' preset, if any, asks for.
pub(crate) fn defaults(args: &BenchArgs) -> Result<Defaults> {
    let Some(name) = &args.preset else {
        refuse_options_of_presets(args, None)?;
        return Ok(plain());
    };
    let preset = choice::one("preset", name, PRESETS, |preset| preset.name)?;
    let defaults = (preset.defaults)(args);
    refuse_options_of_presets(args, Some(defaults.form))?;
    Ok(defaults)
}

/// Options that only some presets know.
fn refuse_options_of_presets(args: &BenchArgs, form: Option<Form>) -> Result<()> {
    let single = form == Some(Form::SingleThread);
    if args.loops.is_some() && !single && form != Some(Form::SpinMicro) {
        bail_usage!("--loops is for --preset spin-micro and single-thread; leave it out");
    }
    if !args.calls.is_empty() && !single {
        bail_usage!("--calls is for --preset single-thread; leave it out");
    }
    if args.quick && args.preset.as_deref() != Some("sweep") {
        bail_usage!("--quick is for --preset sweep; leave it out, or choose --rounds and --time");
    }
    if args.plots.is_some() && form.is_some_and(|form| form != Form::Cases) {
        bail_usage!("--plots draws throughput and waits by threads, which this preset does not have; leave it out");
    }
    Ok(())
}

/// The body of the report, but for plain cases.
pub(crate) fn body(data: &Data) -> Option<String> {
    match data.header.plan.form {
        Form::Cases => None,
        Form::SpinMicro => Some(spin_micro::body(data)),
        Form::SingleThread => Some(single_thread::body(data)),
        Form::Locktorture => Some(locktorture::body(data)),
    }
}
