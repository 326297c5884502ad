// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The report as one page that needs no network and no script: tables, histograms, and the
//! stacks of waits as a tree whose branches open by click or key.

use std::collections::BTreeMap;
use std::fmt::Write;

use lockwork_report::text::{duration, percent, seconds, whole};

use crate::histogram::Histogram;
use crate::model::{mean, Lock, Profile};
use crate::names::Names;
use crate::summary::{self, contended};

/// Locks that have a section of their own.
const SHOWN: usize = 20;
/// Branches of a tree with less of the waiting than this are left out.
const LITTLE: f64 = 0.005;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:70rem}\
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}\
.wide{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap}\
th:first-child,td:first-child{text-align:left;white-space:normal;min-width:12rem}\
tr{border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}\
details{margin-left:1rem}summary{cursor:pointer;overflow-wrap:anywhere}\
summary:focus-visible{outline:2px solid}\
.why{border-left:4px solid #c60;padding-left:.8rem}\
.bars{display:grid;grid-template-columns:auto 1fr auto;gap:.1rem .6rem;max-width:40rem}\
.bars i{background:#c60;height:1em;min-width:2px}\
.share{display:inline-block;background:#c60;height:.7em;margin-right:.5em}";

/// The page on these processes.
pub fn render(profiles: &[Profile]) -> String {
    let title = profiles.first().map(summary::command).unwrap_or_default();
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Locks of {0}</title><style>{STYLE}</style></head><body>\n\
         <h1>Locks of {0}</h1>\n",
        escape(&title)
    );
    for profile in profiles {
        text += &process(profile);
    }
    text + "</body></html>\n"
}

fn process(profile: &Profile) -> String {
    let names = Names::new(profile);
    let sum = profile.sum();
    let mut text = format!(
        "<section><p>Process {}: {}, {} threads, lock <b>{}</b>. {} acquisitions, {} of them \
         contended; threads waited {} in all.</p>\n",
        profile.pid,
        seconds(profile.seconds),
        profile.threads,
        match profile.policy.as_str() {
            "" => "glibc".to_owned(),
            policy => escape(policy),
        },
        whole(sum.count),
        percent(sum.contention()),
        duration(profile.ns(sum.waited as f64))
    );
    let locks: Vec<&Lock> = contended(profile).take(SHOWN).collect();
    if locks.is_empty() {
        return text + "<p>Its locks were never contended: nothing to win here.</p></section>\n";
    }
    text += "<div class=\"wide\"><table><thead><tr><th>lock<th>waited<th>share<th>acquired\
             <th>contended</tr></thead><tbody>\n";
    for (at, lock) in locks.iter().enumerate() {
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#p{}l{at}\">{} {}</a><td>{}<td>{}<td>{}<td>{}</tr>",
            profile.pid,
            lock.kind(),
            escape(&names.lock(lock)),
            duration(profile.ns(lock.sum.waited as f64)),
            percent(mean(lock.sum.waited as f64, sum.waited)),
            whole(lock.sum.count),
            percent(lock.sum.contention())
        );
    }
    text += "</tbody></table></div>\n";
    for (at, lock) in locks.iter().enumerate() {
        text += &one_lock(profile, &names, lock, at);
    }
    text + "</section>\n"
}

fn one_lock(profile: &Profile, names: &Names<'_>, lock: &Lock, at: usize) -> String {
    let found = summary::finding(profile, names, lock);
    let mut text = format!(
        "<h2 id=\"p{}l{at}\">{} {}</h2>\n<div class=\"why\"><p><b>{}</b></p><ul>",
        profile.pid,
        lock.kind(),
        escape(&names.lock(lock)),
        escape(&found.why)
    );
    for evidence in &found.evidence {
        text += &format!("<li>{}", escape(evidence));
    }
    text += &format!("</ul><p>{}</p></div>\n", escape(&found.advice));
    for (what, histogram) in [
        ("Waits", &lock.sum.wait_times),
        ("Holds", &lock.sum.hold_times),
        ("Hand-overs", &lock.sum.hand_times),
    ] {
        text += &bars(profile, what, histogram);
    }
    text + &tree(profile, names, lock)
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

/// Callers of waits, the outermost first.
#[derive(Default)]
struct Branch {
    waited: u64,
    callees: BTreeMap<String, Branch>,
}

fn tree(profile: &Profile, names: &Names<'_>, lock: &Lock) -> String {
    let mut root = Branch::default();
    for stack in profile.stacks.iter().filter(|s| s.lock == lock.address) {
        root.waited += stack.waited;
        let mut at = &mut root;
        for address in stack.frames.iter().rev() {
            for frame in names.frames(*address).iter().rev() {
                at = at.callees.entry(frame.to_string()).or_default();
                at.waited += stack.waited;
            }
        }
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
    let mut callees: Vec<(&String, &Branch)> = branch.callees.iter().collect();
    callees.sort_by_key(|(_, callee)| u64::MAX - callee.waited);
    let mut text = String::new();
    for (name, callee) in callees {
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_templates_do_not_become_elements() {
        assert_eq!(escape("f<\"a\" & b>"), "f&lt;&quot;a&quot; &amp; b&gt;");
    }

    #[test]
    fn a_tree_leaves_little_branches_out() {
        let mut root = Branch::default();
        for (name, waited) in [("main", 990), ("other", 6), ("little", 4)] {
            root.callees.entry(name.to_owned()).or_default().waited = waited;
        }
        let text = branches(&root, 1000);
        assert!(
            text.contains("99.0 % main") && text.contains("0.6 % other"),
            "{text}"
        );
        assert!(!text.contains("little"), "{text}");
    }
}
