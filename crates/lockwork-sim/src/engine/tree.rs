// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens next: a tournament tree over a fixed set of players.

/// Simulated time, in picoseconds.
pub(crate) type Ps = u64;

/// Bits of a key that name the player.
const PLAYER: u32 = 13;
/// Later than anything.
pub(crate) const NEVER: Ps = Ps::MAX >> PLAYER;

/// Players or matches that a match is between.
const EACH: usize = 4;
/// Its logarithm.
const SHIFT: u32 = EACH.ilog2();

/// Each player's next time; ties go to the lower number. A change costs the
/// logarithm of the number of players, and less where it does not matter.
pub(crate) struct Tree {
    leaves: usize,
    /// The winner's key is at 1. What match `at` is between begins at `EACH * at`.
    keys: Vec<u64>,
    /// No player but the one that runs has a lower key.
    others: u64,
}

/// A player's time and number in one number.
#[inline]
fn key(player: usize, time: Ps) -> u64 {
    if time >= NEVER {
        return u64::MAX;
    }
    time << PLAYER | player as u64
}

impl Tree {
    /// For `players`, 8192 at most, all of them at [`NEVER`].
    pub fn new(players: usize) -> Self {
        assert!(players <= 1 << PLAYER, "too many players");
        let mut leaves = 1;
        while leaves < players {
            leaves *= EACH;
        }
        Tree {
            leaves,
            keys: vec![u64::MAX; 2 * leaves],
            others: 0,
        }
    }

    /// The match of which `at` is a part.
    #[inline]
    fn with(&self, at: usize) -> &[u64; EACH] {
        let first = at & !(EACH - 1);
        self.keys[first..].first_chunk().expect("a whole match")
    }

    /// Sets the time of `player`.
    #[inline]
    pub fn set(&mut self, player: usize, time: Ps) {
        let mut at = self.leaves + player;
        self.keys[at] = key(player, time);
        self.others = self.others.min(self.keys[at]);
        while at > 1 {
            let [a, b, c, d] = *self.with(at);
            let least = a.min(b).min(c.min(d));
            at >>= SHIFT;
            if self.keys[at] == least {
                break;
            }
            self.keys[at] = least;
        }
    }

    /// `player` runs, which is the first, at `time`.
    #[inline]
    pub fn runs(&mut self, player: usize, time: Ps) {
        self.others = key(player, time) + 1;
    }

    /// Whether the running `player` is the first if its time is `time`. Its time in the tree
    /// stays what it was: it has to be set before others run.
    #[inline]
    pub fn is_first(&mut self, player: usize, time: Ps) -> bool {
        let key = key(player, time);
        if key >= self.others {
            self.others = self.least_but(player);
        }
        key < self.others
    }

    /// The lowest key of all players but this one.
    fn least_but(&self, player: usize) -> u64 {
        let mut at = self.leaves + player;
        let mut least = u64::MAX;
        while at > 1 {
            let mut keys = *self.with(at);
            keys[at % EACH] = u64::MAX;
            let [a, b, c, d] = keys;
            least = least.min(a.min(b).min(c.min(d)));
            at >>= SHIFT;
        }
        least
    }

    /// The time of `player`.
    pub fn time(&self, player: usize) -> Ps {
        match self.keys[self.leaves + player] {
            u64::MAX => NEVER,
            key => key >> PLAYER,
        }
    }

    /// Who is next, and when; at [`NEVER`]: nobody.
    #[inline]
    pub fn first(&self) -> (usize, Ps) {
        match self.keys[1] {
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
                tree.runs(first, times[first]);
                for now in times[first]..times[first] + random.u64(..8) {
                    let other = random.usize(..players);
                    if other != first && random.bool() {
                        times[other] = now + random.u64(..8);
                        tree.set(other, times[other]);
                    }
                    let others = (0..players).filter(|&other| other != first);
                    let before = others.map(|other| (times[other], other)).min();
                    let is_first = before.is_none_or(|other| (now, first) < other);
                    assert_eq!(tree.is_first(first, now), is_first);
                    if !is_first {
                        break;
                    }
                }
            }
        }
    }
}
