// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A line of memory: who has it, and who wants it.

use super::tree::Ps;
use std::ops::Range;

/// What an access does to its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    Store,
    Rmw,
}

/// Nobody.
pub(crate) const NONE: u16 = u16::MAX;

/// Waiters that are looked for one by one.
const FEW: usize = 2;

/// One line of memory. What most events look at is in one line of the host's cache, and what some
/// do in the next.
#[repr(C, align(64))]
pub(crate) struct Line {
    /// The place that has it alone, or [`NONE`].
    pub owner: u16,
    /// The only place that ever asked for it or used it, or [`NONE`] if there were several.
    only: u16,
    /// The node where it lives: that of its first user.
    pub home: u16,
    /// The place that it is on its way to, or was last.
    pub coming: u16,
    /// Copies, where nobody has it alone.
    pub copies: u16,
    /// The places with the first two of them, or [`NONE`].
    two: [u16; 2],
    /// Changes whenever copies are taken back.
    pub version: u32,
    /// Changes with all that a price depends on.
    pub changes: u32,
    /// When the next request can be granted.
    pub free_at: Ps,
    /// Until then requests of its island come first.
    pub stays: Ps,
    /// Requests that have arrived.
    pub pending: Vec<Pending>,
    /// Clusters that have copies, or to which one is on its way, while nobody has the line
    /// alone.
    pub fills: Vec<Fill>,
    /// CPUs that wait for the line to be taken from them, each with the number
    /// of that wait.
    pub waiters: Vec<(u16, u32)>,
    /// A bit for each place with a copy, if there are more than two.
    who: Box<[u64]>,
    /// A bit for each of the waiters, by CPU, if there are more than [`FEW`].
    waiting: Vec<u64>,
}

/// When a request is served: at a time, and then in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub due: Ps,
    pub turn: Ps,
}

impl Rank {
    pub const MAX: Rank = Rank {
        due: Ps::MAX,
        turn: Ps::MAX,
    };
}

/// A request that waits for a line: what [`Engine::choose`](super::state::Engine::choose) needs of
/// it, side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub arrived: Ps,
    /// As of the last choice; [`Rank::MAX`] if it did not matter.
    pub rank: Rank,
    pub agent: u16,
    /// That of the agent's CPU, which stays there meanwhile.
    pub place: u16,
    pub kind: Kind,
}

/// A copy of a line in the cache that a cluster shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fill {
    pub cluster: u16,
    /// When it is there.
    pub ready: Ps,
    /// When it can be read next.
    pub free_at: Ps,
}

impl Line {
    /// One that nobody has used, with its home at a node, and its first user.
    pub fn new(home: u16, user: u16) -> Line {
        Line {
            owner: NONE,
            only: user,
            home,
            coming: NONE,
            copies: 0,
            two: [NONE; 2],
            version: 0,
            changes: 0,
            free_at: 0,
            stays: 0,
            pending: Vec::new(),
            fills: Vec::new(),
            waiters: Vec::new(),
            who: Box::default(),
            waiting: Vec::new(),
        }
    }

    /// `place` asks for it.
    #[inline]
    pub fn wanted_by(&mut self, place: u16) {
        if self.only != place {
            self.only = NONE;
        }
    }

    /// Whether `place` has it, and nobody else ever asked for it.
    #[inline]
    pub fn is_private(&self, place: u16) -> bool {
        self.owner == place && self.only == place
    }

    /// Takes it from all that have it.
    pub fn take_away(&mut self) {
        self.owner = NONE;
        if self.copies > 2 {
            self.who.fill(0);
        }
        (self.copies, self.two) = (0, [NONE; 2]);
        self.fills.clear();
        self.version += 1;
        self.changes += 1;
    }

    /// A copy has arrived at one of so many places.
    pub fn give_copy(&mut self, place: u16, places: usize) {
        if self.has_copy(place) {
            return;
        }
        match self.copies {
            few @ (0 | 1) => self.two[usize::from(few)] = place,
            2 => {
                if self.who.is_empty() {
                    self.who = vec![0; places.div_ceil(64)].into();
                }
                let [first, second] = self.two;
                for place in [first, second, place] {
                    self.mark(place);
                }
            }
            _ => self.mark(place),
        }
        self.copies += 1;
        self.changes += 1;
    }

    fn mark(&mut self, place: u16) {
        self.who[usize::from(place) / 64] |= 1 << (place % 64);
    }

    /// `cpu` waits for the line to be taken from it; the number is that of the wait.
    pub fn add_waiter(&mut self, cpu: u16, wait: u32) {
        let few = self.waiters.len() <= FEW;
        if few || self.is_marked(cpu) {
            if let Some(old) = self.waiters.iter_mut().find(|old| old.0 == cpu) {
                old.1 = wait;
                return;
            }
        }
        self.waiters.push((cpu, wait));
        match self.waiters.len() {
            ..=FEW => {}
            len if len == FEW + 1 => (0..len).for_each(|at| self.mark_waiter(self.waiters[at].0)),
            _ => self.mark_waiter(cpu),
        }
    }

    /// Whether `cpu` is one of many waiters.
    fn is_marked(&self, cpu: u16) -> bool {
        let word = self.waiting.get(usize::from(cpu) / 64);
        word.is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    fn mark_waiter(&mut self, cpu: u16) {
        let word = usize::from(cpu) / 64;
        if self.waiting.len() <= word {
            self.waiting.resize(word + 1, 0);
        }
        self.waiting[word] |= 1 << (cpu % 64);
    }

    /// Those that wait, who do so no longer; to be given back by [`Line::reuse`].
    pub fn take_waiters(&mut self) -> Vec<(u16, u32)> {
        if self.waiters.len() > FEW {
            self.waiting.fill(0);
        }
        std::mem::take(&mut self.waiters)
    }

    /// Room for waiters to come.
    pub fn reuse(&mut self, mut room: Vec<(u16, u32)>) {
        room.clear();
        self.waiters = room;
    }

    #[inline]
    pub fn has_copy(&self, place: u16) -> bool {
        if self.copies <= 2 {
            return self.two.contains(&place);
        }
        let word = self.who.get(usize::from(place) / 64);
        word.is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// The copy that is not at `place`, if there is just one. That is most often so.
    #[inline]
    pub fn sole_copy_but(&self, place: u16) -> Option<u16> {
        let [first, second] = self.two;
        match self.copies {
            1 if first != place => Some(first),
            2 if first == place => Some(second),
            2 if second == place => Some(first),
            _ => None,
        }
    }

    /// The bits of `word` that are in `range`.
    #[inline]
    fn within(&self, word: usize, range: &Range<u16>) -> u64 {
        let (start, end) = (usize::from(range.start), usize::from(range.end));
        let low = start.saturating_sub(64 * word);
        let high = (end - 64 * word).min(64);
        self.who[word] & (u64::MAX >> (64 - high)) & (u64::MAX << low)
    }

    /// Those of `who` that a range is in; none, if there is nothing in it.
    #[inline]
    fn words(&self, range: &Range<u16>) -> Range<usize> {
        if range.is_empty() || self.who.is_empty() {
            return 0..0;
        }
        usize::from(range.start / 64)..usize::from((range.end - 1) / 64 + 1)
    }

    #[inline]
    pub fn first_copy_in(&self, range: &Range<u16>) -> Option<u16> {
        if self.copies <= 2 {
            return self.of_two(range).min();
        }
        for word in self.words(range) {
            let bits = self.within(word, range);
            if bits != 0 {
                return Some((64 * word) as u16 + bits.trailing_zeros() as u16);
            }
        }
        None
    }

    pub fn copies_in(&self, range: &Range<u16>) -> u16 {
        if self.copies <= 2 {
            return self.of_two(range).count() as u16;
        }
        let copies = |word| self.within(word, range).count_ones() as u16;
        self.words(range).map(copies).sum()
    }

    /// Those of two copies that are in `range`.
    #[inline]
    fn of_two<'a>(&'a self, range: &'a Range<u16>) -> impl Iterator<Item = u16> + 'a {
        self.two
            .iter()
            .copied()
            .filter(|place| range.contains(place))
    }
}
