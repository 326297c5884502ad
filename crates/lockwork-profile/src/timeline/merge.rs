// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fewer bars: what is short and close together becomes one.

use super::bars::Bar;

/// The first bin is the run divided by this: less than what a screen shows.
const FINEST: u64 = 1 << 14;

/// At most about `most` of `all`, which are by row and time, and the bin by which they were
/// merged; 0: none was.
pub fn reduced(all: &[Bar], end: u64, most: usize) -> (Vec<Bar>, u64) {
    let mut bars = all.to_vec();
    let mut bin = 0;
    while bars.len() > most && bin < end {
        bin = (bin * 2).max(end / FINEST).max(1);
        bars = merged(&bars, bin);
    }
    (bars, bin)
}

/// Bars of a row in the same state become one if one of them is shorter than the bin and so
/// is the distance.
fn merged(all: &[Bar], bin: u64) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    // The last one of this row in each state: waits and holds alternate.
    let mut last: Vec<usize> = Vec::new();
    for bar in all {
        last.retain(|at| bars[*at].row == bar.row);
        let same = last.iter().position(|at| bars[*at].state == bar.state);
        if let Some(at) = same {
            let before = &mut bars[last[at]];
            let short = bar.to - bar.from < bin || before.to - before.from < bin;
            if short && bar.from < before.to.saturating_add(bin) {
                before.to = before.to.max(bar.to);
                before.count += bar.count;
                before.sum += bar.sum;
                continue;
            }
            last.swap_remove(at);
        }
        last.push(bars.len());
        bars.push(bar.clone());
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::super::bars::State;
    use super::*;

    fn bar(row: usize, state: State, from: u64, to: u64) -> Bar {
        Bar {
            row,
            thread: row as u64,
            state,
            from,
            to,
            site: 1,
            holder: None,
            holder_site: 0,
            count: 1,
            sum: to - from,
        }
    }

    #[test]
    fn short_neighbours_of_a_row_and_state_become_one() {
        let all = [
            bar(0, State::Wait, 0, 5),
            bar(0, State::Hold, 5, 7),
            bar(0, State::Wait, 8, 10),
            bar(0, State::Wait, 500, 502),
            bar(1, State::Wait, 503, 505),
        ];
        let found = merged(&all, 10);
        let ends: Vec<(u64, u64, usize, u64)> = found
            .iter()
            .map(|b| (b.from, b.to, b.count, b.sum))
            .collect();
        assert_eq!(
            ends,
            [
                (0, 10, 2, 7),
                (5, 7, 1, 2),
                (500, 502, 1, 2),
                (503, 505, 1, 2)
            ]
        );
    }

    #[test]
    fn no_more_are_left_than_asked_for_and_none_is_lost() {
        let all: Vec<Bar> = (0..10_000)
            .map(|n| bar(0, State::Hold, n * 10, n * 10 + 4))
            .collect();
        let (bars, bin) = reduced(&all, 100_000, 300);
        assert!(bars.len() <= 300 && bin > 0);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<usize>(), 10_000);
        assert_eq!(reduced(&all, 100_000, 10_000).1, 0);
    }
}
