// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The environment that puts a lock under a program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cache::{PASSTHROUGH, PRELOAD, RECORD};
use crate::error::{Exit, OWN_ERROR};
use crate::policy::Interposer;
use crate::program;
use crate::spec::LockSpec;
use lockwork_report::text;

/// A variable, and its value or `None` to remove it.
pub type Change = (&'static str, Option<OsString>);

/// What to change in the environment so that a program uses `spec`. Unpacks
/// the interposer.
pub fn changes(spec: &LockSpec) -> Result<Vec<Change>> {
    if spec.policy.interposer == Interposer::Lockwork {
        validate_clusters()?;
    }
    let library = match spec.policy.interposer {
        Interposer::None => None,
        Interposer::Passthrough => Some(PASSTHROUGH.unpack()?),
        Interposer::Lockwork => Some(PRELOAD.unpack()?),
    };
    let existing = env::var_os("LD_PRELOAD");
    let preload = match library {
        Some(library) => Some(prepend(library.as_os_str(), existing.as_deref())),
        None => existing.and_then(|old| without_ours(&old)),
    };
    let (lock, settings) = if spec.policy.interposer == Interposer::Lockwork {
        let settings = spec.settings_text();
        let settings = Some(settings).filter(|s| !s.is_empty());
        (Some(spec.policy.name.into()), settings.map(Into::into))
    } else {
        (None, None)
    };
    Ok(vec![
        ("LD_PRELOAD", preload),
        ("LOCKWORK_LOCK", lock),
        ("LOCKWORK_SET", settings),
        ("LOCKWORK_RECORD", None),
    ])
}

/// The recorder that `lockwork profile` has put around this process.
fn recorder_around() -> Option<PathBuf> {
    let existing = env::var_os("LD_PRELOAD").unwrap_or_default();
    let recorder = entries(&existing).find(|entry| RECORD.owns(file_name(entry)));
    let recorder = recorder.filter(|_| env::var_os("LOCKWORK_RECORD").is_some())?;
    Some(PathBuf::from(OsStr::from_bytes(recorder)))
}

/// Whether this process is recorded by `lockwork profile`.
pub fn is_recorded() -> bool {
    recorder_around().is_some()
}

/// Keeps the recorder that `lockwork profile` has put around this process: it stays before the
/// interposer, and goes on with its file.
pub fn keep_recorder(changes: &mut Vec<Change>) {
    let Some(recorder) = recorder_around() else {
        return;
    };
    changes.retain(|(variable, _)| *variable != "LOCKWORK_RECORD");
    for (variable, value) in changes {
        if *variable == "LD_PRELOAD" {
            let rest = value.take().unwrap_or_default();
            *value = Some(led_by(&rest, std::slice::from_ref(&recorder)));
        }
    }
}

/// Puts `runtimes` first in the `LD_PRELOAD` of `changes`, if there is one: the
/// program's sanitizers ([`program::sanitizers`](crate::program::sanitizers)). Behind the
/// interposer they would not see the program's lock calls.
pub fn put_first(changes: &mut [Change], runtimes: &[PathBuf]) {
    for (variable, value) in changes {
        if let (&mut "LD_PRELOAD", Some(preload)) = (variable, value) {
            *preload = led_by(preload, runtimes);
        }
    }
}

fn led_by(preload: &OsStr, runtimes: &[PathBuf]) -> OsString {
    let first = runtimes.iter().map(|path| path.as_os_str().as_bytes());
    let is_runtime = |entry: &[u8]| {
        let named = |path: &PathBuf| file_name(path.as_os_str().as_bytes()) == file_name(entry);
        runtimes.iter().any(named)
    };
    let rest = entries(preload).filter(|entry| !is_runtime(entry));
    let all: Vec<&[u8]> = first.chain(rest).filter(|e| !e.is_empty()).collect();
    OsString::from_vec(all.join(&b':'))
}

/// The same, with the recorder before all else but the sanitizers of `program`. It writes to `file`.
pub fn recording(spec: &LockSpec, file: &Path, program: &Path) -> Result<Vec<Change>> {
    let recorder = RECORD.unpack()?;
    let mut changes = changes(spec)?;
    for (variable, value) in &mut changes {
        match *variable {
            "LD_PRELOAD" => {
                let mut all = recorder.clone().into_os_string();
                if let Some(rest) = value.take() {
                    all.push(":");
                    all.push(rest);
                }
                *value = Some(all);
            }
            "LOCKWORK_RECORD" => *value = Some(file.into()),
            _ => {}
        }
    }
    put_first(&mut changes, &program::sanitizers(program));
    Ok(changes)
}

/// Says that `LOCKWORK_LOCK` and `LOCKWORK_SET` in our own environment count for
/// nothing: [`changes`] takes their place, from the option `lock` and `--set`. Says
/// nothing where the interposer is loaded already: inside of `lockwork run`, they are
/// that one's.
pub fn warn_of_unused(lock: &str) {
    let preload = env::var_os("LD_PRELOAD").unwrap_or_default();
    if entries(&preload).any(|entry| PRELOAD.owns(file_name(entry))) {
        return;
    }
    for (variable, what, option) in [
        ("LOCKWORK_LOCK", "the lock", lock),
        ("LOCKWORK_SET", "its settings", "--set"),
    ] {
        if let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) {
            let value = value.to_string_lossy().escape_debug().to_string();
            text::complain(&format!(
                "lockwork: {variable} is not used; give {what} by {option} '{value}'\n"
            ));
        }
    }
}

/// The program would ask for its clusters late, or never, so that nobody saw what
/// it complains about.
fn validate_clusters() -> Result<()> {
    let Some(map) = env::var_os("LOCKWORK_CLUSTERS") else {
        return Ok(());
    };
    // Sets them here, where no lock asks; what counts is that they can be set.
    lockwork_catalogue::set_clusters(&map.to_string_lossy())
        .map_err(|error| Exit::with(OWN_ERROR, format!("LOCKWORK_CLUSTERS: {error}")))
}

fn prepend(library: &OsStr, existing: Option<&OsStr>) -> OsString {
    let mut value = library.to_os_string();
    if let Some(rest) = existing.and_then(without_ours) {
        value.push(":");
        value.push(rest);
    }
    value
}

/// What is in an `LD_PRELOAD`.
fn entries(preload: &OsStr) -> impl Iterator<Item = &[u8]> {
    preload.as_bytes().split(|b| b" :".contains(b))
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&b| b == b'/').next().unwrap_or(path)
}

/// `LD_PRELOAD` without interposers of ours, so that a comparison inside
/// `lockwork run` still compares with plain glibc. Untouched if there are none.
fn without_ours(value: &OsStr) -> Option<OsString> {
    let is_ours = |entry: &[u8]| {
        let name = file_name(entry);
        PRELOAD.owns(name) || PASSTHROUGH.owns(name) || RECORD.owns(name)
    };
    if !entries(value).any(is_ours) {
        return Some(value.to_os_string()).filter(|v| !v.is_empty());
    }
    let rest: Vec<&[u8]> = entries(value)
        .filter(|e| !e.is_empty() && !is_ours(e))
        .collect();
    Some(OsString::from_vec(rest.join(&b':'))).filter(|v| !v.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prepends_and_keeps_what_was_there() {
        let value = prepend(OsStr::new("/c/a.so"), Some(OsStr::new("/x.so /y.so")));
        assert_eq!(value, "/c/a.so:/x.so /y.so");
        assert_eq!(prepend(OsStr::new("/c/a.so"), None), "/c/a.so");
        assert_eq!(
            prepend(OsStr::new("/c/a.so"), Some(OsStr::new(""))),
            "/c/a.so"
        );
    }

    #[test]
    fn a_sanitizer_comes_first_and_once() {
        let runtime = [PathBuf::from("/lib/libtsan.so.2")];
        let value = led_by(OsStr::new("/c/a.so:/x/libtsan.so.2 /y.so"), &runtime);
        assert_eq!(value, "/lib/libtsan.so.2:/c/a.so:/y.so");
        assert_eq!(led_by(OsStr::new("/c/a.so"), &[]), "/c/a.so");
    }

    #[test]
    fn removes_only_our_own() {
        let ours = "/c/liblockwork-preload-0123.so";
        assert_eq!(without_ours(OsStr::new(ours)), None);
        let mixed = format!("/x.so:{ours} /y.so");
        assert_eq!(without_ours(OsStr::new(&mixed)), Some("/x.so:/y.so".into()));
    }
}
