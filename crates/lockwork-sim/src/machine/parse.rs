// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a file's text to a machine, or to the line that is wrong.

use toml::Spanned;

use super::boost::slowness;
use super::costs::{costs, out_of_order};
use super::fault::Fault;
use super::figure::{Basis, Figure, Ns, Us};
use super::file::{self, File};
use super::matrix;
use super::model::{
    CpuCosts, DirectedYield, Home, HypervisorCosts, LineCosts, Machine, SchedulerCosts,
};
use super::smt;
use super::topology::{sockets, Shape};

/// A machine, what its file says, and what is odd about it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The machine.
    pub machine: Machine,
    /// Its file.
    pub file: File,
    /// What is odd, but not wrong.
    pub warnings: Vec<String>,
}

/// Reads the file `text` of the machine `name`. `read` reads files beside it.
pub(super) fn parse(
    name: &str,
    text: &str,
    read: &dyn Fn(&str) -> anyhow::Result<String>,
) -> Result<Loaded, Fault> {
    let file: File = toml::from_str(text)?;
    calibrated(&file)?;
    let shape = Shape::of(&file.topology)?;
    let sockets = sockets(&file.topology, shape.sockets)?;
    let costs = costs(&file, &shape, &sockets)?;
    let matrix = match &file.matrix {
        Some(matrix) => Some(cells(&matrix.file, shape.all_cores(), read)?),
        None => None,
    };
    let machine = Machine {
        name: name.to_owned(),
        summary: file.machine.summary.clone(),
        places: shape.places(file.topology.numa),
        sockets,
        costs,
        home: match file.line.home {
            file::Home::Snoop => Home::Snoop,
            file::Home::Directory => Home::Directory,
        },
        line: line(&file.line),
        cpu: CpuCosts {
            relax: file.cpu.relax.value,
            call: file.cpu.call.value,
            fence: file.cpu.fence.value,
            store_buffer: file.cpu.store_buffer.value as u32,
        },
        smt: smt::slowdowns(&file, &shape)?,
        slowness: slowness(&file.boost, &shape)?,
        scheduler: SchedulerCosts {
            slice_us: slice(&file.scheduler.slice)?,
            wake_us: file.scheduler.wake.value,
            waker_us: file.scheduler.waker.value,
            switch_us: file.scheduler.switch.value,
            wait_call: call(&file.scheduler, file.scheduler.wait_call.as_ref())?,
            wake_call: file
                .scheduler
                .wake_call
                .as_ref()
                .map_or(0.0, |call| call.value),
        },
        hypervisor: HypervisorCosts {
            slice_us: slice(&file.hypervisor.slice)?,
            kick_us: file.hypervisor.kick.value,
            kicker_us: file.hypervisor.kicker.value,
            switch_us: file.hypervisor.switch.value,
            directed_yield: match file.hypervisor.directed_yield {
                true => DirectedYield::On,
                false => DirectedYield::Off,
            },
        },
        matrix,
    };
    let warnings = out_of_order(&machine.costs);
    Ok(Loaded {
        machine,
        file,
        warnings,
    })
}

/// What was fitted says to what, and names what it fitted.
fn calibrated(file: &File) -> Result<(), Fault> {
    let entries = file.entries();
    let fitted = file.calibration.as_ref().map(|c| &c.get_ref().fitted);
    for entry in entries.iter().filter(|e| e.basis == Basis::Calibrated) {
        if !fitted.is_some_and(|all| all.contains(&entry.path)) {
            let why = format!(
                "{} is calibrated; name it in `fitted` of [calibration], beside the rows",
                entry.path
            );
            return Err(Fault::at(entry.span.clone(), why));
        }
    }
    let Some(calibration) = &file.calibration else {
        return Ok(());
    };
    let (rows, fitted) = (&calibration.get_ref().rows, &calibration.get_ref().fitted);
    if rows.is_empty() {
        let why = "[calibration] has no rows; name the tables and columns that were fitted to";
        return Err(Fault::at(calibration.span(), why));
    }
    let start = &calibration.get_ref().start;
    let odd = fitted
        .iter()
        .find(|path| !start.is_empty() && !start.contains_key(*path));
    if let Some(path) = odd.or_else(|| start.keys().find(|path| !fitted.contains(path))) {
        let why = format!("`start` and `fitted` of [calibration] name the same; {path} is in one");
        return Err(Fault::at(calibration.span(), why));
    }
    let is = |path: &String| {
        let mut calibrated = entries.iter().filter(|e| e.basis == Basis::Calibrated);
        calibrated.any(|entry| entry.path == *path)
    };
    match fitted.iter().find(|path| !is(path)) {
        Some(path) => Err(Fault::at(
            calibration.span(),
            format!(
                "[calibration] names {path}, whose source is not \"calibrated\"; \
                 write it there, or remove the name here"
            ),
        )),
        None => Ok(()),
    }
}

fn line(line: &file::Line) -> LineCosts {
    LineCosts {
        hold: line.hold.value,
        store_hold: line.store_hold.value,
        hold_min: line.hold_min.value,
        request: line.request.value,
        invalidate: line.invalidate.value,
        occupancy: line.occupancy.value,
        near_bias: line.near_bias.value,
        respin: line.respin.value,
    }
}

/// A slice of no time would be over before anything has been done in it.
fn slice(figure: &Figure<Us>) -> Result<f64, Fault> {
    match figure.value > 0.0 {
        true => Ok(figure.value),
        false => Err(Fault::at(figure.span.clone(), "a slice is above 0")),
    }
}

/// The way in and back of a wait that does not sleep; one that does has the way in within
/// its `switch`.
fn call(scheduler: &file::Scheduler, call: Option<&Figure<Ns>>) -> Result<f64, Fault> {
    match call {
        Some(figure) if figure.value > 2000.0 * scheduler.switch.value => Err(Fault::at(
            figure.span.clone(),
            "half of wait_call is the way in, which `switch` includes: give a wait_call of at \
             most twice `switch`",
        )),
        Some(figure) => Ok(figure.value),
        None => Ok(0.0),
    }
}

fn cells(
    file: &Spanned<String>,
    cores: usize,
    read: &dyn Fn(&str) -> anyhow::Result<String>,
) -> Result<Vec<f32>, Fault> {
    let text = read(file.get_ref())
        .map_err(|error| Fault::at(file.span(), format!("{error:#}; give a readable file")))?;
    matrix::parse(&text, cores)
        .map_err(|why| Fault::at(file.span(), format!("{}: {why}", file.get_ref())))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
