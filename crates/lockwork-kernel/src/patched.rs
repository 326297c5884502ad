// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Builds Debian's kernel with the patches, in the cache.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use lockwork_report::{bail_usage, text};

use crate::key::Key;
use crate::linux::{self, Linux};
use crate::series;
use crate::series::patch::{ours, patches, Series};
use crate::series::tree::{Files, Tree};
use crate::work::{self, Work};

/// In a build's folder, once it is complete: the key of what it was made of.
const MADE_OF: &str = "lockwork-made-of";

/// What the kernel checks of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Nothing.
    Plain,
    /// The order in which locks are taken, and in what contexts.
    Lockdep,
    /// That data which several CPUs use have locks or are marked.
    Kcsan,
}

impl Flavour {
    fn name(self) -> &'static str {
        match self {
            Flavour::Plain => "plain",
            Flavour::Lockdep => "lockdep",
            Flavour::Kcsan => "kcsan",
        }
    }
}

/// Which kernel.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) flavour: Flavour,
    /// Of the options of the patches only these are on; if there is none here, those of
    /// `kernel/config/patched.config`.
    pub(crate) options: Vec<String>,
    /// Only the patches of this series.
    pub(crate) series: Option<Series>,
    /// How many of these patches it has; all if there are fewer.
    pub(crate) patches: usize,
    /// The options of the patches are off.
    pub(crate) off: bool,
}

impl Choice {
    fn folder(&self) -> String {
        let off = if self.off { "-off" } else { "" };
        format!("{}{off}", self.flavour.name())
    }

    /// What its configuration is made of, over allnoconfig. `defined`: the options of the
    /// patches that it has.
    fn config(&self, defined: &str) -> Result<String> {
        let mut text = ours("kernel/config/guest.config")?;
        let all: Vec<&str> = defined
            .lines()
            .filter_map(|line| line.strip_prefix("config "))
            .collect();
        if let Some(name) = self
            .options
            .iter()
            .find(|name| !all.contains(&name.as_str()))
        {
            bail_usage!(
                "the patches have no option {name}; choose from {}",
                all.join(", ")
            );
        }
        text.extend(self.options.iter().map(|name| format!("CONFIG_{name}=y\n")));
        if !self.off && self.options.is_empty() {
            let ours = ours("kernel/config/patched.config")?;
            let has = |line: &&str| {
                let line = line.strip_prefix("CONFIG_");
                line.and_then(|line| line.strip_suffix("=y"))
                    .is_some_and(|name| all.contains(&name))
            };
            text.extend(ours.lines().filter(has).map(|line| format!("{line}\n")));
        }
        if self.flavour != Flavour::Plain {
            text += &ours(&format!("kernel/config/{}.config", self.flavour.name()))?;
        }
        Ok(text)
    }
}

/// The kernel, built if it is not yet there as it should be.
pub(crate) fn build(choice: &Choice, work: &Work) -> Result<Linux> {
    let home = work.cache.join("linux-patched");
    let source = home.join("source");
    let build = home.join(choice.folder());
    let made = build.join(MADE_OF);
    // What is built can be used while another kernel is being built.
    if source.join("Makefile").is_file() {
        let parts = Parts::of(choice, &source)?;
        if fs::read_to_string(&made).is_ok_and(|old| old == parts.key()) {
            return linux::built(&build);
        }
    }
    let _one = lock(&home)?;
    let parts = set_up(choice, &source, &build, work)?;
    work.progress.step(&format!(
        "building Linux {} with {} patches, {}: many minutes the first time",
        parts.version,
        parts.patches,
        choice.folder()
    ));
    let mut make = make(&source, &build);
    make.arg(work::jobs()).args(["bzImage", "modules"]);
    work::run(&mut make, "make", work)?;
    fs::write(&made, parts.key())?;
    linux::built(&build)
}

/// Compiles only what the patches change and add, and says what that was.
pub(crate) fn compile(choice: &Choice, work: &Work) -> Result<String> {
    let home = work.cache.join("linux-patched");
    let (source, build) = (home.join("source"), home.join(choice.folder()));
    let _one = lock(&home)?;
    let parts = set_up(choice, &source, &build, work)?;
    work.progress.step("compiling what the patches change");
    let config = fs::read_to_string(build.join(".config"))?;
    let files = parts
        .files
        .keys()
        .filter_map(|path| path.strip_suffix(".c"));
    let (files, others): (Vec<&str>, Vec<&str>) =
        files.partition(|file| is_configured(file, &source, &config));
    let mut make = make(&source, &build);
    make.arg(work::jobs());
    make.args(files.iter().map(|file| format!("{file}.o")));
    work::run(&mut make, "make", work)?;
    let mut said = format!("{} compiled\n", text::counted(files.len(), "file"));
    for file in others {
        said += &format!("not in this configuration: {file}.c\n");
    }
    Ok(said)
}

/// Whether the folder of `file` is a part of the kernel: it may belong to an option that is off.
fn is_configured(file: &str, source: &Path, config: &str) -> bool {
    let Some((folder, _)) = file.rsplit_once('/') else {
        return true;
    };
    let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
    let makefile = fs::read_to_string(source.join(parent).join("Makefile")).unwrap_or_default();
    let option = makefile.lines().find_map(|line| {
        let (option, objects) = line.strip_prefix("obj-$(")?.split_once(')')?;
        let mut objects = objects.split_whitespace();
        objects
            .any(|object| object.strip_suffix('/') == Some(name))
            .then_some(option)
    });
    option.is_none_or(|option| {
        let on = |value: &str| {
            config
                .lines()
                .any(|line| line == format!("{option}={value}"))
        };
        on("y") || on("m")
    })
}

/// Has the sources there with the patches, and a configuration of `build`.
fn set_up(choice: &Choice, source: &Path, build: &Path, work: &Work) -> Result<Parts> {
    if !source.join("Makefile").is_file() {
        work.progress.step("unpacking Debian's kernel sources");
        let part = source.with_file_name("unpacking");
        let _ = fs::remove_dir_all(&part);
        series::unpack(&part, &[], work)?;
        fs::rename(&part, source)?;
    }
    let parts = Parts::of(choice, source)?;
    Tree::open(source)?.install(&parts.files)?;
    fs::create_dir_all(build)?;
    let _ = fs::remove_file(build.join(MADE_OF));
    configure(&parts.config, source, build, work)?;
    Ok(parts)
}

/// One build at a time in one folder.
fn lock(home: &Path) -> Result<fs::File> {
    let failed = || format!("cannot write to {}", home.display());
    fs::create_dir_all(home).with_context(failed)?;
    let file = fs::File::create(home.join("lock")).with_context(failed)?;
    // SAFETY: the descriptor is open; no memory is touched.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        bail!(
            "another lockwork builds a kernel in {}; wait until it has ended",
            home.display()
        );
    }
    Ok(file)
}

fn make(source: &Path, build: &Path) -> Command {
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(source);
    make.arg(format!("O={}", build.display()));
    make
}

/// Writes the configuration. Each line that is asked for must be in it.
fn configure(text: &str, source: &Path, build: &Path, work: &Work) -> Result<()> {
    let fragment = build.join("fragment.config");
    fs::write(&fragment, text)?;
    let mut allno = make(source, build);
    allno.arg(format!("KCONFIG_ALLCONFIG={}", fragment.display()));
    work::run(allno.arg("allnoconfig"), "make allnoconfig", work)?;
    let config = fs::read_to_string(build.join(".config"))?;
    let missing = text
        .lines()
        .filter(|line| line.starts_with("CONFIG_") && !line.ends_with("=n"))
        .find(|line| !config.lines().any(|have| have == *line));
    match missing {
        None => Ok(()),
        Some(line) => bail!("this kernel does not take {line}"),
    }
}

/// What a built kernel depends on.
struct Parts {
    version: String,
    patches: usize,
    /// Files of the kernel that are changed, and ours.
    files: Files,
    config: String,
}

impl Parts {
    fn of(choice: &Choice, source: &Path) -> Result<Self> {
        let mut patches = patches(choice.series)?;
        patches.truncate(choice.patches);
        let tree = Tree::open(source)?;
        let steps = series::steps(&tree, &patches)?;
        let files: Files = steps.into_iter().flatten().collect();
        let defined = files.get("kernel/locking/lockwork/Kconfig");
        Ok(Self {
            version: tree.version()?,
            patches: patches.len(),
            config: choice.config(defined.map_or("", String::as_str))?,
            files,
        })
    }

    fn key(&self) -> String {
        let mut key = Key::of(&format!("{}\n{}", self.version, self.config));
        for (path, text) in &self.files {
            key.file(path, text.as_bytes());
        }
        key.name()
    }
}
