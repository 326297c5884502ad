// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock and the one that it is nested with most: a program of two locks for the simulator.

use std::fmt::Write;

use anyhow::Result;
use lockwork_profile::demand::{Demand, Partner, Times};
use lockwork_sim::workload::{Program, Role, SharedLock, Step, Time, What};

use crate::times::{sleep, sleep_classes, time, written, Thinking};

/// The lock that is predicted, in workloads; and its partner.
const NAMES: [&str; 2] = ["predicted", "partner"];
/// A section that takes the inner lock more often is not simulated with it.
const MOST_INSIDE: f64 = 8.0;
/// What is left of an outer section, at least: estimates of its parts may add up to more.
const LEAST_LEFT: f64 = 0.05;
/// So rare in a round that it is left out.
const RARE: f64 = 0.01;

/// What a thread does round after round: it thinks and takes the outer lock, and in that the
/// inner one; it thinks and takes the inner one alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Which of [`NAMES`] is the outer one.
    outer: usize,
    /// With these probabilities a round has the outer lock, and the inner one alone.
    chances: [f64; 2],
    /// Thinking before each of those, ns.
    think: [f64; 2],
    /// How often the inner lock is taken in a section of the outer one.
    inside: f64,
    /// Sections of both, and the share of reads; of the outer one, without what the inner
    /// one takes.
    sections: [Section; 2],
    /// With so much probability a thread sleeps at the beginning of a round, ns.
    sleep: Option<(f64, f64)>,
    /// The profile's thinking times, if rounds are as many as the lock's acquisitions.
    classes: Vec<(f64, f64, u64)>,
}

/// Sections of one lock.
#[derive(Clone, Debug, PartialEq)]
struct Section {
    reads: f64,
    exclusive: Times,
    shared: Option<Times>,
}

impl Section {
    fn of(lock: &Demand) -> Section {
        Section {
            reads: lock.reads,
            exclusive: lock.section.clone(),
            shared: lock.read_section.clone(),
        }
    }

    /// Without `ns` of each.
    fn less(mut self, ns: f64) -> Section {
        let times = [Some(&mut self.exclusive), self.shared.as_mut()];
        for times in times.into_iter().flatten() {
            times.mean = (times.mean - ns).max(LEAST_LEFT * times.mean);
        }
        self
    }
}

impl Round {
    /// Of a lock that has a partner. None: a section takes the inner lock too often, or seems to be
    /// shorter than what is inside.
    pub fn of(lock: &Demand) -> Option<Round> {
        let partner = lock.partner.as_ref()?;
        let (outer, inner) = both(lock, partner);
        let inside = partner.together / outer.acquisitions.max(1) as f64;
        let of_inner = inside * (inner.mean_section() + partner.inner_wait);
        if inside > MOST_INSIDE || of_inner > outer.mean_section() {
            return None;
        }
        let taken = [
            outer.acquisitions as f64,
            (inner.acquisitions as f64 - partner.together).max(0.0),
        ];
        let rounds = taken[0].max(taken[1]);
        let chances = taken.map(|n| n / rounds);
        let sections = [Section::of(outer).less(of_inner), Section::of(inner)];
        // What the profile has as thinking, for this lock alone, has parts of the other in it.
        let thinking = lock.think.mean * lock.acquisitions as f64;
        let thinking = match partner.is_outer {
            true => thinking - taken[0] * (outer.mean_section() - of_inner),
            false => thinking - taken[1] * inner.mean_section(),
        };
        let alone = chances[1] >= RARE;
        let of_all = thinking.max(0.0) / (taken[0] + if alone { taken[1] } else { 0.0 });
        Some(Round {
            outer: usize::from(partner.is_outer),
            chances: [chances[0], if alone { chances[1] } else { 0.0 }],
            // A step that a round does not always have is thought for all the same.
            think: [of_all * chances[0], of_all * chances[1]],
            inside,
            sections,
            sleep: lock.sleep.map(|(share, ns)| {
                let sleeps = share * lock.acquisitions as f64;
                ((sleeps / rounds).min(1.0), ns)
            }),
            classes: match partner.is_outer || alone {
                true => Vec::new(),
                false => lock.think.classes.clone(),
            },
        })
    }

    /// How thinking times may be distributed.
    pub fn thinking(&self) -> &'static [Thinking] {
        Thinking::with(&self.classes)
    }

    fn think(&self, at: usize, thinking: Thinking) -> Result<Time> {
        thinking.time(&Times {
            mean: self.think[at],
            classes: self.classes.clone(),
        })
    }

    /// The inner lock is taken in a section once with each of these probabilities.
    fn inner_chances(&self) -> Vec<f64> {
        let whole = self.inside.floor();
        let mut all = vec![1.0; whole as usize];
        let rest = self.inside - whole;
        if rest >= RARE {
            all.push(rest);
        }
        all
    }

    fn lock(&self, at: usize, inside: Vec<Step>) -> Result<What> {
        let section = &self.sections[at];
        let exclusive = time(&section.exclusive)?;
        Ok(What::Lock {
            lock: self.name(at),
            reads: section.reads,
            read_section: match &section.shared {
                Some(times) => time(times)?,
                None => exclusive.clone(),
            },
            section: exclusive,
            inside,
        })
    }

    /// The place in [`NAMES`] of the outer lock (0) or the inner one (1).
    fn name(&self, at: usize) -> usize {
        match at {
            0 => self.outer,
            _ => 1 - self.outer,
        }
    }

    /// The program: its first lock is the one that is predicted.
    ///
    /// # Errors
    /// The profile's histogram makes no sense.
    pub fn program(&self, thinking: Thinking) -> Result<Program> {
        let step = |chance, what| Step { chance, what };
        let inner = self.inner_chances().into_iter();
        let inside: Result<Vec<Step>> = inner
            .map(|chance| Ok(step(chance, self.lock(1, Vec::new())?)))
            .collect();
        let mut steps = Vec::new();
        if let Some(of) = self.sleep {
            steps.push(step(1.0, What::Sleep(sleep(of)?)));
        }
        steps.push(step(1.0, What::Think(self.think(0, thinking)?)));
        steps.push(step(self.chances[0], self.lock(0, inside?)?));
        if self.chances[1] > 0.0 {
            steps.push(step(1.0, What::Think(self.think(1, thinking)?)));
            steps.push(step(self.chances[1], self.lock(1, Vec::new())?));
        }
        let locks = NAMES.map(|name| SharedLock {
            name: name.to_owned(),
            kind: None,
            count: 1,
            lines: 0,
            packed: false,
        });
        Ok(Program {
            locks: locks.to_vec(),
            queues: Vec::new(),
            resources: Vec::new(),
            roles: vec![Role {
                name: "all".to_owned(),
                parts: 1,
                steps,
            }],
        })
    }

    /// The same as tables of a workload's file. `source`: as there.
    ///
    /// # Errors
    /// The profile's histogram makes no sense.
    pub fn tables(&self, thinking: Thinking, source: &str) -> Result<String> {
        let mut text = String::new();
        for name in NAMES {
            let _ = writeln!(text, "\n[[lock]]\nname = \"{name}\"");
        }
        text += "\n[[role]]\nname = \"all\"\nsteps = [\n";
        let lock = |at: usize, chance: f64| -> Result<String> {
            let section = &self.sections[at];
            let of = |times: &Times| -> Result<String> {
                Ok(written(&time(times)?, &times.classes, source))
            };
            let mut text = format!("lock = \"{}\", ", NAMES[self.name(at)]);
            let _ = write!(text, "section = {}, ", of(&section.exclusive)?);
            if let Some(shared) = &section.shared {
                let _ = write!(text, "read_section = {}, ", of(shared)?);
            }
            let _ = write!(
                text,
                "reads = {{ share = {}, {source} }}, chance = {{ share = {chance}, {source} }}",
                section.reads
            );
            Ok(text)
        };
        let think = |at: usize| -> Result<String> {
            let time = self.think(at, thinking)?;
            Ok(format!(
                "  {{ think = {} }},\n",
                written(&time, &self.classes, source)
            ))
        };
        if let Some(of) = self.sleep {
            let time = written(&sleep(of)?, &sleep_classes(of), source);
            let _ = writeln!(text, "  {{ sleep = {time} }},");
        }
        text += &think(0)?;
        let _ = writeln!(text, "  {{ {}, inside = [", lock(0, self.chances[0])?);
        for chance in self.inner_chances() {
            let _ = writeln!(text, "    {{ {} }},", lock(1, chance)?);
        }
        text += "  ] },\n";
        if self.chances[1] > 0.0 {
            text += &think(1)?;
            let _ = writeln!(text, "  {{ {} }},", lock(1, self.chances[1])?);
        }
        Ok(text + "]\n")
    }
}

/// The outer and the inner one.
fn both<'a>(lock: &'a Demand, partner: &'a Partner) -> (&'a Demand, &'a Demand) {
    match partner.is_outer {
        true => (&partner.lock, lock),
        false => (lock, &partner.lock),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tests::lock;
    use crate::workload::{file, of, thinkings};
    use lockwork_sim::workload::load;

    fn times(mean: f64) -> Times {
        Times {
            mean,
            classes: Vec::new(),
        }
    }

    /// 1000 sections of 250 ns, of which half take another lock for 80 ns, 20 of them waiting.
    /// That is taken 250 times more. A thread thinks for 1 µs between the 1000.
    fn outer() -> Demand {
        let inner = Demand {
            name: "inner".to_owned(),
            acquisitions: 750,
            section: times(60.0),
            ..lock()
        };
        Demand {
            partner: Some(Partner {
                lock: Box::new(inner),
                is_outer: false,
                together: 500.0,
                inner_wait: 20.0,
            }),
            ..lock()
        }
    }

    /// The same, seen from the inner lock.
    fn inner() -> Demand {
        let of = outer();
        let partner = of.partner.clone().expect("it has one");
        Demand {
            // What the outer lock's round has, but for the inner lock's own part.
            think: times((1000.0 * 1000.0 + 1000.0 * 210.0 - 250.0 * 60.0) / 750.0),
            partner: Some(Partner {
                lock: Box::new(Demand {
                    partner: None,
                    ..of
                }),
                is_outer: true,
                ..partner
            }),
            ..*partner.lock
        }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6 * b.abs().max(1.0), "{a} {b}");
    }

    #[test]
    fn both_locks_make_the_same_round() {
        let rounds = [outer(), inner()].map(|lock| Round::of(&lock).expect("a round"));
        for (at, round) in rounds.iter().enumerate() {
            assert_eq!(round.outer, at);
            assert_eq!(round.chances, [1.0, 0.25]);
            near(round.inside, 0.5);
            near(round.sections[0].exclusive.mean, 250.0 - 0.5 * 80.0);
            near(round.sections[1].exclusive.mean, 60.0);
            // 1 µs, less the sections alone.
            near(round.think.iter().sum(), 1000.0 - 0.25 * 60.0);
        }
    }

    #[test]
    fn too_many_inner_acquisitions_stay_a_part_of_the_section() {
        let mut many = outer();
        let partner = many.partner.as_mut().expect("it has one");
        partner.together = 9.0 * 1000.0;
        assert_eq!(Round::of(&many), None);
        assert!(of(&many, Thinking::Fixed, "x")
            .expect("it")
            .program
            .is_none());
    }

    #[test]
    fn estimates_that_contradict_each_other_make_no_round() {
        let mut odd = outer();
        odd.partner.as_mut().expect("it has one").inner_wait = 1e6;
        assert_eq!(Round::of(&odd), None);
        odd.partner.as_mut().expect("it has one").inner_wait = 440.0;
        let round = Round::of(&odd).expect("a round");
        near(round.sections[0].exclusive.mean, LEAST_LEFT * 250.0);
    }

    #[test]
    fn its_file_is_the_same_program() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("x.toml");
        let sleepy = Demand {
            sleep: Some((0.01, 50_000.0)),
            ..outer()
        };
        for lock in [outer(), inner(), sleepy] {
            let thinking = thinkings(&lock)[0];
            let made = of(&lock, thinking, "x").expect("it");
            let text = file(&made, &lock, &["mutex"], "a profile").expect("text");
            std::fs::write(&path, text).expect("written");
            let read = load(path.to_str().expect("UTF-8")).expect("right");
            let steps = |program: &Option<Program>| program.clone().expect("roles").roles;
            let (read, made) = (steps(&read.program), steps(&made.program));
            assert_eq!(read[0].steps.len(), made[0].steps.len());
            assert_eq!(format!("{read:?}"), format!("{made:?}"));
        }
    }
}
