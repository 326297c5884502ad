// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads the file of a process, also while it runs or where its end is missing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;

use anyhow::{bail, Context, Result};
use lockwork_report::text;

use crate::end::end;
use crate::events::Events;
use crate::files;
use crate::held;
use crate::histogram::BUCKETS;
use crate::limits::{Limits, MOST_TICKS};
use crate::model::{
    Blame, Counts, Fate, Idle, Inside, Kept, Lock, Profile, Site, Stack, Usage, Use, Waiter,
};
use crate::modules::Modules;
use crate::raw::{self, read, RawBlock, RawDetail, RawFile, RawSite, RawSites, RawTiming, RawWait};

const _: () = assert!(BUCKETS == 40);

/// The profile in `file`. `all`: how the files of its recording begin, among which another program of
/// the same process may be.
///
/// # Errors
/// The file cannot be read, is none of the recorder's, or of another version.
pub fn profile(file: &Path, all: &[RawFile]) -> Result<Profile> {
    let shown = text::path(file);
    let mut bytes = Vec::new();
    // No profile is longer than this.
    files::open(file)
        .and_then(|file| file.take(raw::CAPACITY).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {shown}"))?;
    let Some(head) = read::<RawFile>(&bytes, 0).filter(|head| head.magic == raw::MAGIC) else {
        bail!("{shown} is not a profile; `lockwork profile -o FILE -- PROGRAM` makes one");
    };
    if head.version != raw::VERSION {
        bail!(
            "{shown} is a profile of another version of lockwork ({}, and this one reads {}); \
             record it again",
            head.version,
            raw::VERSION
        );
    }
    let mut reading = Reading::default();
    if head.used > bytes.len() as u64 {
        reading.warnings.push(format!(
            "{shown} is cut short: {} of {} bytes are there",
            bytes.len(),
            head.used
        ));
    }
    reading.blocks(&bytes, head.used as usize);
    Ok(reading.profile(file, &head, all, &bytes))
}

/// What a lock is made of, while it is read.
#[derive(Default)]
struct Parts {
    made: Option<u64>,
    makers: Vec<u64>,
    named: Option<(u64, String)>,
    /// Since when, and why.
    kept: (u64, u64),
    /// When a thread ended that held it, and which.
    left: Option<(u64, u64)>,
    waited_by: BTreeSet<u64>,
    sites: HashMap<(u64, Use), Counts>,
    blames: HashMap<(u64, u64, u64), (u64, u64)>,
    inside: HashMap<u64, (u64, u64)>,
    by_thread: HashMap<u64, u64>,
}

#[derive(Default)]
struct Reading {
    locks: HashMap<u64, Parts>,
    wrappers: BTreeMap<u64, u64>,
    /// Calls, and ticks waited. A stack that is cut ends by a zero.
    stacks: HashMap<(u64, Vec<u64>), (u64, u64)>,
    modules: Modules,
    tids: Vec<(u64, u64)>,
    /// Number, the first call of the thread that has it now, and ticks of those before it.
    lives: Vec<(u64, u64, u64)>,
    idle: BTreeMap<u64, Idle>,
    lock_waits: BTreeMap<u64, u64>,
    events: Events,
    dropped: u64,
    unknown: u64,
    deep: u64,
    limits: Limits,
    warnings: Vec<String>,
}

impl Reading {
    fn blocks(&mut self, bytes: &[u8], used: usize) {
        let mut at = raw::BLOCKS;
        let end = used.min(bytes.len());
        while let Some(block) = read::<RawBlock>(&bytes[..end], at) {
            let content = at + size_of::<RawBlock>();
            let size = block.bytes as usize;
            if size < size_of::<RawBlock>() {
                self.warnings.push(format!(
                    "the block at byte {at} is damaged; the rest is left out"
                ));
                return;
            }
            let last = (content + block.used as usize).min(at + size).min(end);
            match block.kind {
                raw::BLOCK_MAPS => {
                    self.modules.add(&bytes[content..last]);
                }
                raw::BLOCK_RECORDS => self.records(bytes, content, last, block.thread),
                _ => {}
            }
            at += size;
        }
    }

    fn records(&mut self, bytes: &[u8], mut at: usize, end: usize, thread: u32) {
        while at + 8 <= end {
            let kind = read::<u32>(bytes, at).unwrap_or(0);
            let size = read::<u32>(bytes, at + 4).unwrap_or(0) as usize;
            if size < 8 || at + size > end {
                self.warnings.push(format!(
                    "the record at byte {at} is damaged; its block ends there"
                ));
                return;
            }
            let known = self.record(bytes, at, kind, u64::from(thread));
            if known.is_none() {
                self.warnings
                    .push(format!("the record at byte {at} is damaged"));
            }
            at += size;
        }
    }

    fn record(&mut self, bytes: &[u8], at: usize, kind: u32, thread: u64) -> Option<()> {
        match kind {
            raw::SITES => self.sites(bytes, at, thread)?,
            raw::BLAME => {
                let found: raw::RawBlame = read(bytes, at)?;
                let key = (found.site, found.holder_site, found.holder);
                let count = self.limits.count(found.count);
                let waited = self.limits.time(found.waited);
                let sum = self.lock(found.lock).blames.entry(key).or_default();
                sum.0 += count;
                sum.1 += waited;
            }
            raw::STACK => {
                let found: raw::RawStack = read(bytes, at)?;
                let frames = at + size_of::<raw::RawStack>();
                let frames: Option<Vec<u64>> = (0..found.depth.min(64) as usize)
                    .map(|n| read(bytes, frames + n * 8))
                    .collect();
                let sum = self.stacks.entry((found.lock, frames?)).or_default();
                sum.0 += self.limits.count(found.count);
                sum.1 += self.limits.time(found.waited);
            }
            raw::INSIDE => {
                let found: raw::RawInside = read(bytes, at)?;
                let count = self.limits.count(found.count);
                let waited = self.limits.time(found.waited);
                let inside = &mut self.lock(found.lock).inside;
                let sum = inside.entry(found.outer).or_default();
                sum.0 += count;
                sum.1 += waited;
            }
            raw::INIT => {
                let found: raw::RawInit = read(bytes, at)?;
                let places = (found.bytes as usize).saturating_sub(size_of::<raw::RawInit>()) / 8;
                let callers = at + size_of::<raw::RawInit>();
                let callers = (0..places).map_while(|n| read::<u64>(bytes, callers + n * 8));
                let parts = self.lock(found.lock);
                parts.made = Some(found.site);
                parts.makers = callers.take_while(|address| *address != 0).collect();
            }
            raw::NAME => {
                let found: raw::RawName = read(bytes, at)?;
                let name = words(&found.name)
                    .into_iter()
                    .next()
                    .map(|name| clean(&name));
                let known = &mut self.lock(found.lock).named;
                let later = known
                    .as_ref()
                    .is_none_or(|(since, _)| found.since >= *since);
                if let Some(name) = name.filter(|name| later && !name.is_empty()) {
                    *known = Some((found.since, name));
                }
            }
            raw::KEPT => {
                let found: raw::RawKept = read(bytes, at)?;
                let known = &mut self.lock(found.lock).kept;
                *known = (*known).max((found.since, found.why));
            }
            raw::LEFT => {
                let found: raw::RawLeft = read(bytes, at)?;
                let left = &mut self.lock(found.lock).left;
                *left = (*left).max(Some((found.since, found.tid)));
            }
            raw::OUTSIDE => {
                let found: raw::RawOutside = read(bytes, at)?;
                self.wrappers.insert(found.site, found.wrapper);
            }
            raw::THREAD => {
                let found: raw::RawThread = read(bytes, at)?;
                self.tids.push((thread, found.tid));
                self.lives.push((thread, found.begun, found.lived));
                self.dropped += self.limits.count(found.dropped);
                self.unknown += self.limits.count(found.unknown);
                self.deep += self.limits.count(found.deep);
            }
            raw::EVENTS => self.events.add(bytes, at, thread)?,
            _ => {}
        }
        Some(())
    }

    fn lock(&mut self, address: u64) -> &mut Parts {
        self.locks.entry(address).or_default()
    }

    fn sites(&mut self, bytes: &[u8], at: usize, thread: u64) -> Option<()> {
        let head: RawSites = read(bytes, at)?;
        let places = (head.bytes as usize).saturating_sub(size_of::<RawSites>());
        for n in 0..places / size_of::<RawSite>() {
            let one = at + size_of::<RawSites>() + n * size_of::<RawSite>();
            self.site(bytes, &read(bytes, one)?, thread);
        }
        Some(())
    }

    fn site(&mut self, bytes: &[u8], site: &RawSite, thread: u64) {
        let Some(how) = Use::ALL.get((site.site >> raw::KIND_SHIFT) as usize) else {
            return;
        };
        if site.lock == 0 {
            return; // a place that is still free
        }
        let address = site.site & ((1 << raw::KIND_SHIFT) - 1);
        let detail = read::<RawDetail>(bytes, site.detail as usize * 8);
        let detail = detail.filter(|d| site.detail != 0 && d.what == raw::DETAIL);
        let timing = read::<RawTiming>(bytes, site.timing as usize * 8);
        let timing = timing.filter(|t| site.timing != 0 && t.what == raw::TIMING);
        let counts = counts(
            &mut self.limits,
            site,
            detail.as_ref(),
            timing.as_ref(),
            *how,
        );
        if *how == Use::Wait {
            let idle = self.idle.entry(thread).or_default();
            idle.thread = thread;
            idle.waits += counts.count;
            idle.waited += counts.waited;
        }
        if how.acquires() && counts.waited > 0 {
            *self.lock_waits.entry(thread).or_default() += counts.waited;
        }
        let parts = self.lock(site.lock);
        if *how == Use::Wait {
            parts.waited_by.insert(thread);
        }
        let taken_back = match how {
            Use::Mutex | Use::Back => counts.taken_back(),
            _ => 0,
        };
        if how.acquires() && counts.count + taken_back > 0 {
            *parts.by_thread.entry(thread).or_default() += counts.count + taken_back;
        }
        *parts.sites.entry((address, *how)).or_default() += &counts;
    }

    /// How long the thread waited in all that waited longest, in ticks: for locks and for condition
    /// variables. Threads that had one number lived one after the other.
    fn longest_waiting(&self) -> u64 {
        let idle = |thread| self.idle.get(thread).map_or(0, |idle| idle.waited);
        let locks = |thread| self.lock_waits.get(thread).copied().unwrap_or(0);
        let threads = self.idle.keys().chain(self.lock_waits.keys());
        let all = threads.map(|thread| idle(thread) + locks(thread));
        all.max().unwrap_or(0)
    }

    fn profile(mut self, file: &Path, head: &RawFile, all: &[RawFile], bytes: &[u8]) -> Profile {
        let dropped: u64 = places(head, bytes).map(|(_, place)| place.dropped).sum();
        self.dropped += self.limits.count(dropped);
        let waiting = waits(head, bytes).map(|(_, wait)| wait.since);
        let seen = waiting.chain(self.events.ticks());
        let end = end(file, head, all, seen, self.longest_waiting());
        let ticks = self.limits.time(end.ticks.saturating_sub(head.start_ticks));
        let threads = self.limits.count(head.threads);
        let bare = self.limits.count(head.bare);
        let unseen = self.limits.count(head.unseen);
        let usage = usage(head, &mut self.limits);
        let slept = self.limits.count(head.slept);
        let cpus = self.limits.count(head.cpus);
        self.warnings.extend(self.limits.warning());
        let mut locks: Vec<Lock> = self
            .locks
            .into_iter()
            .filter(|(_, parts)| !parts.sites.is_empty())
            .map(|(address, parts)| lock(address, parts))
            .collect();
        // Of others nobody knows when they ended.
        if end.fate != Fate::Gone || end.replaced {
            let cut = |lock: &mut Lock| held::cut_off(lock, ticks, threads);
            locks.iter_mut().for_each(cut);
        }
        locks.sort_by_key(|lock| {
            let lost = if lock.is_lock() { lock.sum.waited } else { 0 };
            (u64::MAX - lost, u64::MAX - lock.sum.count, lock.address)
        });
        let mut stacks: Vec<Stack> = self
            .stacks
            .into_iter()
            .map(|((lock, mut frames), (count, waited))| {
                let cut = frames.len() > 1 && frames.last() == Some(&0);
                frames.truncate(frames.len() - usize::from(cut));
                Stack {
                    lock,
                    frames,
                    cut,
                    count,
                    waited,
                }
            })
            .collect();
        let (events, level) = self.events.finish(head);
        let life = |(thread, begun, lived): (u64, u64, u64)| {
            let now = match begun {
                0 => 0,
                begun => end.ticks.saturating_sub(begun),
            };
            (thread, (lived.saturating_add(now)).min(MOST_TICKS))
        };
        stacks.sort_by(|a, b| (b.waited, &a.frames).cmp(&(a.waited, &b.frames)));
        Profile {
            pid: head.pid,
            parent: head.parent,
            from_fork: head.from_fork != 0,
            command: command(&head.command, head.command_bytes),
            policy: words(&head.lock)
                .pop()
                .map_or_else(String::new, |name| clean(&name)),
            ended: head.ended != 0,
            fate: end.fate,
            replaced: end.replaced,
            goes_on: end.goes_on,
            started: None,
            seconds: end.seconds,
            at_least: end.at_least,
            usage,
            slept: (slept > 0).then_some(slept),
            ns_per_tick: end.ns_per_tick,
            threads,
            cpus: (cpus > 0).then_some(cpus),
            dropped: self.dropped,
            unknown: self.unknown,
            deep: self.deep,
            refused: head.refused,
            bare,
            unseen,
            locks,
            stacks,
            wrappers: self.wrappers,
            all_stacks: head.all_stacks != 0,
            sees_back: head.sees_back != 0,
            untried: head.untried != 0,
            own_futex: (head.own_futex_ns, head.own_futex_at),
            other_futex_ns: head.other_futex_ns,
            unrecorded: head.unrecorded,
            silent: head.silent,
            unrecorded_name: words(&head.unrecorded_name)
                .pop()
                .map_or_else(String::new, |name| clean(&name)),
            events,
            level,
            ticks,
            waiters: waiters(head, bytes, end.ticks),
            idle: self.idle.into_values().collect(),
            lock_waits: self.lock_waits.into_iter().collect(),
            lives: self.lives.into_iter().map(life).collect(),
            tids: self.tids,
            modules: self.modules,
            warnings: self.warnings,
        }
    }
}

/// A site's counts, with what is estimated where holds were sampled.
fn counts(
    limits: &mut Limits,
    site: &RawSite,
    detail: Option<&RawDetail>,
    timing: Option<&RawTiming>,
    how: Use,
) -> Counts {
    let count = site.counted >> raw::COUNT_SHIFT;
    let mut sum = Counts {
        count: limits.count(count),
        ..Counts::default()
    };
    let mut waited_for = 0;
    if let Some(d) = detail {
        waited_for = d.contended.saturating_sub(d.timeouts);
        sum.contended = limits.count(d.contended);
        if how == Use::Back {
            sum.backs = sum.contended;
        }
        sum.waited = limits.time(d.waited);
        sum.longest_wait = limits.time(d.longest_wait);
        sum.failed = limits.count(d.failed);
        sum.timeouts = limits.count(d.timeouts);
        sum.queue = limits.count(unweighted(d.queue, d.watched_for, d.watched));
        sum.longest_queue = limits.count(d.longest_queue);
        sum.held = limits.time(d.timed_held) as f64;
        sum.timed = limits.count(d.timed);
        sum.holds = sum.timed;
        sum.longest_hold = limits.time(d.longest_hold);
        sum.rare.samples = limits.count(d.rare);
        sum.handovers = limits.count(d.handovers);
        let handover = unweighted(d.handover, d.handovers_for, d.handovers);
        sum.handover = limits.time(handover);
        sum.watched = limits.count(d.watched);
        sum.slept = limits.count(unweighted(d.slept, d.watched_for, d.watched));
        sum.preempted = limits.count(unweighted(d.preempted, d.watched_for, d.watched));
        sum.holds_asked = limits.count(d.holds_asked);
        sum.holds_slept = limits.count(d.holds_slept);
        sum.holds_preempted = limits.count(d.holds_preempted);
        sum.asked_held = limits.time(d.asked_held);
        sum.asked_cpu = limits.time(d.asked_cpu);
        sum.met = limits.count(d.met);
        sum.met_held = limits.time(d.met_held);
        sum.at_once = limits.count(d.useless);
        sum.wait_times.add(&d.wait);
        sum.hold_times.add(&d.hold);
        sum.handover_times.add(&d.handover_time);
        sum.away_times.add(&d.away);
    }
    if let Some(timing) = timing.filter(|timing| how.acquires() && timing.weight > 0) {
        let uncontended = count.saturating_sub(waited_for);
        let each = uncontended as f64 / timing.weight as f64;
        sum.held += timing.held as f64 * each;
        if let Some(d) = detail {
            sum.rare.weighted = limits.time(d.rare_held) as f64 * each;
            sum.rare.once = limits.time(d.rare_once) as f64;
        }
        // A recursive acquisition is a part of the hold that it is made in.
        let inner = timing.inner.min(timing.weight);
        sum.holds += limits.count(((timing.weight - inner) as f64 * each).round() as u64);
    }
    sum
}

fn lock(address: u64, parts: Parts) -> Lock {
    let mut sum = Counts::default();
    let mut sites: Vec<Site> = Vec::new();
    let is_lock = parts.sites.keys().any(|(_, how)| how.acquires());
    for ((address, how), mut counts) in parts.sites {
        // Of all threads together.
        counts.held += std::mem::take(&mut counts.rare).held();
        if how.acquires() == is_lock && !matches!(how, Use::Signal | Use::Broadcast) {
            sum += &counts;
        }
        sites.push(Site {
            address,
            how,
            counts,
        });
    }
    sites.sort_by_key(|site| {
        let counts = &site.counts;
        (
            u64::MAX - counts.waited,
            u64::MAX - counts.count,
            site.address,
        )
    });
    let mut blames: Vec<Blame> = parts
        .blames
        .into_iter()
        .map(|((site, holder_site, holder), (count, waited))| Blame {
            site,
            holder_site,
            holder: holder.checked_sub(1),
            count,
            waited,
        })
        .collect();
    scale_to_waits(&mut blames, &sites);
    let mut by_thread: Vec<(u64, u64)> = parts.by_thread.into_iter().collect();
    by_thread.sort_unstable();
    let mut inside: Vec<Inside> = parts
        .inside
        .into_iter()
        .map(|(outer, (count, waited))| Inside {
            outer,
            count,
            waited,
        })
        .collect();
    let inside_all = inside.iter().map(|inside| inside.waited).sum();
    if inside_all > sum.waited {
        for one in &mut inside {
            one.waited = share(one.waited, inside_all, sum.waited);
        }
    }
    inside.sort_by_key(|inside| (u64::MAX - inside.count, inside.outer));
    blames.sort_by_key(|blame| (u64::MAX - blame.waited, blame.site, blame.holder_site));
    Lock {
        address,
        made: parts.made,
        makers: parts.makers,
        named: parts.named.map(|(_, name)| name),
        kept: Kept(parts.kept.1),
        left_by: parts.left.map(|(_, tid)| tid),
        sites,
        sum,
        held_beyond: false,
        waited_by: parts.waited_by.len(),
        blames,
        inside,
        by_thread,
    }
}

/// All waits of a call are known, and who is to blame only of watched and of long ones. So their
/// estimates are brought to what is known of all.
fn scale_to_waits(blames: &mut [Blame], sites: &[Site]) {
    /// Waits, and their ticks.
    type Sum = (u64, u64);
    let mut calls: HashMap<u64, (Sum, Sum)> = HashMap::new();
    for blame in blames.iter() {
        let (estimated, _) = calls.entry(blame.site).or_default();
        estimated.0 += blame.count;
        estimated.1 += blame.waited;
    }
    for site in sites {
        if let Some((_, known)) = calls.get_mut(&site.address) {
            known.0 += site.counts.contended;
            known.1 += site.counts.waited;
        }
    }
    for blame in blames {
        let (estimated, known) = calls[&blame.site];
        blame.count = share(blame.count, estimated.0, known.0);
        blame.waited = share(blame.waited, estimated.1, known.1);
    }
}

/// As much of `whole` as `part` is of `sum`, which it is a part of.
fn share(part: u64, sum: u64, whole: u64) -> u64 {
    (u128::from(part) * u128::from(whole) / u128::from(sum.max(1))) as u64
}

/// What `number` watched waits come to, if each is as their mean, in which each counts for all waits
/// that it stands for: `weighted` is the sum over these, `weights` how many they are. 0 `weights`:
/// the sum is not weighted, as of a condition variable.
fn unweighted(weighted: u64, weights: u64, number: u64) -> u64 {
    match weights {
        0 => weighted,
        _ => {
            let (sum, weights) = (
                u128::from(weighted) * u128::from(number),
                u128::from(weights),
            );
            (sum.saturating_add(weights / 2) / weights)
                .try_into()
                .unwrap_or(u64::MAX)
        }
    }
}

/// What the process used of CPUs, if it could say so.
fn usage(head: &RawFile, limits: &mut Limits) -> Option<Usage> {
    (head.ended != 0 && head.cpu_ns > 0).then(|| Usage {
        // Of all threads together, so no limit of one recording is its limit.
        cpu: head.cpu_ns as f64 / 1e9,
        slept: limits.count(head.slept),
        preempted: limits.count(head.preempted),
    })
}

/// The threads' places in the table of waits, with their numbers.
fn places<'a>(head: &RawFile, bytes: &'a [u8]) -> impl Iterator<Item = (u64, RawWait)> + 'a {
    (0..head.threads.min(raw::MAX_WAITS as u64)).filter_map(|thread| {
        let at = raw::WAITS + thread as usize * size_of::<RawWait>();
        Some((thread, read(bytes, at)?))
    })
}

/// What the threads wait for that wait, with their numbers.
fn waits<'a>(head: &RawFile, bytes: &'a [u8]) -> impl Iterator<Item = (u64, RawWait)> + 'a {
    places(head, bytes).filter(|(_, place)| place.lock != 0)
}

fn waiters(head: &RawFile, bytes: &[u8], end: u64) -> Vec<Waiter> {
    waits(head, bytes)
        .map(|(thread, found)| Waiter {
            thread,
            lock: found.lock,
            site: found.site,
            holder: found.holder.checked_sub(1),
            since: end.saturating_sub(found.since).min(MOST_TICKS),
            holds: found.held[..raw::SHOWN.min(found.depth as usize)].to_vec(),
        })
        .collect()
}

/// A program's text, made fit for a line of a report: as names of files and functions are. Its last
/// character may be cut off: then it is left out.
fn clean(name: &str) -> String {
    let name = name.trim_end_matches(char::REPLACEMENT_CHARACTER);
    text::plain(name.trim_matches(' '))
}

/// The words of a command line, each with a zero byte behind it, which take so many bytes. Where they
/// fill all of `raw` but its last byte, the end is missing.
fn command(raw: &[u64], used: u64) -> Vec<String> {
    let bytes = bytes(raw);
    let room = bytes.len() - 1;
    let used = room.min(used.try_into().unwrap_or(room));
    let text = String::from_utf8_lossy(&bytes[..used]).into_owned();
    let mut words: Vec<String> = match text.is_empty() {
        true => Vec::new(),
        false => text
            .strip_suffix('\0')
            .unwrap_or(&text)
            .split('\0')
            .map(str::to_owned)
            .collect(),
    };
    // setproctitle() writes all words as one, and clears the rest of a longer command line.
    let is_title = words.first().is_some_and(|word| word.contains(' '));
    while is_title && words.len() > 1 && words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    if used == room {
        words.push("…".to_owned());
    }
    words
}

/// Words that end by zero bytes.
fn words(raw: &[u64]) -> Vec<String> {
    let text = String::from_utf8_lossy(&bytes(raw)).into_owned();
    let text = text.trim_end_matches('\0');
    match text.is_empty() {
        true => Vec::new(),
        false => text.split('\0').map(str::to_owned).collect(),
    }
}

fn bytes(raw: &[u64]) -> Vec<u8> {
    raw.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_by_a_control_character_do_in_a_report() {
        assert_eq!(clean(" a lock "), "a lock");
        assert_eq!(clean("a\nb"), "a\\nb");
        assert_ne!(clean("a\nb"), clean("a\tb"));
        assert_eq!(clean("a\\nb"), "a\\\\nb");
        assert_eq!(clean("cut\u{fffd}"), "cut");
    }

    /// A call that waits, and who is blamed for it.
    fn scaled(contended: u64, waited: u64, blamed: [(u64, u64); 2]) -> [(u64, u64); 2] {
        let counts = Counts {
            contended,
            waited,
            ..Counts::default()
        };
        let site = Site {
            address: 7,
            how: Use::Mutex,
            counts,
        };
        let mut blames = blamed.map(|(count, waited)| Blame {
            site: 7,
            holder_site: 0,
            holder: None,
            count,
            waited,
        });
        scale_to_waits(&mut blames, &[site]);
        blames.map(|blame| (blame.count, blame.waited))
    }

    #[test]
    fn a_command_line_ends_with_its_last_word() {
        let of = |text: &[u8]| {
            let mut bytes = text.to_vec();
            bytes.resize(64 * 8, 0);
            let word = |at: usize| read::<u64>(&bytes, at * 8).expect("there are so many");
            let raw: Vec<u64> = (0..64).map(word).collect();
            command(&raw, text.len() as u64)
        };
        assert_eq!(of(b"prog\0a b\0\0c\0"), ["prog", "a b", "", "c"]);
        assert_eq!(of(b"nginx: worker\0\0\0\0\0"), ["nginx: worker"]);
        assert_eq!(of(b"prog\0\0"), ["prog", ""]);
    }

    #[test]
    fn holders_are_blamed_for_all_waits_together() {
        let more = [(90, 1500), (30, 500)];
        assert_eq!(scaled(100, 1000, more), [(75, 750), (25, 250)]);
        let less = [(30, 100), (20, 400)];
        assert_eq!(scaled(100, 1000, less), [(60, 200), (40, 800)]);
        assert_eq!(scaled(100, 1000, [(0, 0), (0, 0)]), [(0, 0), (0, 0)]);
    }
}
