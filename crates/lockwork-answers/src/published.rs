// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The published figures that answers are held against.

use anyhow::{Context, Result};

const MB_CACHE: &str = include_str!("../../../data/published/qrwlock_mbcache_jpm.csv");
const LOCKTORTURE: &str =
    include_str!("../../../data/published/osq_locktorture_affinity_epyc7551.csv");
const J_STATE: &str = include_str!("../../../data/published/qrwlock_jstate_pct.csv");

/// The number in the column of that name, in the row that begins so.
fn cell(file: &str, row: &[&str], column: &str) -> Result<f64> {
    let mut lines = file.lines().filter(|line| !line.starts_with('#'));
    let found = || -> Option<f64> {
        let at = lines.next()?.split(',').position(|name| name == column)?;
        let line = lines.find(|line| {
            let mut cells = line.split(',');
            row.iter().all(|&wanted| cells.next() == Some(wanted))
        })?;
        line.split(',').nth(at)?.parse().ok()
    };
    let mut found = found;
    found().with_context(|| format!("data/published/ has no {column} of {}", row.join(", ")))
}

/// The change of `mb-cache` with 200 to 1000 users, as a share.
pub(crate) fn mb_cache(lock: &str, smt: bool) -> Result<f64> {
    let column = match lock {
        "rwlock" => "rwlock_change_pct_by_tglx",
        _ => "qrwlock_change_pct",
    };
    let percent = cell(MB_CACHE, &["200-1000", switch(smt)], column)?;
    Ok(percent / 100.0)
}

/// The change of AIM7's `load` with 200 to 1000 users, hyper-threading as printed.
pub(crate) fn j_state(load: &str, smt: bool) -> Result<f64> {
    let percent = cell(J_STATE, &[load, switch(smt)], "pct_200_1000")?;
    Ok(percent / 100.0)
}

/// The change of locktorture with the published NUMA-aware OSQ.
pub(crate) fn locktorture(writers: usize) -> Result<f64> {
    let writers = writers.to_string();
    let percent = cell(LOCKTORTURE, &[&writers], "dyn_enabled_improve_pct")?;
    Ok(percent / 100.0)
}

fn switch(on: bool) -> &'static str {
    if on {
        "on"
    } else {
        "off"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_files() {
        let close = |a: Result<f64>, b: f64| (a.expect("there") - b).abs() < 1e-9;
        assert!(close(mb_cache("qrwlock", false), 0.563));
        assert!(close(mb_cache("rwlock", true), 0.488));
        assert!(close(j_state("fserver", true), 0.322));
        assert!(close(j_state("new_fserver", false), 0.298));
        assert!(close(locktorture(4), -0.1037));
        assert!(locktorture(5).is_err());
    }
}
