// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting: fruitless rounds, sleeps, wake-ups, and what never ends.
use super::old::skip;
use super::state::{fail, flush, note, with, Mode, Order, FUTEXES};
use super::target::target;
use crate::layout::place_of;
use crate::running::{current, scheduled, with_view};
use crate::site::Site;
use crate::trace::What;
use crate::verdict::Kind;
use std::rc::Rc;

/// Fruitless rounds of one wait that are explored; see docs/proof.md.
const ROUNDS_EXPLORED: u32 = 1;
/// Fruitless rounds of all threads in a row, per thread, with no word changed.
const QUIET_ROUNDS: u32 = 300;
/// The same after which a sleeper that only naps looks again.
const NAP_ROUNDS: u32 = 20;
/// Fruitless rounds of an execution after which nobody will get on any more.
const TOTAL_ROUNDS: u32 = 50_000;

/// One more fruitless round of the wait at `site`.
pub(crate) fn round(site: &'static Site) {
    flush();
    let (mode, prune, stuck) = with(|state| {
        let count = state.threads.len() as u32;
        let thread = &mut state.threads[current()];
        if thread.wrote || thread.wait != Some(site as *const Site) {
            thread.rounds = 0;
        }
        thread.wait = Some(site);
        thread.wrote = false;
        thread.rounds += 1;
        state.quiet += 1;
        state.total += 1;
        let stuck = state.quiet > QUIET_ROUNDS * count || state.total > TOTAL_ROUNDS;
        // To look in vain at an old value is to look later.
        let look = thread
            .last_look
            .filter(|look| std::ptr::eq(look.site, site));
        let old = look.is_some_and(|look| thread.old_loads.contains(&look));
        (state.mode, thread.rounds > ROUNDS_EXPLORED || old, stuck)
    });
    if stuck || mode == Mode::Direct {
        report_stuck(site);
    }
    match mode {
        Mode::Loom => {
            if prune {
                skip();
            }
            scheduled(loom::thread::yield_now);
        }
        _ => scheduled(shuttle::thread::yield_now),
    }
}

/// A wait is over: the next one counts anew.
pub(crate) fn wait_over() {
    with(|state| {
        if let Some(thread) = state.threads.get_mut(current()) {
            thread.wait = None;
        }
    });
}

fn report_stuck(site: &Site) -> ! {
    let (kind, text) = with(|state| {
        let sleeper = state
            .threads
            .iter()
            .position(|thread| thread.asleep.is_some());
        let waiting = state
            .threads
            .iter()
            .filter(|thread| !thread.finished)
            .count();
        let place = format!("{}:{} ({})", site.file(), site.line, site.function());
        if state.quiet <= QUIET_ROUNDS * state.threads.len() as u32 && state.mode != Mode::Direct {
            let text = format!("words change, but no thread gets on; one waits at {place}");
            (Kind::Livelock, text)
        } else if let Some(sleeper) = sleeper {
            let text = format!("T{sleeper} sleeps, and nobody will wake it");
            (Kind::LostWakeup, text)
        } else {
            let text = format!("{waiting} waiting and nothing changes any more; one at {place}");
            (Kind::Deadlock, text)
        }
    });
    fail(kind, text)
}

/// Makes loom explore the order of sleeps and wake-ups at `addr`. Two addresses
/// may share a queue: that costs executions, nothing else.
fn futex_step(addr: usize) {
    let futex = with(|state| {
        let place = place_of(addr, &state.stacks) as usize;
        state.futexes.get(place / 4 % FUTEXES).cloned()
    });
    explored_step(futex);
}

/// The same for `thread` being woken and it looking whether it was.
fn bell_step(thread: usize) {
    explored_step(with(|state| state.bells.get(thread).cloned()));
}

/// A step whose order against others on `object` is explored; relaxed, so that
/// it orders no memory of the locks.
fn explored_step(object: Option<Rc<loom::sync::atomic::AtomicU64>>) {
    match (with(|state| state.mode), object) {
        (Mode::Loom, Some(object)) => {
            scheduled(|| object.fetch_add(1, Order::Relaxed));
            with(|state| with_view(|_, view| view.step(&mut state.sleeps)));
        }
        (Mode::Fuzz, _) => scheduled(|| shuttle::thread::sleep(std::time::Duration::ZERO)),
        _ => {}
    }
}

/// `sleeper` leaves the queue.
fn get_up(sleeper: usize) {
    with(|state| {
        state.threads[sleeper].asleep = None;
        state.sleepers.retain(|&other| other != sleeper);
    });
}

/// `wait_on_value`; `naps`: it also ends once nothing else happens. False: the time is up.
pub(crate) fn sleep(
    addr: usize,
    value: u32,
    (timed, naps): (bool, bool),
    site: &'static Site,
) -> bool {
    let word = target(addr, 4, true, site);
    futex_step(addr);
    let me = current();
    // On the queue first, then the look at the value: a wake-up that comes
    // between the two is not lost, as under the kernel's bucket lock.
    with(|state| {
        state.threads[me].asleep = Some(addr);
        state.sleepers.push(me);
    });
    let seen = word.update_newest(Order::Relaxed, |seen| seen) as u32;
    if seen != value {
        get_up(me);
        note(Some(site), What::NoSleep { seen });
        return true;
    }
    note(Some(site), What::Sleep);
    let mut early = with(|state| state.threads[me].spurious > 0);
    loop {
        if with(|state| state.threads[me].asleep.is_none()) {
            note(Some(site), What::Woken);
            wait_over();
            return true;
        }
        round(site);
        bell_step(me);
        let (asleep, nap) = with(|state| {
            let quiet = state.quiet > NAP_ROUNDS * state.threads.len() as u32;
            (state.threads[me].asleep.is_some(), naps && quiet)
        });
        if asleep && (timed || early || nap) {
            get_up(me);
            with(|state| state.threads[me].spurious -= u32::from(early));
            note(Some(site), What::Timeout { early: !timed });
            wait_over();
            return !timed;
        }
        early = false;
    }
}

/// The one that has slept longest there, as the kernel's queue has it.
fn first_asleep(addr: usize) -> Option<usize> {
    with(|state| {
        let sleepers = state.sleepers.iter();
        let mut there = sleepers.filter(|&&sleeper| state.threads[sleeper].asleep == Some(addr));
        there.next().copied()
    })
}

/// `wake_value`: the one that has slept longest there. Whether there was one.
pub(crate) fn wake(addr: usize, site: &'static Site) -> bool {
    flush();
    with(|state| *state.reached.entry(site).or_default() += 1);
    futex_step(addr);
    let mut woken = first_asleep(addr);
    while let Some(sleeper) = woken {
        // Within this step it may time out, or another may wake it: then it is the next one.
        bell_step(sleeper);
        if first_asleep(addr) == woken {
            get_up(sleeper);
            with(|state| state.quiet = 0);
            break;
        }
        woken = first_asleep(addr);
    }
    note(Some(site), What::Wake { woken });
    woken.is_some()
}
