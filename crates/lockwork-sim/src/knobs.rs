// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The locks' knobs, which a simulation may set, as the table has them that all worlds
//! share (platform/knobs.def).

use anyhow::Result;
use lockwork_report::{bail_usage, choice, settings};

/// A control of the locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// What users type.
    pub name: &'static str,
    /// One line, which says the unit.
    pub help: &'static str,
    /// Names of the values from 0 up; none: it is a number.
    pub words: Vec<&'static str>,
    /// The least value.
    pub min: u32,
    /// The greatest.
    pub max: u32,
    /// What it is in a simulation that does not set it.
    pub default: u32,
}

/// A knob and the value that it is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The knob's name.
    pub knob: &'static str,
    /// The value.
    pub value: u32,
}

impl Knob {
    /// A value, as users type it.
    pub fn show(&self, value: u32) -> String {
        match self.words.get(value as usize) {
            Some(word) => (*word).to_owned(),
            None => value.to_string(),
        }
    }

    /// Which values it takes.
    pub fn range(&self) -> String {
        match self.words.is_empty() {
            true => format!("{} to {}", self.min, self.max),
            false => self.words.join(", "),
        }
    }

    fn read(&self, text: &str) -> Option<u32> {
        let word = self.words.iter().position(|word| *word == text);
        let number = || text.parse().ok().filter(|_| self.words.is_empty());
        word.map(|at| at as u32)
            .or_else(number)
            .filter(|value| (self.min..=self.max).contains(value))
    }
}

/// What `KNOB=VALUE[,KNOB=VALUE…]` ask for, each knob once.
///
/// # Errors
/// There is no such knob in `known`, or it does not take the value: says what would do.
pub fn settings(texts: &[String], known: &[Knob]) -> Result<Vec<Setting>> {
    let read = |name: &str, value: &str| setting(name, value, known);
    let all = settings::settings(texts, |name, value| read(name, value).map(drop))?;
    all.iter().map(|(name, value)| read(name, value)).collect()
}

/// The knobs of user space alone, and all knobs and limits; the latter are knobs there.
const OF_USER_SPACE: [&str; 2] = [
    include_str!("../../../platform/user/user_knobs.def"),
    include_str!("../../../platform/knobs.def"),
];

fn is_of_user_space(name: &str) -> bool {
    let lines = OF_USER_SPACE.iter().flat_map(|def| def.lines());
    let mut entries = lines
        .filter(|line| line.starts_with("LK"))
        .filter_map(|line| line.split_once('(')?.1.split_once(','));
    entries.any(|(knob, _)| knob == name)
}

fn setting(name: &str, value: &str, known: &[Knob]) -> Result<Setting> {
    if known.iter().all(|knob| knob.name != name) && is_of_user_space(name) {
        bail_usage!(
            "simulations do not have the knob {name}, which is of user space: leave it out, or \
             choose one that `lockwork sim --list` names"
        );
    }
    let knob = choice::one("knob", name, known, |knob| knob.name)?;
    let kind = match knob.words.is_empty() {
        true => "a number from",
        false => "one of",
    };
    match knob.read(value) {
        Some(value) => Ok(Setting {
            knob: knob.name,
            value,
        }),
        None => bail_usage!(
            "the knob {name} cannot be '{value}'; it takes {kind} {}",
            knob.range()
        ),
    }
}

/// One indented line for each knob.
pub fn described(knobs: &[Knob]) -> String {
    let width = knobs.iter().map(|knob| knob.name.len()).max().unwrap_or(0);
    let line = |knob: &Knob| {
        let (name, help, range) = (knob.name, knob.help, knob.range());
        let default = knob.show(knob.default);
        format!("  {name:width$}  {help} ({range}; default {default})")
    };
    knobs.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{events, knobs};

    fn known() -> Vec<Knob> {
        let knob = |name, words: &[&'static str], min, max, default| Knob {
            name,
            help: "a knob",
            words: words.to_vec(),
            min,
            max,
            default,
        };
        vec![
            knob("depth", &[], 5, 32, 8),
            knob("mode", &["off", "on"], 0, 1, 1),
        ]
    }

    #[test]
    fn numbers_and_words_are_read() {
        let read = |text: &str| {
            let all = settings(&[text.to_owned()], &known()).expect(text);
            let all = all.iter().map(|setting| (setting.knob, setting.value));
            all.collect::<Vec<_>>()
        };
        assert_eq!(read("depth=5"), [("depth", 5)]);
        assert_eq!(read("depth=32"), [("depth", 32)]);
        assert_eq!(read("mode=off"), [("mode", 0)]);
        assert_eq!(read("depth=5,mode=on,depth=9"), [("mode", 1), ("depth", 9)]);
    }

    #[test]
    fn mistakes_say_what_would_do() {
        for (text, words) in [
            ("depth", "write KNOB=VALUE"),
            (
                "width=1",
                "there is no knob named 'width'; choose one of: depth, mode",
            ),
            (
                "depth=4",
                "the knob depth cannot be '4'; it takes a number from 5 to 32",
            ),
            ("depth=33", "it takes a number from 5 to 32"),
            ("depth=-1", "it takes a number from 5 to 32"),
            ("depth=", "it takes a number from 5 to 32"),
            ("depth=4,depth=5", "cannot be '4'"),
            ("mode=1", "it takes one of off, on"),
        ] {
            let error = settings(&[text.to_owned()], &known()).expect_err(text);
            let error = error.to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_knob_of_user_space_is_told_apart() {
        for knob in ["spin_budget", "count_events", "poll_rounds"] {
            let error = settings(&[format!("{knob}=1")], &known()).expect_err(knob);
            let said = format!("simulations do not have the knob {knob}, which is of user space");
            assert!(error.to_string().starts_with(&said), "{error}");
        }
        assert!(!is_of_user_space("name"));
    }

    #[test]
    fn lists_have_range_and_default() {
        let text = described(&known());
        let lines = [
            "  depth  a knob (5 to 32; default 8)",
            "  mode   a knob (off, on; default on)",
        ];
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn the_tables_of_the_locks_are_read() {
        let all = knobs().expect("they load");
        let knob = all.iter().find(|knob| knob.name == "osq_lock_depth");
        let knob = knob.expect("a knob of the locks");
        assert_eq!((knob.min, knob.max, knob.default), (2, 32, 3));
        assert!(knob.words.is_empty() && knob.help.contains("queue"));
        let events = events().expect("they load");
        assert_eq!(events.first(), Some(&"numa_opened"));
        assert!(events.contains(&"numa_cancel_top") && events.contains(&"adapt_rests"));
    }
}
