// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Random programs: a list of operations for each CPU, over a few lines.

use crate::engine::{Change, Ps};
use fastrand::Rng;

/// Bytes of a line.
pub(super) const LINE: usize = 64;

/// An aligned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Bytes from the begin of the memory.
    pub at: usize,
    pub size: u32,
}

impl Word {
    /// The first eight bytes of a line.
    pub fn first(line: usize) -> Word {
        Word {
            at: line * LINE,
            size: 8,
        }
    }

    pub fn line(self) -> usize {
        self.at / LINE
    }

    /// Whether all of `other` is part of it.
    pub fn has(self, other: Word) -> bool {
        self.at <= other.at && other.at + other.size as usize <= self.at + self.size as usize
    }

    pub fn overlaps(self, other: Word) -> bool {
        self.at < other.at + other.size as usize && other.at < self.at + self.size as usize
    }
}

/// What a CPU does.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Load(Word),
    Store(Word, u64),
    Rmw(Word, Change),
    /// Plain C accesses.
    Read(Word),
    Write(Word, u64),
    Fence,
    Compute(Ps),
    /// Waits for the next multiple of this on a clock that always runs alike: CPUs that do
    /// so at the same time go on at the same picosecond.
    Align(Ps),
    /// One `cpu_relax()` by itself.
    Pause,
    /// `smp_cond_load()`: until the word is not what its first load saw.
    Await(Word),
    /// A loop of `cpu_relax()` that loads all of these in each round, until the first one is
    /// not what it was in the first round.
    Spin(Vec<Word>),
    /// The same with `cpu_relax_wait()`, which ends after so many rounds at the latest.
    Count(Vec<Word>, u32),
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// What its last load of the (first) word, or its read-modify-write, returned.
    pub value: u64,
    /// Rounds of a loop.
    pub rounds: u32,
    /// The CPU's clock then.
    pub end: Ps,
}

/// A list for each CPU.
pub(super) type Programs = Vec<Vec<Op>>;

/// Programs of `cpus` CPUs. Those of one never wait for a change, are long, and change the
/// first words of all lines: what the others wait for does come, but maybe near the end.
pub(super) fn random(random: &mut Rng, cpus: usize) -> Programs {
    let lines = random.usize(1..=8);
    let ops = random.usize(10..60);
    let ticker = random.usize(..cpus);
    let align = [None, Some(200_000), Some(500_000)][random.usize(..3)];
    let program = |cpu| {
        let mut program = Vec::new();
        let ops = if cpu == ticker { 3 * ops } else { ops };
        while program.len() < ops {
            draw(random, lines, cpu == ticker, align, &mut program);
        }
        program.push(Op::Fence);
        program
    };
    (0..cpus).map(program).collect()
}

/// Adds plain accesses, and marked ones of the same words. Each CPU has four bytes of its own in
/// each line: what several change by plain accesses would be a data race.
pub(super) fn add_plain(random: &mut Rng, programs: &mut Programs) {
    let lines = random.usize(1..=8);
    let often = random.usize(2..8);
    for (cpu, program) in programs.iter_mut().enumerate() {
        for op in std::mem::take(program) {
            if random.usize(..often) == 0 {
                for _ in 0..random.usize(1..6) {
                    program.push(own(random, cpu, lines));
                }
            }
            program.push(op);
        }
    }
}

fn own(random: &mut Rng, cpu: usize, lines: usize) -> Op {
    let (at, size) = [(0, 4), (0, 2), (2, 2)][random.usize(..3)];
    let word = Word {
        at: random.usize(..lines) * LINE + 16 + 4 * cpu + at,
        size,
    };
    match random.u32(..12) {
        0..5 => Op::Read(word),
        5..10 => Op::Write(word, random.u64(..4)),
        10 => Op::Load(word),
        _ => Op::Store(word, random.u64(..4)),
    }
}

/// One more operation, or several that belong together.
fn draw(random: &mut Rng, lines: usize, ticker: bool, align: Option<Ps>, program: &mut Vec<Op>) {
    let most = if ticker { 75 } else { 100 };
    match random.u32(..most) {
        0..20 => program.push(Op::Load(word(random, lines))),
        20..32 => program.push(Op::Store(word(random, lines), random.u64(..4))),
        32..38 => {
            for _ in 0..random.usize(2..8) {
                program.push(Op::Store(word(random, lines), random.u64(..4)));
            }
        }
        38..48 => program.push(Op::Rmw(word(random, lines), change(random))),
        48..58 => {
            let line = random.usize(..lines);
            program.push(Op::Rmw(Word::first(line), Change::Add(1)));
        }
        58..60 => program.push(Op::Fence),
        60..68 => program.push(Op::Compute(random.u64(..300_000))),
        68..72 => program.push(Op::Compute(random.u64(..5_000))),
        72..75 => program.extend(align.map(Op::Align)),
        75..77 => program.push(Op::Pause),
        77..86 => program.push(Op::Await(Word::first(random.usize(..lines)))),
        86..95 => program.push(Op::Spin(words(random, lines, 3))),
        // More lines than a round of a spinner that is parked may have.
        _ => {
            let most = if random.bool() { 8 } else { 2 };
            program.push(Op::Count(words(random, lines, most), random.u32(1..150)));
        }
    }
}

fn words(random: &mut Rng, lines: usize, most: usize) -> Vec<Word> {
    let mut words = vec![Word::first(random.usize(..lines))];
    for _ in 1..random.usize(1..=most) {
        words.push(word(random, lines));
    }
    words
}

/// Often the first of its line; some are halves of others.
fn word(random: &mut Rng, lines: usize) -> Word {
    let first = Word::first(random.usize(..lines));
    let (at, size) = [(0, 8), (0, 8), (0, 4), (4, 4), (8, 8), (6, 2)][random.usize(..6)];
    Word {
        at: first.at + at,
        size,
    }
}

fn change(random: &mut Rng) -> Change {
    let value = random.u64(..4);
    match random.u32(..6) {
        0 => Change::Exchange(value),
        1 => Change::Add(value),
        2 => Change::Or(value),
        3 => Change::AndNot(value),
        _ => Change::Compare(value, random.u64(..4)),
    }
}
