// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who kills which mutant.
use super::mutants::{file_stem, Planned};
use super::plan::Run;
use super::runs::Done;
use super::worker::Answer;
use crate::{Client, Kind, Method, Spot};
use std::collections::BTreeMap;

/// What became of a mutant.
pub(crate) enum Verdict {
    /// A client found a fault.
    Killed { by: Client, answer: Box<Answer> },
    /// All clients that reach it passed.
    Survives,
    /// No client reaches it.
    Unreached,
    /// Nothing is known: a time-out, or the checker gave up.
    Unknown { by: Client, kind: Kind },
}

/// How verdicts are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Killed,
    /// It survives, and a note says why.
    Explained,
    Unexplained,
}

/// Executions of a quick run. Not seconds: whose verdict it is must not depend on
/// how busy the machine is.
const QUICK: u64 = 5_000;

/// Executions of a run in the first round, the second, and so on; after these rounds, to
/// the end. Most mutants that a client can kill die in its first executions. So all clients
/// try a little before one of them goes to its end.
const ROUNDS: [u64; 2] = [500, 10_000];

/// A client that killed a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Killer {
    /// Its title.
    pub client: String,
    /// The executions that it took.
    pub executions: u64,
}

/// A mutant and the runs that may kill it.
pub(crate) struct Trial {
    pub planned: Planned,
    pub verdict: Option<Verdict>,
    /// Those that are left to try in this round, the next one last.
    left: Vec<Run>,
    /// Those that came to the end of this round's executions.
    again: Vec<Run>,
    round: usize,
    now: Option<Run>,
    /// What killed it the last time, and how far that may go at first.
    first: Option<(Run, u64)>,
    tries_first: bool,
    unknown: Option<(Client, Kind)>,
    executions: u64,
}

impl Trial {
    /// The exhaustive runs in `done` that reach the access, cheapest first.
    /// Where a note says that it survives, only the quick ones show that the
    /// note is not wrong, unless the search is to be `thorough`. The client that `killer`
    /// names tries before all others.
    pub fn new(planned: Planned, done: &[Done], thorough: bool, killer: Option<&Killer>) -> Self {
        let mut candidates: Vec<&Done> = done
            .iter()
            .filter(|done| done.run.task.method == Method::Exhaustive)
            .filter(|done| reaches(done, &planned.mutant.spot))
            .collect();
        let cost = |done: &&Done| done.answer.outcome.executions;
        candidates.sort_by_key(|done| std::cmp::Reverse(cost(done)));
        if planned.spare.is_some() && !thorough {
            let slow = candidates.iter().filter(|done| cost(done) > QUICK).count();
            candidates.drain(..slow.min(candidates.len().saturating_sub(1)));
        }
        let with = |done: &&Done| done.run.with(&planned.mutant);
        let left: Vec<Run> = candidates.iter().map(with).collect();
        let first = killer.and_then(|killer| {
            let is_it = |run: &&Run| run.client.title() == killer.client;
            let run = left.iter().find(is_it)?;
            Some((
                run.clone(),
                killer.executions.saturating_mul(2).max(ROUNDS[0]),
            ))
        });
        Trial {
            verdict: left.is_empty().then_some(Verdict::Unreached),
            planned,
            left,
            again: Vec::new(),
            round: 0,
            now: None,
            first,
            tries_first: false,
            unknown: None,
            executions: 0,
        }
    }

    /// The next run to do; `None` if there is a verdict.
    pub fn next(&mut self) -> Option<Run> {
        if let Some((run, limit)) = self.first.take() {
            self.now = Some(run.clone());
            self.tries_first = true;
            return Some(run.until(Some(limit)));
        }
        let run = self.left.pop()?;
        self.now = Some(run.clone());
        Some(run.until(ROUNDS.get(self.round).copied()))
    }

    /// What that run came to. True if there is a verdict now.
    pub fn take(&mut self, answer: Answer) -> bool {
        let Some(run) = self.now.take() else {
            return true;
        };
        let client = run.client;
        let first = std::mem::take(&mut self.tries_first);
        self.executions += answer.outcome.executions;
        match answer.kind() {
            Some(kind) if kind.is_fault() => {
                let (by, answer) = (client, Box::new(answer));
                self.left.clear();
                self.again.clear();
                self.verdict = Some(Verdict::Killed { by, answer });
            }
            // It tries again in its turn.
            _ if first => return false,
            Some(kind) => self.unknown = Some((client, kind)),
            None if answer.outcome.cut => self.again.push(run),
            None => {}
        }
        if self.left.is_empty() {
            self.again.reverse();
            self.left.append(&mut self.again);
            self.round += 1;
        }
        if self.verdict.is_none() && self.left.is_empty() {
            self.verdict = Some(match self.unknown {
                Some((by, kind)) => Verdict::Unknown { by, kind },
                None => Verdict::Survives,
            });
        }
        self.verdict.is_some()
    }

    /// Executions of all clients that have tried.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// How it counts, once there is a verdict.
    pub fn class(&self) -> Option<Class> {
        Some(match self.verdict.as_ref()? {
            Verdict::Killed { .. } => Class::Killed,
            Verdict::Survives if self.planned.spare.is_some() => Class::Explained,
            _ => Class::Unexplained,
        })
    }
}

fn reaches(done: &Done, spot: &Spot) -> bool {
    let mut reached = done.answer.outcome.reached.iter();
    reached.any(|(file, line, primitive, _, _)| {
        *file == spot.file
            && *primitive == spot.primitive
            && (spot.lines.0..=spot.lines.1).contains(line)
    })
}

/// Whether the clients that were run are all that could reach `file`: all of
/// its stem, or, where that has none, all there are.
pub(crate) fn is_covered(file: &str, chosen: &[Client], all: &[Client]) -> bool {
    let stem = file_stem(file);
    let has_own = all.iter().any(|client| client.stem() == stem);
    let could = all
        .iter()
        .filter(|client| !has_own || client.stem() == stem);
    let key = |client: &Client| (client.lock(), client.name());
    let mut could = could.map(key);
    could.all(|could| chosen.iter().any(|client| key(client) == could))
}

/// `Spare` notes that no mutant bears out, as (tag, order): each one that they
/// are about is killed.
pub(crate) fn wrong_notes(trials: &[Trial]) -> Vec<(&str, &'static str)> {
    let mut notes: BTreeMap<(&str, &'static str), bool> = BTreeMap::new();
    for trial in trials {
        let (Some(tag), Some(_)) = (&trial.planned.tag, &trial.planned.spare) else {
            continue;
        };
        let killed = trial.class() == Some(Class::Killed);
        let all_killed = notes.entry((tag, trial.planned.word)).or_insert(true);
        *all_killed &= killed;
    }
    let wrong = notes.into_iter().filter(|(_, all_killed)| *all_killed);
    wrong.map(|(note, _)| note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients;
    use crate::command::samples;
    use crate::{Change, Mutant, Outcome};

    fn planned(word: &'static str, spare: Option<&str>) -> Planned {
        let spot = Spot {
            file: "x.h".to_owned(),
            lines: (7, 8),
            primitive: "xchg_acquire".to_owned(),
        };
        Planned {
            name: "x.A".to_owned(),
            tag: Some("x.A".to_owned()),
            what: "xchg_acquire → relaxed".to_owned(),
            mutant: Mutant {
                spot,
                change: Change::Relaxed,
            },
            word,
            spare: spare.map(str::to_owned),
            key: String::new(),
        }
    }

    fn answer(outcome: Outcome) -> Answer {
        Answer {
            outcome,
            left_out: 0,
        }
    }

    /// A run of the client at `index` that took so many executions and reached that.
    fn done(index: usize, executions: u64, reached: &[(&str, u32, &str)]) -> Done {
        let mut outcome = samples::passed(executions);
        outcome.reached = reached
            .iter()
            .map(|&(file, line, name)| (file.to_owned(), line, name.to_owned(), String::new(), 1))
            .collect();
        Done {
            run: Run {
                client: clients()[index],
                task: samples::task(1),
            },
            explored: samples::task(1).bound,
            answer: answer(outcome),
        }
    }

    fn trial(spare: Option<&str>) -> Trial {
        trial_with(spare, None)
    }

    fn trial_with(spare: Option<&str>, killer: Option<&Killer>) -> Trial {
        let here = [("x.h", 8, "xchg_acquire")];
        let elsewhere = [
            ("x.h", 9, "xchg_acquire"),
            ("x.c", 8, "xchg_acquire"),
            ("x.h", 8, "xchg"),
        ];
        let all = [
            done(0, 300, &here),
            done(1, 100, &here),
            done(2, 10, &elsewhere),
        ];
        Trial::new(planned("relaxed", spare), &all, true, killer)
    }

    /// What a trial comes to when its runs end so.
    fn ended(spare: Option<&str>, outcomes: &[Outcome]) -> Trial {
        let mut trial = trial(spare);
        for outcome in outcomes {
            assert!(trial.next().is_some());
            trial.take(answer(outcome.clone()));
        }
        assert!(trial.next().is_none() && trial.verdict.is_some());
        trial
    }

    #[test]
    fn clients_that_reach_it_try_the_cheapest_first() {
        let mut trial = trial(None);
        for index in [1, 0] {
            let run = trial.next().expect("a run");
            assert_eq!(run.client.name(), clients()[index].name());
            assert_eq!(run.task.mutant.as_ref(), Some(&trial.planned.mutant));
            assert!(trial.verdict.is_none());
            trial.take(answer(samples::passed(10)));
        }
        assert!(matches!(trial.verdict, Some(Verdict::Survives)));
        assert_eq!(trial.executions(), 20);
        assert_eq!(trial.class(), Some(Class::Unexplained));
    }

    #[test]
    fn no_client_goes_to_its_end_before_each_has_begun() {
        let mut trial = trial(None);
        let mut cut = samples::passed(500);
        cut.cut = true;
        // The cheapest first; the one that was cut goes on when all have tried.
        for (index, limit, outcome) in [
            (1, Some(ROUNDS[0]), &cut),
            (0, Some(ROUNDS[0]), &cut),
            (1, Some(ROUNDS[1]), &samples::passed(600)),
            (0, Some(ROUNDS[1]), &cut),
            (0, None, &samples::failed(Kind::Race)),
        ] {
            let run = trial.next().expect("a run");
            assert_eq!(run.client.name(), clients()[index].name());
            assert_eq!(run.task.limit, limit);
            trial.take(answer(outcome.clone()));
        }
        assert_eq!(trial.class(), Some(Class::Killed));
        assert!(trial.next().is_none());
    }

    #[test]
    fn what_killed_it_the_last_time_tries_first() {
        // The dearer of the two: it would be the second.
        let client = clients()[0];
        let killer = |client: String| Killer {
            client,
            executions: 1_000,
        };
        let known = killer(client.title());
        let first = || {
            let mut trial = trial_with(None, Some(&known));
            let run = trial.next().expect("a run");
            assert_eq!(
                (run.client.name(), run.task.limit),
                (client.name(), Some(2_000))
            );
            trial
        };
        let mut trial = first();
        assert!(trial.take(answer(samples::failed(Kind::Race))));
        assert_eq!(trial.class(), Some(Class::Killed));
        // It kills no more: all others try, and it again.
        let mut trial = first();
        assert!(!trial.take(answer(samples::passed(2_000))));
        for index in [1, 0] {
            let run = trial.next().expect("a run");
            assert_eq!(run.client.name(), clients()[index].name());
            trial.take(answer(samples::passed(10)));
        }
        assert_eq!(trial.class(), Some(Class::Unexplained));
        // There is no such client.
        let gone = killer("gone/pair".to_owned());
        let run = trial_with(None, Some(&gone)).next().expect("a run");
        assert_eq!(run.client.name(), clients()[1].name());
    }

    #[test]
    fn the_first_fault_kills() {
        let trial = ended(None, &[samples::failed(Kind::Deadlock)]);
        assert_eq!(trial.class(), Some(Class::Killed));
        let Some(Verdict::Killed { by, .. }) = trial.verdict else {
            panic!("not killed");
        };
        assert_eq!(by.name(), clients()[1].name());
    }

    #[test]
    fn what_is_not_known_is_no_kill_and_no_pass() {
        let late = samples::failed(Kind::Timeout);
        let trial = ended(Some("why"), &[late.clone(), samples::passed(1)]);
        assert_eq!(trial.class(), Some(Class::Unexplained));
        let trial = ended(None, &[late, samples::failed(Kind::Race)]);
        assert_eq!(trial.class(), Some(Class::Killed));
    }

    #[test]
    fn a_note_explains_a_survivor() {
        let pass = samples::passed(1);
        let trial = ended(Some("why"), &[pass.clone(), pass]);
        assert_eq!(trial.class(), Some(Class::Explained));
    }

    #[test]
    fn no_note_explains_what_nobody_reaches() {
        let trial = Trial::new(planned("relaxed", Some("why")), &[], true, None);
        assert!(matches!(trial.verdict, Some(Verdict::Unreached)));
        assert_eq!(trial.class(), Some(Class::Unexplained));
    }

    #[test]
    fn a_note_is_wrong_when_all_it_is_about_are_killed() {
        let killed = || ended(Some("why"), &[samples::failed(Kind::Race)]);
        let pass = samples::passed(1);
        let survives = || ended(Some("why"), &[pass.clone(), pass.clone()]);
        assert_eq!(wrong_notes(&[killed(), killed()]), [("x.A", "relaxed")]);
        assert_eq!(wrong_notes(&[killed(), survives()]), []);
        assert_eq!(
            wrong_notes(&[ended(None, &[samples::failed(Kind::Race)])]),
            []
        );
    }

    #[test]
    fn a_shared_file_is_covered_by_all_clients_only() {
        let all = clients();
        let tas = |client: &&Client| client.stem() == "tas_lock";
        let tas: Vec<Client> = all.iter().filter(tas).copied().collect();
        assert!(is_covered("tas_lock.h", &tas, &all));
        assert!(!is_covered("tas_lock.h", &tas[1..], &all));
        assert!(!is_covered("epoch.h", &tas, &all));
        assert!(is_covered("epoch.h", &all, &all));
    }
}
