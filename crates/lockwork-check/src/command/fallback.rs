// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Clients with more executions within their bound than `--at-most` says: each is explored
//! again, with one preemption less and to the end.
use super::plan::{shallower, Run};
use super::worker::Answer;
use crate::{Bound, Outcome};

/// Of each run, by its number: what the first executions came to, if there were too many.
pub(crate) struct Fallback {
    begun: Vec<Option<Outcome>>,
}

impl Fallback {
    pub fn new(runs: &[Run]) -> Self {
        Fallback {
            begun: runs.iter().map(|_| None).collect(),
        }
    }

    /// How far `run`, number `id`, was explored to the end.
    pub fn explored(&self, id: usize, run: &Run) -> Bound {
        match self.begun[id] {
            Some(_) => shallower(run.task.bound),
            None => run.task.bound,
        }
    }

    /// What is to run instead of `run`, number `id`, which came to `answer`. None: this is its
    /// end, and `answer` has both parts.
    pub fn next(&mut self, id: usize, run: &Run, answer: &mut Answer) -> Option<Run> {
        if let Some(begun) = &self.begun[id] {
            add(&mut answer.outcome, begun);
            return None;
        }
        if !answer.outcome.cut {
            return None;
        }
        self.begun[id] = Some(answer.outcome.clone());
        let mut again = run.until(None);
        again.task.bound = self.explored(id, run);
        Some(again)
    }
}

/// Counts what `begun` did as well.
fn add(outcome: &mut Outcome, begun: &Outcome) {
    outcome.executions += begun.executions;
    outcome.pruned += begun.pruned;
    outcome.seconds += begun.seconds;
    for (file, line, primitive, operand, times) in &begun.reached {
        let mut known = outcome.reached.iter_mut();
        match known.find(|one| (&one.0, one.1, &one.2, &one.3) == (file, *line, primitive, operand))
        {
            Some(one) => one.4 += times,
            None => {
                let one = (
                    file.clone(),
                    *line,
                    primitive.clone(),
                    operand.clone(),
                    *times,
                );
                outcome.reached.push(one);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients;
    use crate::command::samples;

    fn reached(line: u32, times: u64) -> (String, u32, String, String, u64) {
        let text = |text: &str| text.to_owned();
        (text("x.h"), line, text("xchg"), text("0"), times)
    }

    fn answer(executions: u64, cut: bool, lines: &[u32]) -> Answer {
        let mut outcome = samples::passed(executions);
        outcome.cut = cut;
        outcome.reached = lines.iter().map(|&line| reached(line, 1)).collect();
        Answer {
            outcome,
            left_out: 0,
        }
    }

    #[test]
    fn what_is_too_much_is_explored_less_far_and_counts_twice() {
        let run = Run {
            client: clients()[0],
            task: samples::task(1),
        }
        .until(Some(100));
        let mut fallback = Fallback::new(&[run.clone(), run.clone()]);
        assert!(fallback
            .next(1, &run, &mut answer(99, false, &[]))
            .is_none());
        let again = fallback.next(0, &run, &mut answer(100, true, &[1, 2]));
        let again = again.expect("it is explored again");
        assert_eq!(again.task.bound, shallower(run.task.bound));
        assert_eq!(again.task.limit, None);
        assert_eq!(fallback.explored(0, &run), again.task.bound);
        assert_eq!(fallback.explored(1, &run), run.task.bound);
        let mut last = answer(7, false, &[1, 3]);
        assert!(fallback.next(0, &run, &mut last).is_none());
        assert_eq!(last.outcome.executions, 107);
        let all = [reached(1, 2), reached(3, 1), reached(2, 1)];
        assert_eq!(last.outcome.reached, all);
    }
}
