// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens next: a tournament tree over a fixed set of players.

/// Simulated time, in picoseconds.
pub(crate) type Ps = u64;

/// Bits of a key that name the player.
const PLAYER: u32 = 13;
/// Later than anything.
pub(crate) const NEVER: Ps = Ps::MAX >> PLAYER;

/// Players or matches that a match is between: their keys are one line of the host's cache.
const EACH: usize = 8;
/// Its logarithm.
const SHIFT: u32 = EACH.ilog2();

/// The keys of those that a match is between.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Match([u64; EACH]);

/// The seat of a player that is at [`NEVER`].
const NOWHERE: u8 = EACH as u8;
/// The seat of a player that is in the matches of all.
const BEHIND: u8 = NOWHERE + 1;

/// Each player's next time; ties go to the lower number.
///
/// Mostly few have a time: the others wait for something. So the first to get a time sit in front,
/// in a match of their own; all others are behind, in a tree of matches. There a change costs the
/// logarithm of the number of players, and less where it does not matter. If many are behind, so
/// are all that come: where each one is can be foreseen then.
pub(crate) struct Tree {
    /// The lowest key of all.
    first: u64,
    /// The lowest in front.
    least: u64,
    /// The seats in front that are free, a bit each.
    free: u8,
    front: Match,
    /// By player: where it is. It stays there until it is at [`NEVER`].
    seats: Vec<u8>,
    /// How many are behind.
    count: usize,
    leaves: usize,
    /// Those behind. Key `at` is in match `at / EACH`; the winner's is at 1. What match `at` is
    /// between begins at `EACH * at`.
    matches: Vec<Match>,
}

/// A player's time and number in one number.
#[inline]
fn key(player: usize, time: Ps) -> u64 {
    if time >= NEVER {
        return u64::MAX;
    }
    time << PLAYER | player as u64
}

impl Match {
    /// The lowest key.
    #[inline]
    fn least(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        let [left, right] = [a.min(b).min(c.min(d)), e.min(f).min(g.min(h))];
        left.min(right)
    }
}

impl Tree {
    /// For `players`, 8192 at most, all of them at [`NEVER`].
    pub fn new(players: usize) -> Self {
        assert!(players <= 1 << PLAYER, "too many players");
        let mut leaves = EACH;
        while leaves < players {
            leaves *= EACH;
        }
        Tree {
            first: u64::MAX,
            least: u64::MAX,
            free: u8::MAX,
            front: Match([u64::MAX; EACH]),
            seats: vec![NOWHERE; players],
            count: 0,
            leaves,
            matches: vec![Match([u64::MAX; EACH]); (leaves + players).div_ceil(EACH)],
        }
    }

    /// Sets the time of `player`. At each place where it is called it would be too long.
    #[inline(never)]
    pub fn set(&mut self, player: usize, time: Ps) {
        let new = key(player, time);
        let seat = self.seats[player];
        if seat < NOWHERE {
            self.front.0[usize::from(seat) % EACH] = new;
            if new == u64::MAX {
                self.seats[player] = NOWHERE;
                self.free |= 1 << seat;
            }
            self.least = self.front.least();
            self.first = self.least.min(self.matches[0].0[1]);
        } else if seat == BEHIND || (new != u64::MAX && !self.sits(player, new)) {
            self.set_behind(player, new);
        }
    }

    /// Gives a player that is nowhere a seat in front. False: it has to be behind.
    #[inline]
    fn sits(&mut self, player: usize, new: u64) -> bool {
        if self.free == 0 || self.count >= EACH {
            return false;
        }
        let seat = self.free.trailing_zeros() as usize;
        self.seats[player] = seat as u8;
        self.free &= self.free - 1;
        self.front.0[seat % EACH] = new;
        self.least = self.least.min(new);
        self.first = self.first.min(new);
        true
    }

    /// Sets the key of a player that is behind, before or after that.
    #[inline]
    fn set_behind(&mut self, player: usize, new: u64) {
        self.seats[player] = if new == u64::MAX { NOWHERE } else { BEHIND };
        let mut at = self.leaves + player;
        let mut own = &mut self.matches[at >> SHIFT];
        let old = std::mem::replace(&mut own.0[at % EACH], new);
        self.count += usize::from(old == u64::MAX);
        self.count -= usize::from(new == u64::MAX);
        if new < old {
            // It wins the matches whose winner is later. To stop at the first that it does not
            // win would take longer: where that is cannot be foreseen.
            while at > 1 {
                at >>= SHIFT;
                let winner = &mut self.matches[at >> SHIFT].0[at % EACH];
                *winner = new.min(*winner);
            }
        } else if new > old {
            // Of the matches that it won, the winner may be another. Its own key is left out of
            // what is compared, so that the levels do not wait for one another.
            let mut least = new;
            loop {
                own.0[at % EACH] = u64::MAX;
                let others = own.least();
                own.0[at % EACH] = least;
                least = least.min(others);
                at >>= SHIFT;
                own = &mut self.matches[at >> SHIFT];
                if own.0[at % EACH] != old {
                    break;
                }
                if at == 1 {
                    own.0[1] = least;
                    break;
                }
            }
        }
        self.first = self.least.min(self.matches[0].0[1]);
    }

    /// Whether `player`, which is at [`NEVER`] because it runs, would be the first at `time`.
    #[inline]
    pub fn would_be_first(&self, player: usize, time: Ps) -> bool {
        key(player, time) < self.first
    }

    /// The time of `player`.
    pub fn time(&self, player: usize) -> Ps {
        let at = self.leaves + player;
        let key = match self.seats[player] {
            NOWHERE => u64::MAX,
            BEHIND => self.matches[at >> SHIFT].0[at % EACH],
            seat => self.front.0[usize::from(seat)],
        };
        match key {
            u64::MAX => NEVER,
            key => key >> PLAYER,
        }
    }

    /// Who is next, and when; at [`NEVER`]: nobody.
    #[inline]
    pub fn first(&self) -> (usize, Ps) {
        match self.first {
            u64::MAX => (0, NEVER),
            key => ((key & ((1 << PLAYER) - 1)) as usize, key >> PLAYER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_earliest_and_breaks_ties_by_number() {
        let mut tree = Tree::new(5);
        assert_eq!(tree.first(), (0, NEVER));
        for (player, time) in [(4, 30), (2, 10), (3, 10), (0, 20)] {
            tree.set(player, time);
        }
        assert_eq!(tree.first(), (2, 10));
        tree.set(2, 40);
        assert_eq!(tree.first(), (3, 10));
        tree.set(3, NEVER);
        assert_eq!(tree.first(), (0, 20));
        assert_eq!((tree.time(2), tree.time(3)), (40, NEVER));
    }

    #[test]
    fn agrees_with_a_list() {
        let mut random = fastrand::Rng::with_seed(1);
        for players in [1, 3, 4, 5, 16, 17, 100, 320] {
            let mut tree = Tree::new(players);
            let mut times = vec![NEVER; players];
            for _ in 0..2000 {
                let (player, time) = (random.usize(..players), random.u64(..50));
                let time = if time == 0 { NEVER } else { time };
                tree.set(player, time);
                times[player] = time;
                let first = (0..players)
                    .min_by_key(|&player| times[player])
                    .unwrap_or(0);
                if times[first] == NEVER {
                    continue;
                }
                assert_eq!(tree.first(), (first, times[first]));
                // It runs ahead, and changes others' times.
                tree.set(first, NEVER);
                for now in times[first]..times[first] + random.u64(..8) {
                    let other = random.usize(..players);
                    if other != first && random.bool() {
                        times[other] = now + random.u64(..8);
                        tree.set(other, times[other]);
                    }
                    let others = (0..players).filter(|&other| other != first);
                    let before = others.map(|other| (times[other], other)).min();
                    let is_first = before.is_none_or(|other| (now, first) < other);
                    assert_eq!(tree.would_be_first(first, now), is_first);
                    if !is_first {
                        break;
                    }
                }
                tree.set(first, times[first]);
            }
        }
    }
}
