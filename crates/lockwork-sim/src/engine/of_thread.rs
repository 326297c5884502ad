// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is counted of one thread.

use super::tree::Ps;
use crate::outcome::Doing;

/// Of one thread. What is counted most often comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct OfThread {
    pub(super) doing: Doing,
    running: bool,
    asleep: bool,
    pub(super) woken: bool,
    pub(super) wait_transfer: Ps,
    pub(super) shown: (Doing, Ps),
    /// When it last lost its CPU, and got one again.
    pub(super) off: (Ps, Ps),
    off_total: Ps,
    /// The wait that it is in, or was last: since when, for which lock, and whether to read.
    pub(super) wait_from: Ps,
    pub(super) wait_for: (usize, bool),
    /// The call that it is in: its begin, and the time off its CPU before.
    call_from: Ps,
    call_off: Ps,
    pub(super) gives_back: bool,
    /// The lock that it waits for was held when it came; how many had got it that would
    /// exclude it.
    pub(super) met: bool,
    pub(super) before: u64,
    /// The locks that it holds, and since when.
    pub(super) held: Vec<(usize, Ps)>,
    pub(super) wait_asleep: Ps,
    pub(super) wait_waking: Ps,
    pub(super) wait_holder: Ps,
    pub(super) wait_next: Ps,
    sleeps_since: Ps,
    woken_at: Ps,
    /// Woken while it waits for a lock, and without a CPU since.
    ready_since: Option<Ps>,
    from: Ps,
    from_off: Ps,
    pub id: u32,
    pub cpu: u32,
    /// Acquisitions.
    pub acquisitions: u64,
    /// Rounds of a role's steps.
    pub rounds: u64,
    /// CPU time, ps; set at the end.
    pub busy: Ps,
}

impl Default for OfThread {
    fn default() -> Self {
        OfThread {
            doing: Doing::Think,
            shown: (Doing::Think, 0),
            running: false,
            asleep: false,
            woken: false,
            off: (0, 0),
            off_total: 0,
            wait_from: 0,
            wait_for: (0, false),
            call_from: 0,
            call_off: 0,
            gives_back: false,
            met: false,
            before: 0,
            held: Vec::new(),
            wait_asleep: 0,
            wait_waking: 0,
            wait_transfer: 0,
            wait_holder: 0,
            wait_next: 0,
            sleeps_since: 0,
            woken_at: 0,
            ready_since: None,
            from: 0,
            from_off: 0,
            id: 0,
            cpu: 0,
            acquisitions: 0,
            rounds: 0,
            busy: 0,
        }
    }
}

impl OfThread {
    /// What it is at, besides sleeping.
    pub fn doing(&self) -> Doing {
        self.doing
    }

    /// It has no CPU yet.
    pub fn starts_off(&mut self, time: Ps) {
        self.off.0 = time;
        self.asleep = true;
    }

    /// It begins to wait for a lock.
    pub(super) fn begins_to_wait(&mut self, time: Ps) {
        (self.doing, self.wait_from) = (Doing::Wait, time);
        (self.call_from, self.call_off) = (time, self.off_total(time));
        (self.wait_asleep, self.wait_waking, self.wait_transfer) = (0, 0, 0);
    }

    /// It is about to give `lock` back: since when it held it.
    pub(super) fn gives_back(&mut self, lock: usize, time: Ps) -> Ps {
        let at = self.held.iter().rposition(|&(held, _)| held == lock);
        let since = at.map_or(time, |at| self.held.remove(at).1);
        self.doing = match self.held.is_empty() {
            true => Doing::Think,
            false => Doing::Hold,
        };
        self.gives_back = true;
        (self.call_from, self.call_off) = (time, self.off_total(time));
        since
    }

    /// It has waited for a line for so long.
    pub fn transfer(&mut self, time: Ps) {
        if self.doing == Doing::Wait {
            self.wait_transfer += time;
        }
    }

    /// It runs, or not. True if that is new.
    pub fn set_running(&mut self, running: bool, time: Ps) -> bool {
        if self.running == running {
            return false;
        }
        self.running = running;
        if running {
            self.off.1 = time;
            self.off_total += time.saturating_sub(self.off.0);
        } else {
            // It may have been about to run only from a later time on, after a switch.
            self.off.0 = time.max(self.off.1);
        }
        true
    }

    fn off_total(&self, time: Ps) -> Ps {
        let now = if self.running {
            0
        } else {
            time.saturating_sub(self.off.0)
        };
        self.off_total + now
    }

    pub fn falls_asleep(&mut self, time: Ps) {
        (self.asleep, self.woken) = (true, false);
        (self.sleeps_since, self.woken_at) = (time, 0);
    }

    pub fn is_woken(&mut self, time: Ps) {
        (self.woken, self.woken_at) = (true, time);
    }

    /// It is ready, and may have to wait for a CPU.
    pub fn woken_up(&mut self, time: Ps) {
        if std::mem::take(&mut self.asleep) && self.doing == Doing::Wait && self.woken_at > 0 {
            self.wait_asleep += self.woken_at.saturating_sub(self.sleeps_since);
            self.wait_waking += time.saturating_sub(self.woken_at);
            self.ready_since = Some(time);
        }
    }

    /// It has a CPU.
    pub fn runs_again(&mut self, time: Ps) {
        if let Some(since) = self.ready_since.take() {
            self.wait_waking += time.saturating_sub(since);
        }
    }

    /// What was measured so far was warm-up.
    pub fn restart(&mut self, time: Ps) {
        (self.acquisitions, self.rounds) = (0, 0);
        (self.from, self.from_off) = (time, self.off_total(time));
        // Of a call that it is in, only the rest counts.
        (self.call_from, self.call_off) = (time, self.from_off);
    }

    /// CPU time since it began its call of lock or unlock.
    pub(super) fn in_call(&self, time: Ps) -> Ps {
        let off = self.off_total(time).saturating_sub(self.call_off);
        time.saturating_sub(self.call_from).saturating_sub(off)
    }

    /// CPU time in a call that it is in at the end.
    pub fn unfinished(&self, end: Ps) -> Ps {
        if self.doing == Doing::Wait || self.gives_back {
            self.in_call(end)
        } else {
            0
        }
    }

    /// CPU time since measuring began.
    pub fn busy_until(&self, time: Ps) -> Ps {
        let off = self.off_total(time).saturating_sub(self.from_off);
        time.saturating_sub(self.from).saturating_sub(off)
    }

    /// The locks that it holds, and since when.
    pub fn held(&self) -> &[(usize, Ps)] {
        &self.held
    }

    /// All is over.
    pub fn close(&mut self, end: Ps) -> OfThread {
        self.busy = self.busy_until(end);
        self.clone()
    }

    pub(super) fn shows(&self) -> Doing {
        match (self.asleep, self.running) {
            (true, _) => Doing::Sleep,
            (_, false) => Doing::Ready,
            _ => self.doing,
        }
    }
}
