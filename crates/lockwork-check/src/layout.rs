// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which bytes of C memory form one simulated word.
//!
//! Nobody declares the words: each access registers its span of bytes at first
//! touch. Spans that overlap are one word, so the locked byte of a qspinlock is
//! a field of the word whose 32 bits another access takes at once, while two
//! neighbouring bytes that nobody accesses together stay two words. Memory that
//! only plain C accesses touch becomes cells instead, which carry no value and
//! check for races.
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes below a thread's first C frame that count as its stack.
const STACK_BYTES: u64 = 24 << 10;
/// Bits of a place that hold its offset; above them: 0, or a thread plus one.
const SPACE_SHIFT: u32 = 56;

/// A position in C memory that is the same in every execution: an address of
/// static memory, or a thread and an offset into its stack.
pub(crate) type Place = u64;

/// The place of `addr`. `stacks` holds each thread's base, 0 if it has none yet.
pub(crate) fn place_of(addr: usize, stacks: &[usize]) -> Place {
    let addr = addr as u64;
    for (thread, &base) in stacks.iter().enumerate() {
        let low = (base as u64).saturating_sub(STACK_BYTES);
        if base != 0 && addr >= low && addr < base as u64 {
            return (thread as u64 + 1) << SPACE_SHIFT | (addr - low);
        }
    }
    addr
}

/// Where `place` is now.
pub(crate) fn address_of(place: Place, stacks: &[usize]) -> usize {
    match (place >> SPACE_SHIFT) as usize {
        0 => place as usize,
        thread => stacks[thread - 1] - STACK_BYTES as usize + offset(place) as usize,
    }
}

fn offset(place: Place) -> u64 {
    place & ((1 << SPACE_SHIFT) - 1)
}

/// Whether `addr` may be a local variable of a function whose frame is at
/// `frame`, or of one that it calls.
pub(crate) fn is_local(addr: usize, frame: usize) -> bool {
    addr < frame && frame - addr < STACK_BYTES as usize
}

/// Static memory can be saved and restored; a stack starts anew each time.
fn is_static(place: Place) -> bool {
    place >> SPACE_SHIFT == 0
}

/// Some bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// The first one.
    pub place: Place,
    /// How many.
    pub len: u64,
}

impl Span {
    fn end(self) -> Place {
        self.place + self.len
    }
}

/// What a span of bytes is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// A word, by number.
    Word(usize),
    /// A cell, by number.
    Cell(usize),
}

/// All that is known so far.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    atomic: BTreeSet<Span>,
    /// Each with the threads that touch it, as bits.
    plain: BTreeMap<Span, u32>,
    /// Those of `atomic` that are read-modify-written.
    rmw: BTreeSet<Span>,
    /// Each byte of static memory as it was before anything ran.
    pristine: FxHashMap<Place, u8>,
    /// Accesses to less than a word.
    fields: BTreeSet<Span>,
    /// Words in order of place; none overlaps another.
    pub words: Vec<Span>,
    /// For each word whether it is ever read-modify-written.
    pub has_rmw: Vec<bool>,
    /// For each word whether an access takes a part of it.
    pub has_fields: Vec<bool>,
    cells: Vec<Span>,
    /// Whether more than one thread touches a cell; if not, it cannot race.
    shared: Vec<bool>,
    parts: FxHashMap<(Place, u64, usize), Vec<Part>>,
    restore: Vec<(Place, u8)>,
}

impl Layout {
    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The word that `span` lies in; `None` if it is not known as one.
    pub fn word(&self, span: Span) -> Option<usize> {
        let after = self.words.partition_point(|word| word.place <= span.place);
        let word = self.words.get(after.checked_sub(1)?)?;
        (span.end() <= word.end()).then_some(after - 1)
    }

    /// What a plain access of `thread` to `span` touches; `None` if that is not
    /// known yet.
    pub fn parts(&mut self, span: Span, thread: usize) -> Option<&[Part]> {
        let key = (span.place, span.len, thread);
        if !self.parts.contains_key(&key) {
            let found = self.find_parts(span, thread)?;
            self.parts.insert(key, found);
        }
        self.parts.get(&key).map(|parts| parts.as_slice())
    }

    fn find_parts(&self, span: Span, thread: usize) -> Option<Vec<Part>> {
        let mut parts = Vec::new();
        let mut at = span.place;
        while at < span.end() {
            let byte = Span { place: at, len: 1 };
            let (part, end) = match self.word(byte) {
                Some(word) => (Some(Part::Word(word)), self.words[word].end()),
                None => {
                    let cell = find(&self.cells, at)?;
                    self.touched(byte, thread).then_some(())?;
                    let part = self.shared[cell].then_some(Part::Cell(cell));
                    (part, at + 1)
                }
            };
            if part.is_some() && parts.last() != part.as_ref() {
                parts.extend(part);
            }
            at = end;
        }
        Some(parts)
    }

    /// Whether `thread` is known to touch the cell of `byte`.
    fn touched(&self, byte: Span, thread: usize) -> bool {
        let pieces = self.plain.range(
            ..=Span {
                len: u64::MAX,
                ..byte
            },
        );
        let mut near = pieces
            .rev()
            .take_while(|(span, _)| span.place + 8 > byte.place);
        near.any(|(span, threads)| byte.place < span.end() && threads & 1 << thread != 0)
    }

    /// Registers an access by a primitive; `at` is where `span` is now.
    pub fn add_atomic(&mut self, span: Span, at: usize) {
        self.save(span, at);
        self.atomic.insert(span);
        self.rebuild();
    }

    /// Registers a read-modify-write. False: it was known as one.
    pub fn add_rmw(&mut self, span: Span) -> bool {
        let new = self.rmw.insert(span);
        if new {
            self.rebuild();
        }
        new
    }

    /// Registers an access by a primitive that may be to a part of a word only.
    /// False: it was known as one, or it is to a whole word.
    pub fn add_field(&mut self, span: Span) -> bool {
        let word = self.word(span).map(|word| self.words[word]);
        let new = word.is_some_and(|word| word != span) && self.fields.insert(span);
        if new {
            self.rebuild();
        }
        new
    }

    /// Registers a plain access of `thread`.
    pub fn add_plain(&mut self, span: Span, at: usize, thread: usize) {
        self.save(span, at);
        // A long one, such as a struct that is cleared, says nothing about
        // what belongs together.
        let step = if span.len > 8 { 1 } else { span.len };
        for place in (span.place..span.end()).step_by(step as usize) {
            *self.plain.entry(Span { place, len: step }).or_default() |= 1 << thread;
        }
        self.rebuild();
    }

    fn save(&mut self, span: Span, at: usize) {
        if !is_static(span.place) {
            return;
        }
        for i in 0..span.len {
            // SAFETY: C accesses these bytes now, so they are there.
            let byte = unsafe { *((at + i as usize) as *const u8) };
            self.pristine.entry(span.place + i).or_insert(byte);
        }
        self.restore = self.pristine.iter().map(|(&p, &b)| (p, b)).collect();
    }

    fn rebuild(&mut self) {
        self.words = merge(&self.atomic);
        self.cells = merge(&self.plain.keys().copied().collect());
        self.shared = self
            .cells
            .iter()
            .map(|&cell| self.is_shared(cell))
            .collect();
        let inside = |word: &Span| {
            let first = Span { len: 0, ..*word };
            let mut rmw = self.rmw.range(first..);
            rmw.next().is_some_and(|span| span.place < word.end())
        };
        self.has_rmw = self.words.iter().map(inside).collect();
        let divided = |word: &Span| {
            let first = Span { len: 0, ..*word };
            let mut field = self.fields.range(first..);
            field.next().is_some_and(|span| span.place < word.end())
        };
        self.has_fields = self.words.iter().map(divided).collect();
        self.parts.clear();
    }

    fn is_shared(&self, cell: Span) -> bool {
        let first = Span { len: 0, ..cell };
        let pieces = self.plain.range(first..);
        let inside = pieces.take_while(|(span, _)| span.place < cell.end());
        inside
            .fold(0, |all, (_, threads)| all | threads)
            .count_ones()
            > 1
    }

    /// Puts static memory back to how it was before anything ran.
    pub fn restore(&self) {
        for &(place, byte) in &self.restore {
            let at = place as usize as *mut u8;
            // SAFETY: static memory of this program. What differs was written
            // by C, so it is writable; constants do not differ.
            unsafe {
                if *at != byte {
                    *at = byte;
                }
            }
        }
    }
}

fn find(spans: &[Span], place: Place) -> Option<usize> {
    let after = spans.partition_point(|span| span.place <= place);
    let index = after.checked_sub(1)?;
    (place < spans[index].end()).then_some(index)
}

/// Unites what overlaps.
fn merge(spans: &BTreeSet<Span>) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::new();
    for &span in spans {
        match merged.last_mut() {
            Some(last) if span.place < last.end() => {
                last.len = last.len.max(span.end() - last.place);
            }
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(place: Place, len: u64) -> Span {
        Span { place, len }
    }

    #[test]
    fn overlapping_accesses_are_one_word_and_neighbours_are_not() {
        let memory = [0u8; 16];
        let at = memory.as_ptr() as usize;
        let base = at as Place;
        let mut layout = Layout::default();
        layout.add_atomic(span(base, 1), at);
        layout.add_atomic(span(base + 1, 1), at + 1);
        assert_eq!(layout.words.len(), 2);
        layout.add_atomic(span(base, 4), at);
        assert_eq!(layout.words, [span(base, 4)]);
        assert_eq!(layout.word(span(base + 2, 2)), Some(0));
        assert_eq!(layout.word(span(base + 3, 2)), None);
    }

    #[test]
    fn a_word_has_fields_once_a_part_of_it_is_accessed() {
        let memory = [0u8; 8];
        let at = memory.as_ptr() as usize;
        let base = at as Place;
        let mut layout = Layout::default();
        layout.add_atomic(span(base, 4), at);
        assert!(!layout.add_field(span(base, 4)));
        assert_eq!(layout.has_fields, [false]);
        assert!(layout.add_field(span(base + 2, 2)));
        assert!(!layout.add_field(span(base + 2, 2)));
        assert_eq!(layout.has_fields, [true]);
    }

    #[test]
    fn a_plain_access_may_touch_words_and_cells() {
        let memory = [0u8; 16];
        let at = memory.as_ptr() as usize;
        let base = at as Place;
        let mut layout = Layout::default();
        layout.add_atomic(span(base, 4), at);
        assert_eq!(layout.parts(span(base, 8), 0), None);
        layout.add_plain(span(base + 4, 4), at + 4, 0);
        let word = [Part::Word(0)];
        assert_eq!(layout.parts(span(base, 8), 0), Some(word.as_slice()));
        assert_eq!(layout.parts(span(base, 8), 1), None);
        layout.add_plain(span(base + 4, 4), at + 4, 1);
        let both = [Part::Word(0), Part::Cell(0)];
        assert_eq!(layout.parts(span(base, 8), 0), Some(both.as_slice()));
    }

    #[test]
    fn a_stack_place_moves_with_its_stack() {
        let stacks = [0x10_0000, 0x20_0000];
        let place = place_of(0x1f_fff0, &stacks);
        assert_eq!(address_of(place, &stacks), 0x1f_fff0);
        let moved = [0x10_0000, 0x70_0000];
        assert_eq!(address_of(place, &moved), 0x6f_fff0);
        assert_eq!(place_of(0x20_0000, &stacks), 0x20_0000);
    }

    #[test]
    fn memory_is_restored_to_what_it_was_at_first_touch() {
        let mut memory = [7u8; 4];
        let at = memory.as_mut_ptr() as usize;
        let mut layout = Layout::default();
        layout.add_plain(span(at as Place, 4), at, 0);
        // SAFETY: the array above.
        unsafe { *(at as *mut u8) = 9 };
        layout.add_atomic(span(at as Place, 1), at);
        layout.restore();
        assert_eq!(std::hint::black_box(&memory)[0], 7);
    }
}
