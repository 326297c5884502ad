// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pieces of work on threads, some at once, while the caller watches for Ctrl-C.
//!
//! Plain threads rather than rayon, because a piece of work may panic without ending
//! the process, and because nobody waits for work that cannot be stopped: dropping the
//! pool leaves it to itself, and it ends with the process.

use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::Duration;

use anyhow::{anyhow, Context, Result};

use crate::interrupt::Interrupt;

/// How soon a signal is noticed.
const TICK: Duration = Duration::from_millis(100);

type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// Threads that work, at most a number of them. Each takes one piece of work after the
/// other, so what a thread keeps for itself is made once.
pub struct Pool<T> {
    jobs: usize,
    threads: usize,
    at_work: usize,
    orders: Sender<Work<T>>,
    /// One idle thread waits for an order; the others wait for it.
    taken: Arc<Mutex<Receiver<Work<T>>>>,
    answer: Sender<thread::Result<T>>,
    answers: Receiver<thread::Result<T>>,
}

impl<T: Send + 'static> Pool<T> {
    /// Up to `jobs` pieces of work at once, and one at least. Threads start when they are
    /// needed.
    pub fn new(jobs: usize) -> Pool<T> {
        let (orders, taken) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        Pool {
            jobs: jobs.max(1),
            threads: 0,
            at_work: 0,
            orders,
            taken: Arc::new(Mutex::new(taken)),
            answer,
            answers,
        }
    }

    /// May another piece of work start now?
    pub fn has_room(&self) -> bool {
        self.at_work < self.jobs
    }

    /// Is nothing at work?
    pub fn is_idle(&self) -> bool {
        self.at_work == 0
    }

    /// Has `work` done. If the pool has no room, it waits in a queue.
    ///
    /// # Errors
    /// The machine refuses a thread.
    pub fn start(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Result<()> {
        if self.threads == self.at_work && self.has_room() {
            let (taken, answer) = (Arc::clone(&self.taken), self.answer.clone());
            Builder::new()
                .name("worker".to_owned())
                .spawn(move || serve(&taken, &answer))
                .context("this machine refused another thread; try --jobs 1")?;
            self.threads += 1;
        }
        self.orders
            .send(Box::new(work))
            .map_err(|_| anyhow!("no thread takes work any more"))?;
        self.at_work += 1;
        Ok(())
    }

    /// What the next piece of work came to; nothing if none was done for a moment, so
    /// that the caller can look at what else goes on.
    ///
    /// # Errors
    /// A signal came ([`crate::interrupt::Interrupted`]), or the work panicked.
    pub fn wait(&mut self, interrupt: &Interrupt) -> Result<Option<T>> {
        interrupt.poll()?;
        match self.answers.recv_timeout(TICK) {
            Ok(answer) => {
                self.at_work -= 1;
                let broken = |_| anyhow!("a worker broke off; that is a defect of lockwork");
                answer.map(Some).map_err(broken)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}

/// Does `work` on up to `jobs` threads. `tell` hears what each piece came to, with its
/// place in `work`, as they end; and nothing now and then, so that it can show progress.
/// Once it breaks, no other piece begins, and those that have begun are finished.
///
/// # Errors
/// The first one of `tell`; or no thread, a signal, or a panic, as with [`Pool`]. Nobody
/// waits then for the work that has begun.
pub fn all<T: Send + 'static, W: FnOnce() -> T + Send + 'static>(
    work: impl IntoIterator<Item = W>,
    jobs: usize,
    interrupt: &Interrupt,
    mut tell: impl FnMut(Option<(usize, T)>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut pool = Pool::new(jobs);
    let mut rest = work.into_iter().enumerate().fuse();
    let mut go_on = true;
    loop {
        while go_on && pool.has_room() {
            let Some((at, work)) = rest.next() else { break };
            pool.start(move || (at, work()))?;
        }
        if pool.is_idle() {
            return Ok(());
        }
        let answer = pool.wait(interrupt)?;
        go_on &= tell(answer)?.is_continue();
    }
}

/// Works until the pool is gone.
fn serve<T>(taken: &Mutex<Receiver<Work<T>>>, answer: &Sender<thread::Result<T>>) {
    loop {
        let order = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = order else { return };
        if answer.send(catch_unwind(AssertUnwindSafe(work))).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread::ThreadId;

    fn squares(n: usize) -> impl Iterator<Item = impl FnOnce() -> usize + Send> {
        (0..n).map(|n| move || n * n)
    }

    #[test]
    fn each_piece_is_told_of_once() {
        let interrupt = Interrupt::listen().expect("signals");
        for (pieces, jobs) in [(0, 2), (1, 4), (20, 3)] {
            let mut told = Vec::new();
            all(squares(pieces), jobs, &interrupt, |done| {
                told.extend(done);
                Ok(ControlFlow::Continue(()))
            })
            .expect("all");
            told.sort_unstable();
            assert_eq!(told, (0..pieces).map(|n| (n, n * n)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nothing_begins_after_a_break() {
        let interrupt = Interrupt::listen().expect("signals");
        let mut told = Vec::new();
        all(squares(4), 1, &interrupt, |done| {
            told.extend(done);
            Ok(match told.len() {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            })
        })
        .expect("two");
        assert_eq!(told, [(0, 0), (1, 1)]);
        let refused = all(squares(4), 2, &interrupt, |done| match done {
            Some(_) => Err(anyhow!("enough")),
            None => Ok(ControlFlow::Continue(())),
        });
        assert_eq!(refused.expect_err("an error").to_string(), "enough");
    }

    fn next<T: Send + 'static>(pool: &mut Pool<T>, interrupt: &Interrupt) -> T {
        loop {
            if let Some(answer) = pool.wait(interrupt).expect("no signal") {
                return answer;
            }
        }
    }

    #[test]
    fn all_is_done_by_as_many_threads_as_wanted() {
        let interrupt = Interrupt::listen().expect("signals");
        for jobs in [0, 1, 3] {
            let mut pool = Pool::new(jobs);
            let (mut started, mut done) = (0, Vec::new());
            let mut threads: HashSet<ThreadId> = HashSet::new();
            while done.len() < 20 {
                while started < 20 && pool.has_room() {
                    let n = started;
                    pool.start(move || (n, thread::current().id()))
                        .expect("a thread");
                    started += 1;
                }
                let (n, thread) = next(&mut pool, &interrupt);
                done.push(n);
                threads.insert(thread);
            }
            done.sort_unstable();
            assert_eq!(done, (0..20).collect::<Vec<_>>());
            assert!(pool.is_idle());
            assert!((1..=jobs.max(1)).contains(&threads.len()), "{threads:?}");
        }
    }

    #[test]
    fn pieces_of_work_meet() {
        let interrupt = Interrupt::listen().expect("signals");
        let mut pool = Pool::new(2);
        let meeting = Arc::new(Barrier::new(2));
        for _ in 0..2 {
            let meeting = Arc::clone(&meeting);
            pool.start(move || {
                meeting.wait();
            })
            .expect("a thread");
        }
        assert!(!pool.has_room());
        next(&mut pool, &interrupt);
        next(&mut pool, &interrupt);
        assert!(pool.is_idle());
    }

    #[test]
    fn the_caller_is_asked_while_nothing_is_done() {
        let interrupt = Interrupt::listen().expect("signals");
        let mut pool = Pool::new(1);
        let (go, gate) = mpsc::channel();
        pool.start(move || gate.recv()).expect("a thread");
        let asked = pool.wait(&interrupt).expect("no signal");
        assert_eq!(asked, None, "nobody let it go");
        go.send(()).expect("it waits");
        assert_eq!(next(&mut pool, &interrupt), Ok(()));
    }

    #[test]
    fn a_panic_is_an_error_and_the_thread_works_on() {
        let interrupt = Interrupt::listen().expect("signals");
        let mut pool = Pool::new(1);
        pool.start(|| panic!("on purpose")).expect("a thread");
        let error = loop {
            match pool.wait(&interrupt) {
                Ok(answer) => assert_eq!(answer, None),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("broke off"), "{error}");
        pool.start(|| 7).expect("a thread");
        assert_eq!(next(&mut pool, &interrupt), 7);
    }
}
