// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork machine measure`: the file of the machine that this runs on.

mod alone;
mod fill;
mod pairs;
mod plan;
mod regular;
mod runner;
mod sysfs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{bail, Context, Result};
use lockwork_report::interrupt::Interrupted;
use lockwork_report::machine::Machine as Host;
use lockwork_report::{bail_usage, page, text, usage};

use super::args::MeasureArgs;
use super::shipped::open_file;
use super::{show, write};
use runner::Runner;
use sysfs::Sysfs;

/// Measures, and writes the file and the matrix beside it.
///
/// # Errors
/// The files are there already or cannot be written, or a CPU cannot be used.
pub(super) fn run(args: &MeasureArgs) -> Result<ExitCode> {
    let csv = targets(&args.output, args.force)?;
    let sysfs = look(args)?;
    let regular = regular::regular(&sysfs);
    let host = Host::look();
    let mut warnings = regular.warnings.clone();
    warnings.extend(about_host(&host));
    show::warn(&warnings);
    let runner = Runner::new()?;
    let measured = match plan::measure(&runner, &regular, &sysfs, args.seconds) {
        Ok(measured) => measured,
        Err(error) => {
            let signal: Interrupted = error.downcast()?;
            text::complain("lockwork: interrupted; nothing was written\n");
            return Ok(signal.into());
        }
    };
    show::warn(&measured.warnings);
    warnings.extend(measured.warnings.iter().cloned());
    let source = format!("measured, {}, lockwork machine measure", today());
    let matrix_name = csv.file_name().unwrap_or_default().to_string_lossy();
    let file = fill::file(&measured, &regular, &host, &source, &matrix_name);
    let notes = notes(&host, &warnings);
    if file.matrix.is_some() {
        save(&csv, &fill::matrix_csv(&measured, &source))?;
    }
    save(&args.output, &write::text(&file, &notes))?;
    let loaded = open_file(&args.output)?;
    show::warn(&loaded.warnings);
    text::print(&format!(
        "{}: written. {}\n",
        args.output.display(),
        show::counts(&loaded)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Other names would not be known as those of files.
pub(super) fn is_toml(output: &Path) -> Result<()> {
    if output.extension().is_none_or(|ending| ending != "toml") {
        bail_usage!(
            "a machine's file must end in .toml; write to {} instead",
            output.with_extension("toml").display()
        );
    }
    Ok(())
}

/// The CSV file beside the output. Existing files are refused.
fn targets(output: &Path, force: bool) -> Result<PathBuf> {
    is_toml(output)?;
    let csv = output.with_extension("csv");
    if csv.file_name().is_none_or(|name| name.to_str().is_none()) {
        bail_usage!(
            "the file names its matrix, so its own name must be UTF-8, and '{}' is not: give another \
             -o FILE",
            output.display()
        );
    }
    for file in [output, &csv] {
        if file.exists() && !force {
            bail!(
                "{} already exists; give another -o FILE, or --force to overwrite it",
                file.display()
            );
        }
    }
    let directory = output.parent().filter(|dir| !dir.as_os_str().is_empty());
    if directory.is_some_and(|dir| !dir.is_dir()) {
        bail!(
            "the directory of {} does not exist; create it first",
            output.display()
        );
    }
    // Before minutes of measuring, not after them.
    for file in [output, &csv] {
        page::writable(file).context("give an -o FILE in a folder that you can write to")?;
    }
    Ok(csv)
}

fn save(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// The CPUs that were asked for and that may be used.
fn look(args: &MeasureArgs) -> Result<Sysfs> {
    let mut cpus = runner::allowed()?;
    if let Some(list) = &args.cpus {
        let wanted =
            sysfs::parse_list(list).map_err(|error| usage::error(format!("--cpus: {error:#}")))?;
        if let Some(cpu) = wanted.iter().find(|cpu| !cpus.contains(cpu)) {
            bail_usage!("--cpus: CPU {cpu} is not there, or may not be used; leave it out");
        }
        cpus = wanted;
    }
    if cpus.is_empty() {
        bail_usage!("--cpus names no CPU; give a list as in 0-3,8");
    }
    Sysfs::read(Path::new("/sys"), &cpus)
}

/// What about the machine makes the numbers worth less.
fn about_host(host: &Host) -> Vec<String> {
    let mut all = Vec::new();
    if is_virtual() {
        all.push(
            "this runs under a hypervisor: where CPUs are may be made up, \
             and they may lose their CPU at any time"
                .to_owned(),
        );
    }
    if host.load > 0.5 {
        all.push(format!(
            "CPUs are busy with something else (load {:.1} at the start)",
            host.load
        ));
    }
    if let Some(governor) = host.governor.as_ref().filter(|g| *g != "performance") {
        all.push(format!(
            "the CPUs' frequency may change while this measures (governor {governor})"
        ));
    }
    all
}

fn is_virtual() -> bool {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut flags = info.lines().filter(|line| line.starts_with("flags"));
    let flag = flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    flag || Path::new("/sys/hypervisor/type").exists()
}

/// What stands on top of the file.
fn notes(host: &Host, warnings: &[String]) -> Vec<String> {
    let model = host.model.as_deref().unwrap_or("an unnamed processor");
    // What comes after the version is the builder's own.
    let kernel = host.kernel.split('-').next().unwrap_or_default();
    let mut notes = vec![
        format!("{model}, Linux {kernel}, measured on itself."),
        "One way of a line between cores is half a round trip of compare-and-swaps;".into(),
        "load and store are taken to cost the same. What is assumed cannot be measured".into(),
        "so. docs/machines.md says how each number was found.".into(),
    ];
    notes.extend(
        warnings
            .iter()
            .map(|warning| format!("Warning: {warning}.")),
    );
    notes
}

/// The date, UTC.
fn today() -> String {
    // SAFETY: both calls only fill what they are given.
    unsafe {
        let mut date: libc::tm = std::mem::zeroed();
        let now = libc::time(std::ptr::null_mut());
        libc::gmtime_r(&now, &mut date);
        format!(
            "{:04}-{:02}-{:02}",
            date.tm_year + 1900,
            date.tm_mon + 1,
            date.tm_mday
        )
    }
}

#[cfg(test)]
mod tests;
