// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads the events of the timeline. Each thread leaves out what is short, in windows of time
//! of its own choice; here all threads are reduced to the windows that all of them have.

use crate::limits::MOST_TICKS;
use crate::model::{Event, Use};
use crate::raw::{self, read, RawEvent, RawEvents, RawFile};

/// What is read so far.
#[derive(Default)]
pub struct Events {
    found: Vec<(u64, RawEvent)>,
    level: u32,
}

impl Events {
    /// The events of the record at byte `at`; none: it is damaged.
    pub fn add(&mut self, bytes: &[u8], at: usize, thread: u64) -> Option<()> {
        let head: RawEvents = read(bytes, at)?;
        let first = at + size_of::<RawEvents>();
        let end = at + head.bytes as usize;
        for n in 0..head.count.min(raw::CHUNK) as usize {
            let one = first + n * size_of::<RawEvent>();
            if one + size_of::<RawEvent>() > end {
                return None;
            }
            self.found.push((thread, read(bytes, one)?));
        }
        self.level = self.level.max(head.level.min(40));
        Some(())
    }

    /// The readings of the counter in them.
    pub fn ticks(&self) -> impl Iterator<Item = u64> + '_ {
        let found = self.found.iter();
        found.map(|(_, raw)| raw.since.max(raw.acquired).max(raw.released))
    }

    /// Those that are whole and of windows that all threads have, and the level.
    pub fn finish(self, head: &RawFile) -> (Vec<Event>, u32) {
        let level = self.level;
        let found = self.found.iter();
        let mut events: Vec<Event> = found
            .filter_map(|(thread, raw)| event(*thread, raw, head))
            .filter(|event| is_kept(event, level))
            .collect();
        events.sort_by_key(|event| (event.from(), event.thread));
        (events, level)
    }
}

/// None: half written, or damaged.
fn event(thread: u64, raw: &RawEvent, head: &RawFile) -> Option<Event> {
    let (kind, timed_out) = (raw.kind & !raw::TIMED_OUT, raw.kind & raw::TIMED_OUT != 0);
    // The counters of two CPUs may differ by a little at the start.
    let time = |ticks: u64| (ticks != 0).then(|| ticks.saturating_sub(head.start_ticks));
    let event = Event {
        thread,
        lock: raw.lock,
        site: raw.site,
        how: Use::ALL.get(kind as usize).copied()?,
        since: time(raw.since),
        acquired: time(raw.acquired),
        released: time(raw.released),
        timed_out,
        holder: u64::from(raw.holder).checked_sub(1),
        holder_site: raw.holder_site,
    };
    let times = [event.since, event.acquired, event.released];
    let in_order = times.iter().flatten().is_sorted();
    let known = event.acquired.is_some() || event.released.is_some();
    let sane = event.to() < MOST_TICKS;
    (event.lock != 0 && event.how.acquires() && in_order && known && sane).then_some(event)
}

/// As the recorder decides it.
fn is_kept(event: &Event, level: u32) -> bool {
    let window = event.from() >> raw::WINDOW;
    window & ((1 << level) - 1) == 0
        || (event.to() - event.from()) >> (raw::WINDOW + level) > 0
        || event.released.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(from: u64, to: u64) -> Event {
        Event {
            thread: 0,
            lock: 1,
            site: 2,
            how: Use::Mutex,
            since: Some(from),
            acquired: Some(from),
            released: Some(to),
            timed_out: false,
            holder: None,
            holder_site: 0,
        }
    }

    #[test]
    fn a_recording_of_days_keeps_its_timeline() {
        let zeros = [0; size_of::<RawFile>()];
        let head: RawFile = read(&zeros, 0).expect("a header");
        let mut raw: RawEvent = read(&zeros, 0).expect("an event");
        raw.lock = 1;
        raw.since = 3 << 48;
        raw.acquired = raw.since + 5;
        assert!(super::event(0, &raw, &head).is_some());
        raw.acquired = MOST_TICKS;
        assert!(super::event(0, &raw, &head).is_none());
    }

    #[test]
    fn short_events_are_of_every_so_many_windows() {
        let window = 1 << raw::WINDOW;
        assert!(is_kept(&event(window, window + 5), 0));
        assert!(!is_kept(&event(window, window + 5), 1));
        assert!(is_kept(&event(2 * window, 2 * window + 5), 1));
        assert!(!is_kept(&event(2 * window, 2 * window + 5), 2));
        assert!(is_kept(&event(window, 3 * window), 1));
        assert!(!is_kept(&event(window, 3 * window - 1), 1));
    }
}
