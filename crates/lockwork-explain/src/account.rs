// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a world saw of one lock.

use crate::quantity::{Quantity, Unit};
use lockwork_report::finding::Finding;
use lockwork_report::text::{duration, number, percent, whole};
use std::collections::BTreeMap;

/// What is written where a world cannot see.
pub const NOT_SEEN: &str = "not seen here";

/// A figure, if the world has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// It is this.
    Value(f64),
    /// It is a share of nothing.
    OfNothing,
    /// The world cannot see it; why.
    Not(&'static str),
}

impl Seen {
    /// `part` of `whole`.
    pub fn share(part: f64, whole: f64) -> Seen {
        match whole > 0.0 {
            true => Seen::Value(part / whole),
            false => Seen::OfNothing,
        }
    }

    /// The figure.
    pub fn value(self) -> Option<f64> {
        match self {
            Seen::Value(value) => Some(value),
            _ => None,
        }
    }

    /// As tables have it.
    pub fn text(self, unit: Unit) -> String {
        let value = match self {
            Seen::Value(value) => value,
            Seen::OfNothing => return "-".to_owned(),
            Seen::Not(_) => return NOT_SEEN.to_owned(),
        };
        match unit {
            Unit::Count => whole(value as u64),
            Unit::Share => percent(value),
            // A figure that is there is not written as 0.
            Unit::Each if value > 0.0 && value < 0.0005 => "<0.001".to_owned(),
            Unit::Each => number(value),
            Unit::Ns => duration(value.round() as u64),
        }
    }
}

/// What a world saw of one lock.
#[derive(Clone, Debug)]
pub struct Account {
    /// The world.
    pub world: &'static str,
    /// The lock.
    pub lock: String,
    /// Threads and work. All locks of a table have the same.
    pub setting: String,
    /// Whether its waiters sleep; none: nobody knows.
    pub sleeps: Option<bool>,
    /// Why, if the recorder says so: in a program it sees each lock.
    pub recorded: Option<Finding>,
    /// What is to be kept in mind.
    pub notes: Vec<String>,
    /// All quantities have one.
    figures: BTreeMap<Quantity, Seen>,
}

impl Account {
    /// Of a lock of which nothing is known yet, because of `why`.
    pub fn new(
        world: &'static str,
        lock: impl Into<String>,
        setting: impl Into<String>,
        why: &'static str,
    ) -> Account {
        Account {
            world,
            lock: lock.into(),
            setting: setting.into(),
            sleeps: None,
            recorded: None,
            notes: Vec::new(),
            figures: Quantity::ALL.map(|one| (one, Seen::Not(why))).into(),
        }
    }

    /// Says what is known of `one`.
    pub fn put(&mut self, one: Quantity, seen: Seen) {
        self.figures.insert(one, seen);
    }

    /// Says of `one` that it is `total` for all of `acquisitions`.
    pub fn each(&mut self, one: Quantity, total: f64, acquisitions: f64) {
        self.put(one, Seen::share(total, acquisitions));
    }

    /// What is known of `one`.
    pub fn get(&self, one: Quantity) -> Seen {
        self.figures[&one]
    }

    /// The figure, if the world has it.
    pub fn value(&self, one: Quantity) -> Option<f64> {
        self.get(one).value()
    }

    /// "2.000 lines from the socket".
    pub fn told(&self, one: Quantity) -> String {
        let text = self.get(one).text(one.unit());
        match one.unit() {
            Unit::Each => format!("{text} {} an acquisition", one.label()),
            _ => format!("{}: {text}", one.label()),
        }
    }
}
