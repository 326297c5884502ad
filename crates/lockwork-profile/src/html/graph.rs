// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who waits for whom: threads and locks at the end of the recording, with the cycles among
//! them; and the calls that waited, with those that held the lock meanwhile.

use std::collections::BTreeMap;
use std::fmt::Write;

use lockwork_report::html::{escape, table};
use lockwork_report::text::{counted, cut, duration, percent};

use crate::cycles::holders;
use crate::deadlock::{line, tid};
use crate::model::{mean, Profile, Waiter};
use crate::names::Names;
use crate::verdict::deadlocks;

/// Waiting threads that are drawn.
const WAITERS: usize = 30;
/// Pairs of calls that are drawn.
const PAIRS: usize = 10;
/// Columns of the text in a box.
const COLUMNS: usize = 26;
/// Boxes: left and right, their width and height, and from one to the next.
const LEFT: usize = 4;
const RIGHT: usize = 274;
const BOX: (usize, usize) = (200, 40);
const STEP: usize = 60;

/// The threads that wait for locks at the end of the recording, and the deadlocks among them.
/// Empty: none waits.
pub fn now(profile: &Profile, names: &Names<'_>) -> String {
    let is_lock = |address| {
        let mut locks = profile.locks.iter();
        locks.any(|lock| lock.address == address && lock.is_lock())
    };
    let cycles = deadlocks(profile);
    let in_cycle = |w: &Waiter| cycles.iter().flatten().any(|c| c.thread == w.thread);
    let waiters = profile.waiters.iter();
    let mut waiters: Vec<&Waiter> = waiters.filter(|w| is_lock(w.lock)).collect();
    if waiters.is_empty() {
        return String::new();
    }
    waiters.sort_by_key(|waiter| (!in_cycle(waiter), waiter.thread));
    let mut text = String::from("<h2>Who waits for whom at the end</h2>\n<p>");
    for cycle in &cycles {
        let of = counted(cycle.len(), "thread");
        let _ = write!(
            text,
            "<b>Deadlock of {of}</b>, the red cycle: each waits for a lock that the next one holds. "
        );
    }
    text += match profile.ended {
        true => "The process ended while these threads waited.",
        false => "The process still ran, or was killed, when its recording ended.",
    };
    text += " A line from a thread: waits for. A line from a lock: is held by; a dashed one: was held by, \
             when the wait began.</p>\n";
    let mut graph = Graph::default();
    for waiter in waiters.iter().take(WAITERS) {
        let marked = if in_cycle(waiter) { " cycle" } else { "" };
        let thread = graph.left(thread_name(profile, waiter.thread), || {
            format!("in {}", names.site(waiter.site))
        });
        let lock = graph.right(lock_name(profile, names, waiter.lock));
        graph.edge(Edge {
            class: format!("waits{marked}"),
            from: (thread, true),
            to: (lock, false),
            label: None,
            width: None,
        });
        let now: Vec<u64> = holders(&profile.waiters, waiter)
            .map(|holder| holder.thread)
            .collect();
        let (kind, of) = match now.is_empty() {
            true => ("held", waiter.holder.into_iter().collect()),
            false => ("held now", now),
        };
        for holder in of {
            let holder = graph.left(thread_name(profile, holder), String::new);
            graph.edge(Edge {
                class: format!("{kind}{marked}"),
                from: (lock, false),
                to: (holder, true),
                label: None,
                width: None,
            });
        }
    }
    // A holder that waits itself has a line of text, whoever came first.
    for waiter in &waiters {
        let name = thread_name(profile, waiter.thread);
        graph.explain(&name, format!("in {}", names.site(waiter.site)));
    }
    text += &graph.render(
        "Threads and the locks that they wait for",
        &format!("now-{}", profile.pid),
    );
    text += "<details open><summary>The same as text</summary><ul>";
    for waiter in &waiters {
        let _ = write!(text, "<li>{}", escape(&line(profile, names, waiter)));
    }
    text + "</ul></details>\n"
}

fn thread_name(profile: &Profile, thread: u64) -> String {
    format!("thread {}", tid(profile, thread))
}

fn lock_name(profile: &Profile, names: &Names<'_>, address: u64) -> String {
    let lock = profile.locks.iter().find(|lock| lock.address == address);
    lock.map_or_else(
        || format!("{address:#x}"),
        |lock| format!("{} {}", lock.kind(), names.lock(lock)),
    )
}

/// The calls that waited, and those that held the lock meanwhile. Empty: none waited.
pub fn sites(profile: &Profile, names: &Names<'_>) -> String {
    let mut pairs: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let mut known: BTreeMap<u64, String> = BTreeMap::new();
    let mut name = |site: u64| -> String {
        let new = || names.site(site);
        known.entry(site).or_insert_with(new).clone()
    };
    for blame in profile.locks.iter().flat_map(|lock| &lock.blames) {
        let pair = (name(blame.site), name(blame.holder_site));
        let sum = pairs.entry(pair).or_default();
        sum.0 += blame.count;
        sum.1 += blame.waited;
    }
    let all: u64 = pairs.values().map(|(_, waited)| waited).sum();
    let mut pairs: Vec<((String, String), (u64, u64))> = pairs.into_iter().collect();
    pairs.sort_by_key(|(_, (_, waited))| u64::MAX - waited);
    pairs.retain(|(_, (_, waited))| *waited > 0);
    if pairs.is_empty() {
        return String::new();
    }
    let left_out = pairs.len().saturating_sub(PAIRS);
    pairs.truncate(PAIRS);
    let mut graph = Graph::default();
    let mut rows = Vec::new();
    for ((site, holder), (count, waited)) in &pairs {
        let share = mean(*waited as f64, all);
        let from = graph.left(format!("waits: {site}"), String::new);
        let to = graph.right(format!("holds: {holder}"));
        graph.edge(Edge {
            class: "waits".to_owned(),
            from: (from, true),
            to: (to, false),
            label: Some(percent(share)),
            width: Some(1.0 + share * 7.0),
        });
        rows.push(vec![
            escape(site),
            escape(holder),
            count.to_string(),
            duration(profile.ns(*waited as f64)),
            percent(share),
        ]);
    }
    let more = match left_out {
        0 => String::new(),
        n => format!(" {} with less waiting are left out.", counted(n, "pair")),
    };
    format!(
        "<h2>Which call waited for which</h2>\n<p>Of all locks: the call that waited, and the call \
         by which the holder had taken the lock when the wait began. A line is as thick as its \
         share of the waiting.{more}</p>\n{}{}",
        graph.render(
            "Calls that wait and calls that hold",
            &format!("sites-{}", profile.pid)
        ),
        table(&["waited in", "held by", "waits", "waited", "share"], &rows)
    )
}

/// A box and the lines of its text.
struct Node {
    name: String,
    more: String,
}

/// From and to: the index of a box, and whether it is on the left.
struct Edge {
    class: String,
    from: (usize, bool),
    to: (usize, bool),
    label: Option<String>,
    width: Option<f64>,
}

/// Two columns of boxes, and lines between them.
#[derive(Default)]
struct Graph {
    lefts: Vec<Node>,
    rights: Vec<Node>,
    edges: Vec<Edge>,
}

fn place(nodes: &mut Vec<Node>, name: String, more: impl FnOnce() -> String) -> usize {
    if let Some(at) = nodes.iter().position(|node| node.name == name) {
        return at;
    }
    nodes.push(Node { name, more: more() });
    nodes.len() - 1
}

impl Graph {
    fn left(&mut self, name: String, more: impl FnOnce() -> String) -> usize {
        place(&mut self.lefts, name, more)
    }

    fn right(&mut self, name: String) -> usize {
        place(&mut self.rights, name, String::new)
    }

    fn explain(&mut self, name: &str, more: String) {
        if let Some(node) = self.lefts.iter_mut().find(|node| node.name == name) {
            node.more = more;
        }
    }

    fn edge(&mut self, edge: Edge) {
        // Several waiters see the same holder; those of a cycle come first.
        let mut known = self.edges.iter();
        if !known.any(|other| (other.from, other.to) == (edge.from, edge.to)) {
            self.edges.push(edge);
        }
    }

    fn render(&self, title: &str, id: &str) -> String {
        let height = self.lefts.len().max(self.rights.len()) * STEP;
        let width = RIGHT + BOX.0 + LEFT;
        let mut text = format!(
            "<figure class=\"graph\" tabindex=\"0\"><svg viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}\"><defs>\
             <marker id=\"arrow-{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
             markerUnits=\"userSpaceOnUse\" markerWidth=\"11\" markerHeight=\"11\" \
             orient=\"auto\"><path d=\"M0 0L10 5L0 10z\"/></marker></defs>"
        );
        for (at, edge) in self.edges.iter().enumerate() {
            text += &line_of(edge, at, id);
        }
        for (x, nodes) in [(LEFT, &self.lefts), (RIGHT, &self.rights)] {
            for (at, node) in nodes.iter().enumerate() {
                text += &node.render(x, at * STEP + 4);
            }
        }
        text + "</svg></figure>\n"
    }
}

fn line_of(edge: &Edge, at: usize, id: &str) -> String {
    // Lines towards the right leave a box in its upper half, the others in the lower.
    let shift = if edge.from.1 { 14 } else { 30 };
    let end = |(node, left): (usize, bool)| {
        let x = if left { LEFT + BOX.0 } else { RIGHT };
        (x as f64, (node * STEP + 4 + shift) as f64)
    };
    let ((x, y), (to_x, to_y)) = (end(edge.from), end(edge.to));
    let width = edge.width.map_or_else(String::new, |width| {
        format!(" style=\"stroke-width:{width:.1}\"")
    });
    let mut text = format!(
        "<path class=\"{}\" d=\"M{x} {y}L{to_x} {to_y}\"{width} marker-end=\"url(#arrow-{id})\"/>",
        edge.class
    );
    if let Some(label) = &edge.label {
        // Not all at the same place: lines cross in the middle.
        let part = 0.25 + 0.2 * (at % 3) as f64;
        let (x, y) = (x + (to_x - x) * part, y + (to_y - y) * part - 5.0);
        let _ = write!(text, "<text x=\"{x:.0}\" y=\"{y:.0}\">{label}</text>");
    }
    text
}

impl Node {
    fn render(&self, x: usize, y: usize) -> String {
        let (width, height) = BOX;
        let mut text = format!(
            "<g><title>{} {}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\" rx=\"5\"/>",
            escape(&self.name),
            escape(&self.more)
        );
        let lines: Vec<&str> = [self.name.as_str(), self.more.as_str()]
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect();
        let first = if lines.len() > 1 { 17 } else { 25 };
        for (at, line) in lines.iter().enumerate() {
            let _ = write!(
                text,
                "<text x=\"{}\" y=\"{}\">{}</text>",
                x + 8,
                y + first + at * 16,
                escape(&cut(line, COLUMNS))
            );
        }
        text + "</g>"
    }
}
