// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `--set` says: which knobs are to have which values.

use anyhow::Result;

use crate::{bail_usage, usage};

/// A knob, and the value to set it to.
pub type Setting = (String, String);

/// Reads one `KNOB=VALUE`.
pub fn setting(text: &str) -> Result<Setting> {
    match text.split_once('=') {
        Some((knob, value)) => Ok((knob.trim().to_owned(), value.trim().to_owned())),
        None => bail_usage!("'{text}' sets no knob; write KNOB=VALUE"),
    }
}

/// Reads all `KNOB=VALUE[,KNOB=VALUE…]`. Each must pass `validate`, which is given the knob
/// and the value: an error of it is a mistake in the command line. Of two values for
/// one knob the later one counts.
pub fn settings(
    texts: &[String],
    validate: impl Fn(&str, &str) -> Result<()>,
) -> Result<Vec<Setting>> {
    let mut all = Vec::new();
    for text in texts.iter().flat_map(|text| text.split(',')) {
        let (knob, value) = setting(text)?;
        validate(&knob, &value).map_err(usage::error)?;
        put(&mut all, (knob, value));
    }
    Ok(all)
}

/// Adds a setting, in place of an earlier one of its knob.
pub fn put(all: &mut Vec<Setting>, new: Setting) {
    all.retain(|(knob, _)| *knob != new.0);
    all.push(new);
}

const SPIN_BUDGET: &str = "spin_budget";

/// Which files of `locks/` read each knob of `platform/knobs.def`, by the name before the dot.
/// Of the user world's own knobs only `spin_budget` is here, which need_resched() and should_halt()
/// read: any lock may come to the others by the calls of its world.
const READ_IN: [(&str, &[&str]); 34] = [
    (
        SPIN_BUDGET,
        &[
            "mutex",
            "mutex_xchg",
            "numa_osq",
            "osq_lock",
            "qspinlock",
            "rwsem_spin",
        ],
    ),
    ("dynamic_enable", &["numa_osq"]),
    ("osq_lock_depth", &["numa_osq"]),
    ("osq_keep_times", &["numa_osq"]),
    ("osq_node_max", &["numa_osq"]),
    ("osq_pool", &["numa_pool"]),
    ("brief_spins", &["mutex"]),
    ("rwsem_looks", &["rwsem_spin"]),
    ("overtake_limit", &["mutex", "rwsem_sleep"]),
    ("handover_spins", &["spinners"]),
    ("broadcast_wakes", &["mutex"]),
    ("poll_rounds", &["cond"]),
    ("steal_rounds", &["qspinlock"]),
    ("short_rounds", &["qspinlock"]),
    ("steal_patience", &["qspinlock"]),
    ("pending_rounds", &["qspinlock"]),
    ("owner_rounds", &["spinners"]),
    ("wait_way", &["adapt"]),
    ("trial_naps", &["mutex", "rwsem_sleep"]),
    ("trial_us", &["adapt"]),
    ("rest_us", &["mutex"]),
    ("adapt_window", &["adapt", "adapt_choice"]),
    ("adapt_settle", &["adapt"]),
    ("adapt_proof", &["adapt_choice"]),
    ("adapt_first", &["adapt_choice"]),
    ("adapt_min_gap", &["adapt_choice"]),
    ("adapt_max_gap", &["adapt_choice"]),
    ("rwsem_reader_rounds", &["rwsem_spin"]),
    ("rwsem_batch", &["rwsem_list"]),
    ("rwsem_patience_us", &["rwsem_sleep"]),
    ("rwsem_drain_us", &["rwsem_sleep"]),
    ("rwsem_doubles", &["rwsem_sleep"]),
    ("osq_divide_tries", &["numa_divide"]),
    ("osq_arrival_looks", &["numa_osq"]),
];

/// Of which files of `locks/` each lock of the catalogue is made, as far as they read knobs. A mutex
/// spins by `spinners`, a condition variable has a mutex, the queue of a qrwlock is a qspinlock.
const MADE_OF: [(&str, &[&[&str]]); 19] = [
    ("tas_lock", &[]),
    ("ticket_lock", &[]),
    ("mcs_lock", &[]),
    ("qspinlock_fair", &[QUEUED]),
    ("qspinlock_steal", &[QUEUED]),
    ("qspinlock_tas", &[QUEUED]),
    ("qspinlock_pv", &[QUEUED]),
    ("qspinlock_auto", &[QUEUED]),
    ("rwlock", &[]),
    ("qrwlock", &[QUEUED]),
    ("osq_lock", &[&["osq_lock"]]),
    ("numa_osq", &[DIVIDED]),
    ("numa_spinlock", &[DIVIDED]),
    ("mutex_xchg", &[&["mutex_xchg"]]),
    ("mutex", &[MUTEX, ADAPTS]),
    ("mutex_numa", &[MUTEX, ADAPTS, DIVIDED]),
    ("rwsem", &[RWSEM, ADAPTS]),
    ("rwsem_numa", &[RWSEM, ADAPTS, DIVIDED]),
    ("cond", &[&["cond"], MUTEX, ADAPTS]),
];

const QUEUED: &[&str] = &["qspinlock"];
const DIVIDED: &[&str] = &["numa_osq", "numa_pool", "numa_divide"];
const MUTEX: &[&str] = &["mutex"];
const RWSEM: &[&str] = &["rwsem_spin", "rwsem_sleep", "rwsem_list"];
const ADAPTS: &[&str] = &["spinners", "adapt", "adapt_choice"];

/// Knobs that a file reads for some of its locks only: a qspinlock in some modes, a numa_osq while
/// its waiters may leave, which those of a numa_spinlock may not.
const IN_MODES: [(&str, &str, &[&str]); 4] = [
    (
        "steal_rounds",
        "qspinlock",
        &["qspinlock_steal", "qspinlock_pv", "qspinlock_auto"],
    ),
    (
        "short_rounds",
        "qspinlock",
        &["qspinlock_pv", "qspinlock_auto"],
    ),
    (
        SPIN_BUDGET,
        "qspinlock",
        &["qspinlock_pv", "qspinlock_auto"],
    ),
    (
        SPIN_BUDGET,
        "numa_osq",
        &["numa_osq", "mutex_numa", "rwsem_numa"],
    ),
];

/// Whether a lock of the catalogue reads a knob. Each lock may read one that is not in the table,
/// and a lock that is not there may read any.
#[must_use]
pub fn reads(lock: &str, knob: &str) -> bool {
    let Some((_, files)) = READ_IN.iter().find(|(name, _)| *name == knob) else {
        return true;
    };
    let Some((_, made_of)) = MADE_OF.iter().find(|(name, _)| *name == lock) else {
        return true;
    };
    let in_mode = |file: &str| {
        let mut modes = IN_MODES.iter();
        let found = modes.find(|(name, of, _)| *name == knob && *of == file);
        found.is_none_or(|(_, _, locks)| locks.contains(&lock))
    };
    let made_of = made_of.concat();
    let mut read = files.iter().filter(|file| made_of.contains(file));
    read.any(|file| in_mode(file))
}

/// Refuses a knob among `knobs` that none of `locks` reads. `reads` says that of a lock and a
/// knob; `others` are all locks that there are to choose from.
///
/// # Errors
/// The first such knob, and which locks read it.
pub fn read_by_one<'a>(
    knobs: impl IntoIterator<Item = &'a str>,
    locks: &[&str],
    others: &[&str],
    reads: impl Fn(&str, &str) -> bool,
) -> Result<()> {
    let unread = |knob: &&str| !locks.iter().any(|lock| reads(lock, knob));
    let Some(knob) = knobs.into_iter().find(unread).filter(|_| !locks.is_empty()) else {
        return Ok(());
    };
    let mut others = others.to_vec();
    others.retain(|lock| reads(lock, knob));
    let (lock, do_not) = match locks {
        [one] => ((*one).to_owned(), "does not read"),
        all => (format!("none of {}", all.join(", ")), "reads"),
    };
    if others.is_empty() {
        bail_usage!("{lock} {do_not} {knob}, and no other lock here does: leave {knob} out");
    }
    bail_usage!(
        "{lock} {do_not} {knob}: choose a lock that does ({}), or leave {knob} out",
        others.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_last_value_of_a_knob_counts() {
        let texts = ["a=1, b=2", "a = 3"].map(str::to_owned);
        let wanted = [("b", "2"), ("a", "3")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(settings(&texts, |_, _| Ok(())).expect("settings"), wanted);
    }

    #[test]
    fn a_knob_that_no_lock_reads_is_refused() {
        let others = ["tas_lock", "mutex", "mutex_numa", "rwsem", "rwsem_numa"];
        let asked = |knobs: &[&'static str], locks: &[&str]| {
            read_by_one(knobs.iter().copied(), locks, &others, reads)
        };
        assert!(asked(&["osq_pool"], &["mutex", "mutex_numa"]).is_ok());
        assert!(asked(&["give_way_us"], &["tas_lock"]).is_ok());
        for lock in [
            "osq_lock",
            "mutex_xchg",
            "qspinlock_pv",
            "rwsem_numa",
            "cond",
        ] {
            assert!(asked(&["spin_budget"], &[lock]).is_ok(), "{lock}");
        }
        for lock in ["tas_lock", "qspinlock_fair", "qrwlock", "numa_spinlock"] {
            assert!(asked(&["spin_budget"], &[lock]).is_err(), "{lock}");
        }
        assert!(asked(&["rest_us"], &[]).is_ok());
        assert!(asked(&["rest_us"], &["a_new_lock"]).is_ok());
        assert!(asked(&["brief_spins"], &["mutex"]).is_ok());
        assert!(asked(&["brief_spins"], &["qspinlock_fair"]).is_err());
        assert!(asked(&["short_rounds"], &["qspinlock_pv"]).is_ok());
        assert!(asked(&["short_rounds"], &["qspinlock_steal", "qrwlock"]).is_err());
        let error = asked(&["spin_budget", "osq_pool"], &["mutex"]).expect_err("not read");
        assert!(usage::is(&error));
        assert_eq!(
            error.to_string(),
            "mutex does not read osq_pool: choose a lock that does (mutex_numa, rwsem_numa), \
             or leave osq_pool out"
        );
        let error = asked(&["rest_us"], &["tas_lock", "rwsem"]).expect_err("not read");
        let text = error.to_string();
        assert!(
            text.starts_with(
                "none of tas_lock, rwsem reads rest_us: choose a lock that does (mutex"
            ),
            "{text}"
        );
        let error = asked(&["poll_rounds"], &["mutex"]).expect_err("not read");
        let text = error.to_string();
        assert!(
            text.ends_with("no other lock here does: leave poll_rounds out"),
            "{text}"
        );
    }

    /// A C source without its comments.
    fn code(text: &str) -> String {
        let mut code = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("/*") {
            code.push_str(before);
            rest = after.split_once("*/").map_or("", |(_, after)| after);
        }
        code + rest
    }

    /// The table is what the sources say: all knobs of all worlds and the spin budget, and for each
    /// the files that read it.
    #[test]
    fn knobs_are_read_where_the_table_says() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let def = fs::read_to_string(root.join("platform/knobs.def")).expect("knobs.def");
        let names: Vec<&str> = ["LK_KNOB(", "LK_LIMIT(", "LK_PARAM("]
            .iter()
            .flat_map(|start| def.lines().filter_map(|line| line.strip_prefix(*start)))
            .filter_map(|line| line.split(',').next())
            .chain([SPIN_BUDGET])
            .collect();
        let mut files: Vec<(String, String)> = Vec::new();
        for entry in fs::read_dir(root.join("locks")).expect("locks/") {
            let path = entry.expect("an entry").path();
            let stem = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            files.push((stem, code(&fs::read_to_string(&path).expect("a source"))));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in &names {
            let limit = format!("{name}()");
            let knob = format!("knob({name})");
            let reads = |text: &str| {
                let calls = |(at, _): (usize, &str)| !text[..at].ends_with(is_name);
                let budget = ["need_resched()", "should_halt("];
                match *name {
                    SPIN_BUDGET => budget.iter().any(|call| text.contains(call)),
                    _ => text.contains(&knob) || text.match_indices(&limit).any(calls),
                }
            };
            let readers = files.iter().filter(|(_, text)| reads(text));
            let found: BTreeSet<&str> = readers.map(|(stem, _)| stem.as_str()).collect();
            let told = READ_IN.iter().find(|(knob, _)| knob == name);
            let told = told.map_or(&[][..], |(_, files)| files);
            assert_eq!(
                told.iter().copied().collect::<BTreeSet<_>>(),
                found,
                "{name}"
            );
        }
        assert_eq!(names.len(), READ_IN.len());
        for (knob, files) in READ_IN {
            let used = |file: &&str| MADE_OF.iter().any(|(_, of)| of.concat().contains(file));
            assert!(files.iter().all(used), "{knob}");
        }
    }

    #[test]
    fn mistakes_are_not_passed_over() {
        let validate = |knob: &str, value: &str| match value {
            "x" => anyhow::bail!("no x for {knob}"),
            _ => Ok(()),
        };
        for (wrong, words) in [
            ("a", "'a' sets no knob; write KNOB=VALUE"),
            ("a=1,", "'' sets no knob; write KNOB=VALUE"),
            ("", "'' sets no knob; write KNOB=VALUE"),
            ("a=x,a=1", "no x for a"),
        ] {
            let error = settings(&[wrong.to_owned()], validate).expect_err(wrong);
            assert_eq!(error.to_string(), words);
            assert!(usage::is(&error), "{wrong}");
        }
    }
}
