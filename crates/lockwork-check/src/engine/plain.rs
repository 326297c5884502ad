// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Plain C accesses: watched for races, and told to loom where they change a
//! word.
use super::state::{check_address, flush, note, with, write_real, Mode, Restart};
use crate::layout::{address_of, is_local, place_of, Part, Span};
use crate::running::current;
use crate::trace::What;

/// A plain C access, which the compiler reports before it happens.
pub(crate) fn plain(addr: usize, size: usize, write: bool, pc: usize) {
    check_address(addr);
    flush();
    let mode = with(|state| state.mode);
    let known = with(|state| {
        let place = place_of(addr, &state.stacks);
        let span = Span {
            place,
            len: size as u64,
        };
        if state.mode == Mode::Direct && is_local(addr, state.frame) {
            return None;
        }
        let me = current();
        match state.layout.parts(span, me) {
            Some(parts) => Some(parts.to_vec()),
            None => {
                state.layout.add_plain(span, addr, me);
                None
            }
        }
    });
    match (mode, known) {
        (Mode::Loom, None) => std::panic::resume_unwind(Box::new(Restart)),
        (Mode::Loom, Some(parts)) => {
            note(None, What::Plain { write, pc });
            for part in parts {
                plain_part(part, write);
            }
        }
        _ => {}
    }
}

fn plain_part(part: Part, write: bool) {
    match part {
        Part::Cell(cell) => {
            let cell = with(|state| state.cells[cell].clone());
            if write {
                cell.with_mut(|_| ());
            } else {
                cell.with(|_| ());
            }
        }
        Part::Word(word) if write => with(|state| state.threads[current()].plain.push(word)),
        Part::Word(index) => {
            let (word, addr, len) = with(|state| {
                let span = state.layout.words[index];
                let addr = address_of(span.place, &state.stacks);
                (state.words[index].clone(), addr, span.len)
            });
            write_real(addr, len as u32, word.get_plain());
        }
    }
}
