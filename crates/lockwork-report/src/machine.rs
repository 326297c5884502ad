// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The machine that the numbers are from.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// Facts about the machine at the start of a measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Machine {
    /// CPUs that this process may use.
    pub cpus: usize,
    /// CPUs that are online.
    pub cpus_online: usize,
    /// Sockets, if the kernel says how many.
    #[serde(default)]
    pub sockets: Option<usize>,
    /// The processor's name, if the kernel gives one.
    pub model: Option<String>,
    /// The architecture, as uname says it.
    pub arch: String,
    /// The kernel's release.
    pub kernel: String,
    /// The C library's version.
    pub glibc: String,
    /// The frequency governor of the first CPU, if there is one.
    pub governor: Option<String>,
    /// The load average over the last minute, before the first run.
    pub load: f64,
}

impl Machine {
    /// Looks at the machine.
    pub fn look() -> Machine {
        let (kernel, arch) = uname();
        // SAFETY: sysconf reads a number; glibc's version is a static string.
        let (online, glibc) = unsafe {
            let glibc = CStr::from_ptr(libc::gnu_get_libc_version());
            (libc::sysconf(libc::_SC_NPROCESSORS_ONLN), glibc)
        };
        Machine {
            cpus: cpus(),
            cpus_online: usize::try_from(online).unwrap_or(1),
            sockets: sockets(),
            model: model(),
            arch,
            kernel,
            glibc: glibc.to_string_lossy().into_owned(),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: read("/proc/loadavg")
                .and_then(|text| text.split(' ').next()?.parse().ok())
                .unwrap_or(0.0),
        }
    }

    /// Others took a quarter of its CPUs. The load is that of the whole machine.
    fn is_busy(&self) -> bool {
        self.load > (self.cpus_online as f64 / 4.0).max(0.5)
    }

    /// What about the machine limits what can be concluded.
    pub fn warnings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.cpus <= 2 {
            all.push(format!(
                "only {} CPU{}: says little about machines with more, where lines move \
                 between caches and sockets",
                self.cpus,
                if self.cpus == 1 { "" } else { "s" }
            ));
        }
        if self.cpus > 2 && self.sockets == Some(1) {
            all.push("only one socket: says little about lines that move between sockets".into());
        }
        if self.is_busy() {
            all.push(format!(
                "the machine was busy at the start (load {:.1} on {} CPUs)",
                self.load, self.cpus_online
            ));
        }
        if let Some(governor) = self.governor.as_ref().filter(|g| *g != "performance") {
            all.push(format!(
                "the CPUs' frequency may change during runs (governor {governor})"
            ));
        }
        all
    }
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

/// How many different packages the online CPUs are in.
fn sockets() -> Option<usize> {
    let cpus = fs::read_dir("/sys/devices/system/cpu").ok()?;
    let package = |cpu: fs::DirEntry| {
        let file = cpu.path().join("topology/physical_package_id");
        fs::read_to_string(file).ok()
    };
    let packages: HashSet<String> = cpus.flatten().filter_map(package).collect();
    (!packages.is_empty()).then_some(packages.len())
}

fn model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn uname() -> (String, String) {
    // SAFETY: uname fills every field with a C string.
    unsafe {
        let mut name: libc::utsname = std::mem::zeroed();
        libc::uname(&mut name);
        let text = |field: &[libc::c_char]| {
            CStr::from_ptr(field.as_ptr())
                .to_string_lossy()
                .into_owned()
        };
        (text(&name.release), text(&name.machine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(cpus: usize, sockets: Option<usize>) -> String {
        let machine = Machine {
            cpus,
            sockets,
            load: 0.0,
            governor: None,
            ..Machine::look()
        };
        machine.warnings().join("; ")
    }

    #[test]
    fn says_what_a_small_machine_cannot_show() {
        assert!(warnings(2, Some(1)).contains("only 2 CPUs"));
        assert!(warnings(1, None).contains("only 1 CPU:"));
        assert!(warnings(16, Some(1)).contains("only one socket"));
        assert_eq!(warnings(16, Some(2)), "");
        assert_eq!(warnings(16, None), "");
    }
}
