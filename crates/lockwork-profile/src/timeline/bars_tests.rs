// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use crate::model::Use;

fn event(thread: u64, since: u64, acquired: u64, released: u64) -> Event {
    let some = |time| (time != 0).then_some(time);
    Event {
        thread,
        lock: 1,
        site: 0x10 + thread,
        how: Use::Mutex,
        since: some(since),
        acquired: some(acquired),
        released: some(released),
        timed_out: false,
        holder: None,
        holder_site: 0,
    }
}

fn spans(bars: &[Bar]) -> Vec<(u64, u64, u64)> {
    let mut all: Vec<_> = bars.iter().map(|b| (b.thread, b.from, b.to)).collect();
    all.sort_unstable();
    all
}

fn wait(thread: u64, from: u64, to: u64, holder: u64) -> Bar {
    Bar {
        holder: Some(holder),
        holder_site: 0x10 + holder,
        ..bar(thread, State::Wait, from, to, 0x10 + thread)
    }
}

#[test]
fn a_holder_that_waiters_saw_is_drawn_from_when_it_was_seen() {
    let waits = [
        wait(1, 100, 200, 7),
        wait(2, 120, 300, 7),
        wait(3, 400, 500, 7),
    ];
    let found = seen(&waits, &[]);
    assert!(found
        .iter()
        .all(|bar| bar.state == State::Seen && bar.site == 0x17));
    assert_eq!(spans(&found), [(7, 100, 300), (7, 400, 500)]);
}

#[test]
fn it_ends_where_another_one_takes_the_lock_and_is_none_where_a_hold_is_known() {
    let waits = [wait(1, 100, 200, 7), wait(2, 130, 260, 1)];
    let holds = [
        bar(3, State::Hold, 150, 180, 0x13),
        bar(1, State::Hold, 90, 140, 0x11),
    ];
    assert_eq!(spans(&seen(&waits, &holds)), [(7, 100, 150)]);
}

#[test]
fn a_hold_that_was_not_timed_begins_with_the_first_wait_that_named_it() {
    let named = [50, 110, 130];
    let taken = [(60, 3)];
    assert_eq!(first_named(&named, &taken, 150), Some(110));
    assert_eq!(first_named(&named, &taken, 105), None);
    assert_eq!(first_named(&named, &[], 150), Some(50));
}

#[test]
fn holds_that_nobody_waited_for_are_left_out() {
    let waits = [wait(1, 100, 200, 7)];
    let overlaps = Overlaps::new(&waits);
    assert!(overlaps.any(150, 160) && overlaps.any(90, 101));
    assert!(!overlaps.any(10, 100) && !overlaps.any(200, 300));
}

#[test]
fn an_event_ends_where_it_was_released() {
    let held = event(1, 10, 20, 30);
    assert_eq!((held.from(), held.to()), (10, 30));
    let untimed = event(1, 0, 0, 30);
    assert_eq!((untimed.from(), untimed.to()), (30, 30));
}
