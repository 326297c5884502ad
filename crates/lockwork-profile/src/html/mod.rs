// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The report as one page that needs no network: tables, histograms, the stacks of waits as a
//! flame graph and, for each lock, as a tree whose branches open by click or key, the timeline
//! of the hottest locks, and wait-for graphs. Without a script the timeline and the flame graph
//! have no buttons and no keys; all else is the same.

mod flame;
mod graph;
mod timeline;

use std::fmt::Write;

use lockwork_report::finding::Finding;
use lockwork_report::html::{self, escape};
use lockwork_report::text::{counted, duration, percent, whole};

use crate::flame::Branch;
use crate::herd::herds;
use crate::histogram::Histogram;
use crate::model::{mean, Lock, Profile};
use crate::names::Names;
use crate::summary::{self, contended};
use crate::{futexes, program, sharing, tables, unseen, verdict};

/// Locks that have a section of their own.
const SHOWN: usize = 20;
/// Branches of a tree with less of the waiting than this are left out.
const LITTLE: f64 = 0.005;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("timeline.js"), include_str!("flame.js"));

/// The page on these processes.
pub fn render(profiles: &[Profile]) -> String {
    let title = profiles.first().map(program::command).unwrap_or_default();
    let body: String = profiles.iter().map(process).collect();
    html::page(&format!("Locks of {title}"), STYLE, &body, SCRIPT)
}

fn process(profile: &Profile) -> String {
    let names = Names::new(profile);
    let sum = profile.sum();
    let mut text = format!(
        "<section><p>Process {}: {}, {} at a time, lock <b>{}</b>. {} acquisitions, {} of them \
         contended{}; {}.</p>\n",
        profile.pid,
        profile.length(),
        counted(profile.threads as usize, "thread"),
        match profile.policy.as_str() {
            "" => "glibc".to_owned(),
            policy => escape(policy),
        },
        whole(sum.count),
        percent(sum.contention()),
        sum.timed_out(),
        verdict::waited(profile)
    );
    let verdict = verdict::verdict(profile);
    let quick = verdict::quick_waits(profile);
    let cpus = summary::cpus(profile);
    let said = [cpus.as_deref(), quick.as_deref()].into_iter().flatten();
    for said in verdict.lines().chain(said) {
        text += &format!("<p>{}</p>\n", escape(said));
    }
    let locks: Vec<&Lock> = contended(profile).take(SHOWN).collect();
    if !locks.is_empty() {
        let mut rows = tables::locks(profile, &names, &locks);
        for (at, row) in rows.iter_mut().enumerate() {
            row[0] = format!("<a href=\"#p{}l{at}\">{}</a>", profile.pid, escape(&row[0]));
        }
        text += &html::table(&tables::LOCKS, &rows);
    }
    let mut condvars = tables::condvars(profile, &names);
    if !condvars.is_empty() {
        for row in &mut condvars {
            row[0] = escape(&row[0]);
        }
        text += &html::table(&tables::CONDVAR, &condvars);
        for herd in herds(profile) {
            let name = escape(&names.lock(herd.condvar));
            text += &format!("<h2>condition variable {name}</h2>\n");
            text += &why(&herd.finding(profile), &[]);
        }
    }
    for said in sharing::sentences(profile, &names) {
        text += &format!("<p>{}</p>\n", escape(&said));
    }
    if let Some(found) = futexes::of(profile, &names) {
        let sites = found
            .sites
            .iter()
            .map(|site| format!("<li>{}", escape(site)));
        let sites: String = sites.collect();
        text += &format!("<p>{}:</p><ul>{sites}</ul>\n", escape(&found.sum));
    }
    if let Some(own) = futexes::own(profile, &names) {
        text += &format!("<p>{}.</p>\n", escape(&own));
    }
    if let Some(told) = unseen::beside(profile, &verdict) {
        text += &format!("<p>{}.</p>\n", escape(&told));
    }
    // Where it made no lock call at all, the verdict says so.
    let untold = profile.locks.iter().any(Lock::is_lock);
    if let Some(told) = unseen::unrecorded(profile).filter(|_| untold) {
        text += &format!("<p>{}.</p>\n", escape(&told));
    }
    text += &graph::now(profile, &names);
    text += &flame::render(profile, &names);
    text += &timeline::render(profile, &names);
    text += &graph::sites(profile, &names);
    for (at, lock) in locks.iter().enumerate() {
        text += &one_lock(profile, &names, lock, at);
    }
    text + "</section>\n"
}

fn one_lock(profile: &Profile, names: &Names<'_>, lock: &Lock, at: usize) -> String {
    let mut text = format!(
        "<h2 id=\"p{}l{at}\">{} {}</h2>\n",
        profile.pid,
        lock.full_kind(),
        escape(&names.lock(lock)),
    );
    if !verdict::is_nothing(profile) {
        let (found, also) = summary::why(profile, names, lock);
        text += &why(&found, &also);
    }
    for (what, histogram) in [
        ("Waits", &lock.sum.wait_times),
        ("Holds", &lock.sum.hold_times),
        ("Hand-overs", &lock.sum.handover_times),
    ] {
        text += &bars(profile, what, histogram);
    }
    text + &tree(profile, names, lock)
}

fn why(found: &Finding, also: &[Finding]) -> String {
    let also = also.iter().map(|other| format!("Also: {}", other.why));
    let evidence: String = (found.evidence.iter().cloned().chain(also))
        .map(|line| format!("<li>{}", escape(&line)))
        .collect();
    format!(
        "<div class=\"why\"><p><b>{}</b></p><ul>{evidence}</ul><p>{}</p></div>\n",
        escape(&found.why),
        escape(&found.advice)
    )
}

fn bars(profile: &Profile, what: &str, histogram: &Histogram) -> String {
    let most = histogram.buckets().map(|bucket| bucket.2).max();
    let Some(most) = most else {
        return String::new();
    };
    let mut text = format!("<details open><summary>{what}</summary><div class=\"bars\">");
    for (_, to, count) in histogram.buckets() {
        let _ = write!(
            text,
            "<span>≤ {}</span><i style=\"width:{:.1}%\"></i><span>{}</span>",
            duration(profile.ns(to as f64)),
            count as f64 * 100.0 / most as f64,
            whole(count)
        );
    }
    text + "</div></details>\n"
}

fn tree(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut root = Branch::default();
    for stack in profile.stacks.iter().filter(|s| s.lock == lock.address) {
        let frames = stack.frames.iter().rev();
        let frames = frames.flat_map(|address| names.frames(*address).into_iter().rev());
        let frames = frames.map(|frame| frame.to_string());
        root.add(stack.rest().into_iter().chain(frames), stack.waited);
    }
    match root.waited {
        0 => String::new(),
        all => format!(
            "<details open><summary>Where threads waited (sampled)</summary>{}</details>\n",
            branches(&root, all)
        ),
    }
}

fn branches(branch: &Branch, all: u64) -> String {
    let mut text = String::new();
    for (name, callee) in branch.callees() {
        let share = mean(callee.waited as f64, all);
        if share < LITTLE {
            continue;
        }
        let open = if share >= 0.5 { " open" } else { "" };
        let _ = write!(
            text,
            "<details{open}><summary><span class=\"share\" style=\"width:{:.1}em\"></span>{} {}\
             </summary>{}</details>",
            share * 8.0,
            percent(share),
            escape(name),
            branches(callee, all)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counts, Site, Use};

    #[test]
    fn a_page_without_events_says_so() {
        let page = render(&[Profile::default()]);
        assert!(page.contains("No lock was contended, so there is nothing to draw."));
        assert!(!page.contains("<svg viewBox"), "an empty picture");
    }

    #[test]
    fn a_tree_leaves_little_branches_out() {
        let mut root = Branch::default();
        for (name, waited) in [("main", 990), ("other", 6), ("little", 4)] {
            root.add([name.to_owned()], waited);
        }
        let text = branches(&root, 1000);
        assert!(
            text.contains("99.0 % main") && text.contains("0.6 % other"),
            "{text}"
        );
        assert!(!text.contains("little"), "{text}");
    }

    #[test]
    fn the_page_says_what_the_terminal_does() {
        let counts = Counts {
            count: 3,
            waited: 600,
            ..Counts::default()
        };
        let used = |address, how| Lock {
            address,
            sites: vec![Site {
                address: 1,
                how,
                counts: counts.clone(),
            }],
            ..Lock::default()
        };
        let mut hot = [used(256, Use::Mutex), used(264, Use::Mutex)];
        for (thread, lock) in hot.iter_mut().enumerate() {
            lock.sum.count = 100_000;
            lock.by_thread = vec![(thread as u64, 100_000)];
        }
        let [one, other] = hot;
        let profile = Profile {
            ns_per_tick: 1.0,
            seconds: 1.0,
            locks: vec![
                used(64, Use::Wait),
                used(128, Use::Mutex),
                used(200, Use::Futex),
                one,
                other,
            ],
            ..Profile::default()
        };
        let text = process(&profile);
        assert!(text.contains("<p>Its locks were never contended"), "{text}");
        assert!(text.contains("<th>condition variable"), "{text}");
        assert!(text.contains("<p>1 pair of locks that are both"), "{text}");
        assert!(text.contains("600 ns in 3 futex calls"), "{text}");
        assert!(text.contains("<li>3 calls, 600 ns: "), "{text}");
        assert!(text.contains("<td>3<td>200 ns"), "{text}");
    }
}
