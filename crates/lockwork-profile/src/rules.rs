// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Why threads wait for a lock: one sentence, chosen by rules, with the figures that it
//! rests on and what to try. The rules are in the order in which they are asked; the first
//! that holds speaks. The others that hold are named: where two are about as true, the next run may
//! turn them round.

use lockwork_report::finding::Finding;
use lockwork_report::text::{counted, cut, duration, grouped, percent, whole};

use crate::herd::{self, herds};
use crate::model::{mean, Counts, Fate, Lock, Profile, Site, Use};
use crate::names::{Names, NAME};
use crate::nesting::nested_in;
use crate::program::compare;
use crate::shards::shards;
use crate::share::{Share, FAR};
use crate::starving::Starved;
use crate::users::at_work;

/// A section of at least so many nanoseconds is long.
const LONG_NS: u64 = 10_000;
/// Fewer watched waits or holds say nothing.
const FEW: u64 = 8;
/// Holders lose their CPU if they are off it for so large a share of their holds.
const OFF_CPU: f64 = 0.5;
/// Whoever loses its CPU has it back after so many nanoseconds, also where several others want it.
const LOST_AT_MOST_NS: u64 = 100_000_000;
/// The same where there are no more threads than CPUs.
const LOST_BRIEFLY_NS: u64 = 1_000_000;
/// A hold that is so many times as long as those that threads usually wait for is no usual one.
const OUTLIER: f64 = 100.0;

/// A gate is closed for so many nanoseconds on average, or longer.
const GATE_NS: u64 = 50_000_000;
/// Those who pass it hold it so many times shorter.
const GUESTS: f64 = 100.0;
/// A share that is nearly all.
const MOSTLY: f64 = 0.9;

/// One of several locks that has so many times its share of the acquisitions is used more than the
/// others.
const HOT: f64 = 1.5;

/// So large a share of the waiting with a known holder is to be for those whom a rule names.
const BLAMED: f64 = 0.25;
/// Of these, so many are named at most.
const NAMED: usize = 2;

/// What the rules look at.
pub struct Case<'a> {
    /// The process.
    pub profile: &'a Profile,
    /// Its names.
    pub names: &'a Names<'a>,
    /// The lock.
    pub lock: &'a Lock,
    /// The command line that runs it again, as one would type it.
    pub program: &'a str,
    /// That comes to its end by itself.
    pub ends: bool,
}

/// How many threads take locks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crowd {
    /// More than there are CPUs.
    More,
    /// No more than that.
    Fits,
    /// Nobody noted how many CPUs there were.
    Unknown,
}

/// A reason, if it is one.
type Rule = fn(&Case<'_>) -> Option<Finding>;

/// The rule of a lock that another process holds.
const HELD_ELSEWHERE: &str = "held-elsewhere";

/// All reasons, in the order in which they are asked, and whether they rest on how long holds take.
const RULES: [(Rule, bool); 15] = [
    (held_elsewhere, false),
    (gate, true),
    (passed_writers, true),
    (waiting_holder, true),
    (sleeping_holder, false),
    (preempted_holder, true),
    (starved_writers, true),
    (herd, false),
    (few_long_holds, true),
    (convoy, true),
    (long_waits, true),
    (written_rwlock, false),
    (long_sections, true),
    (hot_shard, false),
    (short_sections, true),
];

/// Why threads wait for this lock, some of which waited: what the first rule says that holds, and
/// then what others that hold say.
pub fn why(case: &Case<'_>) -> (Finding, Vec<Finding>) {
    let asked = RULES.iter();
    let asked = asked.filter(|(_, on_holds)| !(*on_holds && case.lock.held_beyond));
    let mut found = asked.filter_map(|(rule, _)| rule(case));
    let first = found.next().unwrap_or_else(|| unclear(case));
    // The others are about what threads of this process do with it.
    match first.rule {
        HELD_ELSEWHERE => (first, Vec::new()),
        _ => (first, found.collect()),
    }
}

impl Case<'_> {
    fn sum(&self) -> &Counts {
        &self.lock.sum
    }

    /// The command that measures these locks. All policies with a spinlock's name have the
    /// read/write lock of `mutex`. They need a CPU for each thread.
    fn compare(&self, locks: &str) -> String {
        let spins = self.lock.kind() != "rwlock" && self.crowd() != Crowd::More;
        let differs = |name: &&str| spins || !name.starts_with("qspinlock");
        let locks: Vec<&str> = locks.split(',').filter(differs).collect();
        compare(self.program, self.ends, &locks.join(","))
    }

    /// What to do in the program, or else which locks to measure. The second half is left out for a
    /// lock that no policy replaces.
    fn advice(&self, own: &str, or: &str, locks: &str) -> String {
        match (self.kept(), own) {
            (None, _) => format!("{own}{or}: {}", self.compare(locks)),
            (Some(kept), "") => format!("{kept} Only a change of the program can help."),
            (Some(kept), own) => format!("{own}. {kept}"),
        }
    }

    /// A sentence, if no policy replaces it.
    fn kept(&self) -> Option<String> {
        let kind = self.lock.full_kind();
        (self.lock.kept.is_kept()).then(|| format!("No policy replaces a {kind}."))
    }

    /// How many threads there are for the CPUs that it may use.
    fn crowd(&self) -> Crowd {
        match self.profile.cpus {
            None => Crowd::Unknown,
            Some(cpus) if self.at_work() > cpus => Crowd::More,
            Some(_) => Crowd::Fits,
        }
    }

    /// Threads that make most lock calls, or that wait for locks, about.
    fn at_work(&self) -> u64 {
        let busy = Share::all(self.profile).threads.round() as u64;
        busy.max(at_work(self.profile))
    }

    /// "about 17 threads at work, on 2 CPUs".
    fn crowded(&self) -> String {
        format!(
            "about {} at work, on {}",
            counted(self.at_work() as usize, "thread"),
            counted(self.profile.cpus.unwrap_or(0) as usize, "CPU")
        )
    }

    /// A call's name, as long as a line of the report has room for.
    fn site(&self, address: u64) -> String {
        cut(&self.names.site(address), NAME)
    }

    fn time(&self, ticks: f64) -> String {
        duration(self.profile.ns(ticks))
    }

    fn hold(&self) -> String {
        if self.lock.held_beyond {
            return "how long a hold takes is not known: samples come to more than the run"
                .to_owned();
        }
        let mean = self.sum().mean_hold();
        if mean <= 0.0 {
            return "how long a hold takes is not known: none was timed".to_owned();
        }
        // The longest of a site's first holds is not known.
        let longest = self.sum().longest_hold as f64;
        let mut text = format!("a hold takes {} on average", self.time(mean));
        if longest > mean {
            text += &format!(", {} at most", self.time(longest));
        }
        let met = self.met_hold();
        if met >= 2.0 * mean {
            text += &format!("; one that is waited for, {} on average", self.time(met));
        }
        text
    }

    /// The hold that threads wait for, in ticks: a quarter of the waiting with a known holder is for
    /// call sites that hold so long on average, or longer. So a few long sections of one site count,
    /// however many short ones there are, if they keep the others waiting. Long ones that nobody
    /// waits for do not, nor does a single one that hardly anybody waits for.
    fn met_hold(&self) -> f64 {
        let sites = self.lock.sites.iter().filter(|site| site.how.acquires());
        let held = sites.filter(|site| site.counts.holds > 0);
        let mut met: Vec<(f64, f64)> = held
            .map(|site| {
                let blames = self.lock.blames.iter();
                let theirs = blames.filter(|blame| blame.holder_site == site.address);
                let waited = theirs.map(|blame| blame.waited as f64).sum();
                (site.counts.mean_hold(), waited)
            })
            .collect();
        met.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all: f64 = met.iter().map(|(_, waited)| waited).sum();
        let mut sum = 0.0;
        let found = met.into_iter().find(|(_, waited)| {
            sum += waited;
            sum > 0.0 && sum >= all * BLAMED
        });
        found.map_or_else(|| self.sum().mean_hold(), |(hold, _)| hold)
    }

    fn wait(&self) -> String {
        let what = match self.sum().timeouts {
            0 => "a contended acquisition waits",
            _ => "a wait, also one that timed out, takes",
        };
        format!(
            "{what} {} on average, {} at most",
            self.time(self.sum().mean_wait()),
            self.time(self.sum().longest_wait as f64)
        )
    }

    fn rate(&self) -> String {
        format!(
            "{}, {} of them contended{}",
            counted(self.sum().count as usize, "acquisition"),
            percent(self.sum().contention()),
            self.sum().timed_out()
        )
    }

    /// For which share of the run some thread held it. Readers may hold it together; of other
    /// locks it is no more than all, though it may come out so: most holds are estimated by samples.
    fn busy(&self) -> String {
        let held = self.sum().held * self.profile.ns_per_tick / 1e9;
        let share = held / self.profile.seconds.max(1e-9);
        let most = match self.lock.kind() {
            "rwlock" => self.profile.threads.max(1) as f64,
            _ => 1.0,
        };
        let is_beyond = self.profile.fate == Fate::Gone && share > FAR * most;
        if is_beyond || self.profile.at_least {
            return format!(
                "it is held for {} in all; when the run ended is not known",
                self.time(self.sum().held)
            );
        }
        match self.lock.kind() {
            "rwlock" if share > 1.0 => format!(
                "it is held for {} in all, by several readers at a time",
                self.time(self.sum().held)
            ),
            _ => format!("it is held for {} of the run", percent(share.min(1.0))),
        }
    }

    /// The call sites of which `is_such` is true, if their watched holds are enough to speak of,
    /// and if a real share of the waiting with a known holder is for them.
    fn blamed(&self, is_such: impl Fn(&Counts) -> bool) -> Option<Blamed> {
        let sites = self.lock.sites.iter();
        let mut such: Vec<&Site> = sites.filter(|site| is_such(&site.counts)).collect();
        let mut sum = Counts::default();
        such.iter().for_each(|site| sum += &site.counts);
        self.most_blamed_first(&mut such);
        such.dedup_by_key(|site| site.address);
        let known = self.waited_for(|site| site != 0);
        let theirs = self.waited_for(|at| such.iter().any(|site| site.address == at));
        if such.is_empty() || sum.holds_asked < FEW || (theirs as f64) < known as f64 * BLAMED {
            return None;
        }
        let is_named = |(at, site): &(usize, &&Site)| {
            let waited = self.waited_for(|address| address == site.address);
            *at == 0 || (known > 0 && waited as f64 >= known as f64 * BLAMED)
        };
        let named = such.iter().enumerate().filter(is_named).take(NAMED);
        let named = named.map(|(_, site)| {
            let hold = self.time(site.counts.mean_hold());
            let hold = (!self.lock.held_beyond).then_some(hold);
            (self.site(site.address), hold)
        });
        Some(Blamed {
            sites: named.collect(),
            sum,
        })
    }

    /// How long, in ticks, threads waited while call sites held it of which `is_such` is true.
    fn waited_for(&self, is_such: impl Fn(u64) -> bool) -> u64 {
        let blames = self.lock.blames.iter();
        let theirs = blames.filter(|blame| is_such(blame.holder_site));
        theirs.map(|blame| blame.waited).sum()
    }

    /// Those for which threads waited longest come first; where that is not known, those that held it
    /// longest in all.
    fn most_blamed_first(&self, sites: &mut [&Site]) {
        sites.sort_by_cached_key(|site| {
            let waited = self.waited_for(|address| address == site.address);
            (u64::MAX - waited, u64::MAX - site.counts.held as u64)
        });
    }

    /// Which of its long sections to shorten, as a sentence.
    fn long_ones(&self) -> String {
        let sites = self.lock.sites.iter().filter(|site| site.how.acquires());
        let is_long = |site: &&Site| self.profile.ns(site.counts.mean_hold()) >= LONG_NS;
        let mut long: Vec<&Site> = sites.filter(is_long).collect();
        self.most_blamed_first(&mut long);
        let Some(most) = long.first() else {
            return String::new();
        };
        let name = self.site(most.address);
        match self.waited_for(|site| site == most.address) {
            0 => format!(": of its long sections, those of {name} take the longest time in all"),
            _ => format!(
                ": of its long sections, threads waited longest for those of {name}, which take {} on \
                 average",
                self.time(most.counts.mean_hold())
            ),
        }
    }
}

/// Only one thread of the process takes it, and yet waits for it. If processes share it, each such
/// wait says so. Otherwise the threads that held it may have been missed in a few waits.
fn held_elsewhere(case: &Case<'_>) -> Option<Finding> {
    let sum = case.sum();
    let blames = case.lock.blames.iter();
    let known = blames.filter(|blame| blame.holder_site != 0 || blame.holder.is_some());
    let known: u64 = known.map(|blame| blame.waited).sum();
    let alone = case.lock.by_thread.len() == 1;
    let missed = known > sum.waited / 10 || sum.contended < FEW;
    let is_shared = case.lock.kept.is_shared() && sum.contended > 0;
    // A thread without records may be the holder.
    let all_seen = case.profile.dropped + case.profile.bare + case.profile.unseen == 0;
    (alone && all_seen && (is_shared || !missed)).then(|| Finding {
        rule: HELD_ELSEWHERE,
        why: "Another process held it: of this process only one thread takes it.".to_owned(),
        evidence: vec![case.rate(), case.wait()],
        advice: "See how long the other process holds it, in that one's own recording.".to_owned(),
    })
}

/// Threads wait for what one call site holds for very long, and then hold it hardly at all.
fn gate(case: &Case<'_>) -> Option<Finding> {
    let sites = case.lock.sites.iter().filter(|site| site.how.acquires());
    let (mut keepers, guests): (Vec<&Site>, Vec<&Site>) =
        sites.partition(|site| case.profile.ns(site.counts.mean_hold()) >= GATE_NS);
    let sum = |sites: &[&Site]| {
        let mut sum = Counts::default();
        sites.iter().for_each(|site| sum += &site.counts);
        sum
    };
    let (kept, passed) = (sum(&keepers), sum(&guests));
    case.most_blamed_first(&mut keepers);
    let first = keepers.first()?;
    let waits = passed.waited as f64 >= MOSTLY * case.sum().waited as f64;
    let known = case.waited_for(|site| site != 0);
    let blamed = case.waited_for(|at| keepers.iter().any(|keeper| keeper.address == at));
    let for_them = known > 0 && blamed as f64 >= MOSTLY * known as f64;
    // Several threads that mostly find it free share what it guards. A single one may look for work
    // very often, and be held back where there is none for long.
    let always =
        passed.contended as f64 >= MOSTLY * passed.count as f64 || case.lock.by_thread.len() == 2;
    let hardly = passed.mean_hold() * GUESTS <= kept.mean_hold() && passed.holds > 0;
    (waits && for_them && always && hardly).then(|| Finding {
        rule: "gate",
        why:
            "It seems to hold threads back until there is work for them, rather than to guard data."
                .to_owned(),
        evidence: vec![
            format!(
                "{} holds it for {} on average",
                case.site(first.address),
                case.time(first.counts.mean_hold())
            ),
            format!(
                "those who wait for that hold it for {} on average then",
                case.time(passed.mean_hold())
            ),
            case.rate(),
        ],
        advice: format!(
            "If so, nothing is lost here: such a wait is not work that waits. If it guards data, do less \
             inside in {}.",
            case.site(first.address)
        ),
    })
}

/// Holders wait for another lock inside of their sections for half of the time or more.
fn waiting_holder(case: &Case<'_>) -> Option<Finding> {
    let inner = nested_in(case.profile, case.lock);
    let waited: u64 = inner.iter().map(|nest| nest.waited).sum();
    let held = case.sum().held;
    if waited == 0 || waited as f64 * 2.0 < held {
        return None;
    }
    let most = inner.iter().max_by_key(|nest| nest.waited)?;
    let name = cut(&case.names.lock(most.inner), NAME);
    let of_that = match held > 0.0 {
        true => format!(
            "it is held for {} in all; {} of that",
            case.time(held),
            case.time(waited as f64)
        ),
        false => format!("for {}", case.time(waited as f64)),
    };
    Some(Finding {
        rule: "holder-waits",
        why: format!("Its holders wait for another lock while they hold it: {name}."),
        evidence: vec![
            format!(
                "{of_that} its holders wait for locks, {} of it for {name}",
                case.time(most.waited as f64)
            ),
            case.hold(),
        ],
        advice: format!(
            "Shorten the waits for {name} first, or take it outside of this lock's sections."
        ),
    })
}

/// Call sites that a rule makes responsible.
struct Blamed {
    /// Those for which threads waited longest, and a hold of each on average, if that is known.
    sites: Vec<(String, Option<String>)>,
    /// The sum of all that are such.
    sum: Counts,
}

impl Blamed {
    fn evidence(&self, switches: u64, kind: &str) -> Vec<String> {
        let switches = format!(
            "{} {kind} context switches in {} long holds that were watched",
            whole(switches),
            whole(self.sum.holds_asked)
        );
        let holds = self.sites.iter();
        let holds = holds.filter_map(|(site, hold)| {
            let hold = hold.as_ref()?;
            Some(format!("a hold in {site} takes {hold} on average"))
        });
        std::iter::once(switches).chain(holds).collect()
    }

    fn named(&self) -> String {
        let names: Vec<&str> = self.sites.iter().map(|(site, _)| site.as_str()).collect();
        names.join(" and in ")
    }
}

/// `said`, where it is true: a lock that lets writers pass readers helps those who wait for that.
fn no_other_lock(case: &Case<'_>, said: &'static str) -> &'static str {
    match starved(case) {
        Some(_) => "",
        None => said,
    }
}

fn sleeping_holder(case: &Case<'_>) -> Option<Finding> {
    let found = case.blamed(|c| mean(c.holds_slept as f64, c.holds_asked) >= 0.5)?;
    Some(Finding {
        rule: "holder-sleeps",
        why: "Its holders sleep or do input and output while they hold it.".to_owned(),
        evidence: found.evidence(found.sum.holds_slept, "voluntary"),
        advice: format!(
            "{}Take the sleep or the input and output out of the section in {}.",
            no_other_lock(case, "No other lock helps. "),
            found.named()
        ),
    })
}

/// The share of long holds' time, of those that were watched, in which the holder had no CPU.
fn off_cpu(profile: &Profile, counts: &Counts) -> f64 {
    let held = profile.ns(counts.asked_held as f64) as f64;
    match held > 0.0 {
        true => (1.0 - counts.asked_cpu as f64 / held).max(0.0),
        false => 0.0,
    }
}

/// Few holds are far longer than the others, and most of the waiting is about as long as they are.
/// A holder that has lost its CPU looks the same, unless that cannot have lasted so long.
fn few_long_holds(case: &Case<'_>) -> Option<Finding> {
    let sum = case.sum();
    let longest = sum.longest_hold;
    let ns = case.profile.ns(longest as f64);
    let least = match case.crowd() {
        Crowd::Fits => LOST_BRIEFLY_NS,
        Crowd::More | Crowd::Unknown => LOST_AT_MOST_NS,
    };
    let is_outlier = longest as f64 >= OUTLIER * case.met_hold() && sum.held > 0.0;
    let explains = sum.longest_wait <= longest.saturating_mul(4);
    if ns < least || !is_outlier || !explains {
        return None;
    }
    let from = longest / 4;
    // A bucket counts if its middle does.
    let long = |(low, high, n): (u64, u64, u64)| {
        let middle = (low + high) / 2;
        (middle >= from).then_some((n, middle as f64 * n as f64))
    };
    let add = |a: (u64, f64), b: (u64, f64)| (a.0 + b.0, a.1 + b.1);
    let (waits, waited) = sum
        .wait_times
        .buckets()
        .filter_map(long)
        .fold((0, 0.0), add);
    let (holds, _) = sum
        .hold_times
        .buckets()
        .filter_map(long)
        .fold((0, 0.0), add);
    let share = waited / (sum.waited as f64).max(1.0);
    let few = holds.max(1) as f64 * OUTLIER <= sum.holds as f64;
    let sites = case.lock.sites.iter().filter(|site| site.how.acquires());
    let most = sites.max_by_key(|site| site.counts.longest_hold)?;
    let name = case.site(most.address);
    (share >= 0.5 && few).then(|| Finding {
        rule: "few-long-holds",
        why: "A few long holds cause most of the waiting.".to_owned(),
        evidence: vec![
            case.hold(),
            format!(
                "{} as long as a quarter of that or longer: {} of the waiting",
                match waits {
                    1 => "1 wait is".to_owned(),
                    n => format!("{} waits are", whole(n)),
                },
                percent(share.min(1.0))
            ),
            case.rate(),
        ],
        advice: format!(
            "See what {name} does in its longest hold, and do that outside.{}{}",
            match ns >= LOST_AT_MOST_NS {
                true => "",
                false => " If nothing there takes so long, the holder had lost its CPU.",
            },
            no_other_lock(
                case,
                " Another lock changes which thread waits, but hardly how long it waits."
            )
        ),
    })
}

fn preempted_holder(case: &Case<'_>) -> Option<Finding> {
    let found = case.blamed(|c| {
        // A long section is preempted on any busy machine, and long without that.
        let per_hold = mean(c.holds_preempted as f64, c.holds_asked);
        per_hold >= 0.25 && off_cpu(case.profile, c) >= OFF_CPU
    })?;
    let off = format!(
        "they were off their CPU for {} of the time of long holds that were watched",
        percent(off_cpu(case.profile, &found.sum))
    );
    let mut evidence = found.evidence(found.sum.holds_preempted, "involuntary");
    evidence.insert(0, off);
    Some(Finding {
        rule: "holder-preempted",
        why: "Its holders lose their CPU to other threads while they hold it.".to_owned(),
        evidence,
        advice: case.advice(
            &format!(
                "{}, or make the section in {} shorter",
                match case.crowd() {
                    Crowd::Fits => format!(
                        "Run it where other programs do not use its CPUs ({})",
                        case.crowded()
                    ),
                    Crowd::More => format!("Use fewer threads than CPUs ({})", case.crowded()),
                    Crowd::Unknown => "Use fewer threads than CPUs".to_owned(),
                },
                found.named()
            ),
            ". A lock whose waiters sleep loses least here",
            "mutex,mutex:spin_budget=0",
        ),
    })
}

/// New readers pass writers, and no hold explains how long these wait.
fn passed_writers(case: &Case<'_>) -> Option<Finding> {
    starved(case)
        .filter(|found| found.explains)
        .map(|found| of_writers(case, &found))
}

/// The same, where it is a part of the waiting.
fn starved_writers(case: &Case<'_>) -> Option<Finding> {
    starved(case)
        .filter(|found| !found.explains)
        .map(|found| of_writers(case, &found))
}

fn starved(case: &Case<'_>) -> Option<Starved> {
    Starved::of(case.profile, case.lock)
}

fn of_writers(case: &Case<'_>, found: &Starved) -> Finding {
    Finding {
        rule: "writers-starve",
        why: "Its writers wait much longer than its readers do: new readers pass them.".to_owned(),
        evidence: found.evidence(|ticks| case.time(ticks)),
        advice: format!(
            "{} In the program: PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP.",
            case.kept().unwrap_or_else(|| format!(
                "Lockwork's read/write lock lets no reader pass once a writer has waited 1 ms: {}.",
                case.compare("mutex")
            ))
        ),
    }
}

fn written_rwlock(case: &Case<'_>) -> Option<Finding> {
    let (reads, writes) = (case.lock.of(Use::Read), case.lock.of(Use::Write));
    let share = mean(writes.count as f64, reads.count + writes.count);
    (case.lock.has(Use::Write) && share >= 0.2).then(|| Finding {
        rule: "written-read-lock",
        why: "It is a read/write lock that is written often, so its readers seldom share it."
            .to_owned(),
        evidence: vec![
            format!(
                "{} reads and {} writes: {} are writes",
                whole(reads.count),
                whole(writes.count),
                percent(share)
            ),
            case.hold(),
        ],
        advice: "A mutex costs less than a read/write lock and would exclude hardly more."
            .to_owned(),
    })
}

/// A condition variable whose broadcasts wake many, most of which wait again at once, and whose
/// waiters take this lock.
fn herd(case: &Case<'_>) -> Option<Finding> {
    let herds = herds(case.profile).into_iter();
    let herd = herds
        .filter(|_| case.lock.kind() == "mutex")
        .find(|herd| herd.is_of(case.names, case.lock))?;
    let mut evidence = herd.evidence();
    herd.name_in(&mut evidence, case.names);
    Some(Finding {
        rule: "herd",
        why: "Broadcasts wake many threads together, and they all want this mutex.".to_owned(),
        evidence,
        advice: herd::advice(
            case.profile,
            case.kept().or_else(|| herd.kept()).as_deref(),
            &case.compare("mutex"),
        ),
    })
}

fn hot_shard(case: &Case<'_>) -> Option<Finding> {
    let kin = shards(case.profile, case.lock)?;
    let n = kin.locks.len();
    let waited: u64 = kin.locks.iter().map(|lock| lock.sum.waited).sum();
    let used: u64 = kin.locks.iter().map(|lock| lock.sum.count).sum();
    let share = mean(case.sum().waited as f64, waited);
    let used_share = mean(case.sum().count as f64, used);
    let fair = 1.0 / n as f64;
    let waits_most = share >= 0.5 && share >= 3.0 * fair && case.sum().contended >= FEW;
    (n >= 4 && waits_most && used_share >= HOT * fair).then(|| Finding {
        rule: "hot-shard",
        why: format!(
            "It looks like one of {n} locks for parts of one thing, and most of their waiting is \
             for this part."
        ),
        evidence: vec![
            format!("they are made or used at one place, and {}", kin.likeness),
            format!(
                "{} of the waiting and {} of the acquisitions of all {n} are its",
                percent(share),
                percent(used_share),
            ),
            case.hold(),
        ],
        advice: "If it is one of them, distribute the work better over these locks. What this \
                 lock guards is used more than what the others guard."
            .to_owned(),
    })
}

fn long_sections(case: &Case<'_>) -> Option<Finding> {
    let hold = case.profile.ns(case.met_hold());
    let holds_most = case.met_hold() >= case.sum().mean_handover();
    // A few waits do not show that a few long sections cause them.
    let all_are = case.profile.ns(case.sum().mean_hold()) >= LONG_NS;
    let enough = all_are || case.sum().contended >= FEW;
    (hold >= LONG_NS && holds_most && enough).then(|| Finding {
        rule: "long-sections",
        why: "Its critical sections are long.".to_owned(),
        evidence: vec![case.hold(), case.busy(), case.wait()],
        advice: format!(
            "Do less inside{}.{}",
            case.long_ones(),
            no_other_lock(
                case,
                " Another lock changes which thread waits, but hardly how long it waits."
            )
        ),
    })
}

fn convoy(case: &Case<'_>) -> Option<Finding> {
    let sum = case.sum();
    let slept = mean(sum.slept as f64, sum.watched);
    let slow = sum.held > 0.0 && sum.mean_handover() >= 2.0 * case.met_hold();
    (sum.watched >= FEW && slept >= 0.5 && slow && sum.handovers >= FEW).then(|| Finding {
        rule: "convoy",
        why: "Each hand-over wakes a thread that sleeps, and that takes longer than the section."
            .to_owned(),
        evidence: vec![
            format!(
                "a hand-over takes {} on average, a hold {}",
                case.time(sum.mean_handover()),
                case.time(case.met_hold())
            ),
            format!(
                "{} voluntary context switches in {} waits that were watched",
                whole(sum.slept),
                whole(sum.watched)
            ),
        ],
        advice: match case.crowd() {
            // Whoever spins has the CPU that the holder or the next one wants.
            Crowd::More if case.profile.ns(case.met_hold()) >= LONG_NS => case.advice(
                &format!(
                    "Use no more threads than CPUs ({}): one that is woken waits for a CPU",
                    case.crowded()
                ),
                ". Such sections are too long to spin for",
                "mutex,mutex:spin_budget=0",
            ),
            _ => case.advice(
                "",
                "A lock whose waiters spin before they sleep",
                "mutex,qspinlock_steal",
            ),
        },
    })
}

fn long_waits(case: &Case<'_>) -> Option<Finding> {
    let sum = case.sum();
    let queue = mean(sum.queue as f64, sum.watched) + 1.0;
    let long = case.profile.ns(sum.mean_wait()) >= LONG_NS
        && sum.held > 0.0
        && sum.mean_wait() >= 10.0 * case.met_hold() * queue;
    (long && sum.contended >= FEW).then(|| Finding {
        rule: "off-cpu",
        why: "Waits are much longer than the holds before them: the holder or the next waiter was \
              off its CPU."
            .to_owned(),
        evidence: vec![
            case.wait(),
            case.hold(),
            format!(
                "{} voluntary and {} involuntary context switches in {} waits that were watched",
                whole(sum.slept),
                whole(sum.preempted),
                whole(sum.watched)
            ),
        ],
        advice: {
            let (own, or) = match case.crowd() {
                Crowd::More => (
                    format!("Use no more threads than CPUs ({})", case.crowded()),
                    ", or see which lock loses least",
                ),
                Crowd::Fits => (
                    format!(
                        "There are CPUs enough ({}): see who else had them",
                        case.crowded()
                    ),
                    ", and which lock loses least",
                ),
                Crowd::Unknown => (
                    "Use no more threads than CPUs".to_owned(),
                    ", or see which lock loses least",
                ),
            };
            case.advice(&own, or, "mutex,mutex:spin_budget=0,qspinlock_steal")
        },
    })
}

fn short_sections(case: &Case<'_>) -> Option<Finding> {
    let sum = case.sum();
    let hold = case.profile.ns(case.met_hold());
    (sum.held > 0.0 && hold < LONG_NS && sum.contended >= FEW).then(|| Finding {
        rule: "short-but-many",
        why: "Its sections are short but many, and threads meet there.".to_owned(),
        evidence: [case.rate(), case.hold()]
            .into_iter()
            .chain((sum.queue > 0).then(|| {
                format!(
                    "a contended acquisition meets {} other waiters on average",
                    grouped(mean(sum.queue as f64, sum.watched), 2)
                )
            }))
            .collect(),
        advice: case.advice(
            "Take it less often or divide what it guards",
            ", or try other locks",
            "mutex,qspinlock_steal,qspinlock_fair",
        ),
    })
}

fn unclear(case: &Case<'_>) -> Finding {
    Finding {
        rule: "unclear",
        why: match case.sum() {
            sum if sum.contended < FEW => "There were fewer than 8 waits: too few to tell why.",
            _ if case.lock.held_beyond => {
                "Its holds, estimated from samples, come to more than the run, so nothing says why."
            }
            sum if sum.held <= 0.0 => "No hold of it was timed, so nothing says why.",
            _ => "No rule explains these waits.",
        }
        .to_owned(),
        evidence: vec![case.rate(), case.hold(), case.wait()],
        advice: case.advice("", "Measure other locks", "mutex,qspinlock_steal"),
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
