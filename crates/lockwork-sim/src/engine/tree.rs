// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens next: a tournament tree over a fixed set of players.

/// Simulated time, in picoseconds.
pub(crate) type Ps = u64;

/// Bits of a key that name the player.
const PLAYER: u32 = 13;
/// Later than anything.
pub(crate) const NEVER: Ps = Ps::MAX >> PLAYER;

/// Each player's next time; ties go to the lower number. A change costs the
/// logarithm of the number of players, and less where it does not matter.
pub(crate) struct Tree {
    leaves: usize,
    keys: Vec<u64>,
}

impl Tree {
    /// For `players`, 8192 at most, all of them at [`NEVER`].
    pub fn new(players: usize) -> Self {
        assert!(players <= 1 << PLAYER, "too many players");
        let leaves = players.next_power_of_two();
        Tree {
            leaves,
            keys: vec![u64::MAX; 2 * leaves],
        }
    }

    /// Sets the time of `player`.
    #[inline]
    pub fn set(&mut self, player: usize, time: Ps) {
        let mut at = self.leaves + player;
        self.keys[at] = if time >= NEVER {
            u64::MAX
        } else {
            time << PLAYER | player as u64
        };
        while at > 1 {
            let least = self.keys[at].min(self.keys[at ^ 1]);
            at >>= 1;
            if self.keys[at] == least {
                break;
            }
            self.keys[at] = least;
        }
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
}
