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

/// Knobs of a queue that is divided by clusters of CPUs. Of the catalogue's locks those read them
/// that have the flag `LK_CLUSTERS`.
pub const OF_CLUSTERS: [&str; 6] = [
    "dynamic_enable",
    "osq_lock_depth",
    "osq_keep_times",
    "osq_node_max",
    "osq_pool",
    "osq_divide_tries",
];

/// Refuses a knob of [`OF_CLUSTERS`] among `knobs` where none of `locks` reads it. `reads` says
/// that of a lock; `others` are all locks that there are to choose from.
///
/// # Errors
/// The first such knob, and which locks read it.
pub fn read_by_one<'a>(
    knobs: impl IntoIterator<Item = &'a str>,
    locks: &[&str],
    others: &[&str],
    reads: impl Fn(&str) -> bool,
) -> Result<()> {
    if locks.is_empty() || locks.iter().any(|lock| reads(lock)) {
        return Ok(());
    }
    let Some(knob) = knobs.into_iter().find(|knob| OF_CLUSTERS.contains(knob)) else {
        return Ok(());
    };
    let others: Vec<&str> = others.iter().copied().filter(|lock| reads(lock)).collect();
    let (lock, do_not) = match locks {
        [one] => ((*one).to_owned(), "does not read"),
        all => (format!("none of {}", all.join(", ")), "reads"),
    };
    bail_usage!(
        "{lock} {do_not} {knob}, because only a queue that is divided by clusters of CPUs has it: \
         choose a lock that does ({}), or leave {knob} out",
        others.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_knob_counts() {
        let texts = ["a=1, b=2", "a = 3"].map(str::to_owned);
        let wanted = [("b", "2"), ("a", "3")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(settings(&texts, |_, _| Ok(())).expect("settings"), wanted);
    }

    #[test]
    fn a_knob_that_no_lock_reads_is_refused() {
        let others = ["plain", "divided", "also_plain"];
        let asked = |knobs: &[&'static str], locks: &[&str]| {
            read_by_one(knobs.iter().copied(), locks, &others, |lock| {
                lock == "divided"
            })
        };
        assert!(asked(&["osq_pool"], &["plain", "divided"]).is_ok());
        assert!(asked(&["spin_budget"], &["plain"]).is_ok());
        let error = asked(&["spin_budget", "osq_pool"], &["plain"]).expect_err("not read");
        assert!(usage::is(&error));
        let text = error.to_string();
        assert!(
            text.starts_with("plain does not read osq_pool, because"),
            "{text}"
        );
        assert!(
            text.ends_with("choose a lock that does (divided), or leave osq_pool out"),
            "{text}"
        );
        let error = asked(&["osq_pool"], &["plain", "also_plain"]).expect_err("not read");
        assert!(error
            .to_string()
            .starts_with("none of plain, also_plain reads osq_pool"));
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
