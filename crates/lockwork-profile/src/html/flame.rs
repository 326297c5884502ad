// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The flame graph: boxes in HTML, which the browser lays out by their shares of the width. A
//! script zooms into a box and searches.

use std::fmt::Write;

use lockwork_report::html::escape;
use lockwork_report::text::{duration, percent, whole};

use crate::flame::{lay_out, Branch, Frame};
use crate::folded;
use crate::model::{mean, Profile};
use crate::names::Names;

/// Boxes with less of the waiting than one in so many are left out. So a row has no more
/// boxes than that.
const PARTS: u64 = 1000;
/// Colours of functions: so many hues, from red on.
const HUES: u32 = 55;

/// Shown by the script, which serves them.
const BUTTONS: &str = "<div class=\"buttons\" hidden><label>Search <input type=\"search\"></label> \
    <button type=\"button\">Whole graph</button> <output></output>\
    <p>Click a box to zoom into it. Keys, once a box has the focus: <kbd>↑</kbd> <kbd>↓</kbd> go to \
    the caller and to what it calls, <kbd>←</kbd> <kbd>→</kbd> to the box beside it, \
    <kbd>Enter</kbd> zooms, <kbd>Esc</kbd> shows the whole graph.</p></div>\n";

/// The section; empty: no stack was recorded.
pub fn render(profile: &Profile, names: &Names<'_>) -> String {
    let mut root = Branch::default();
    for waits in folded::stacks(profile, names) {
        root.add(waits.stack, waits.ns);
    }
    section(&root)
}

fn section(root: &Branch) -> String {
    if root.waited == 0 {
        return String::new();
    }
    let (frames, left_out) = lay_out(root, root.waited / PARTS);
    let rows = frames.iter().map(|frame| frame.depth + 2).max();
    let mut text = format!(
        "<section class=\"flame\" aria-label=\"Flame graph\"><h2>Which callers waited for which \
         lock</h2>\n<p>A flame graph: each box is a function, below the one that called it, and as \
         wide as the time that threads waited in it. The last box of a stack is the lock.{}</p>\n\
         {BUTTONS}<div class=\"frames\" role=\"tree\" aria-label=\"Functions and locks\" \
         style=\"height:calc(var(--row)*{})\">\n\
         <div role=\"treeitem\" aria-level=\"1\" tabindex=\"0\" style=\"left:0%;width:100%;--y:0\" \
         title=\"{}\">all waits</div>\n",
        little(left_out),
        rows.unwrap_or(1),
        duration(root.waited)
    );
    for frame in &frames {
        text += &one(frame, root.waited);
    }
    text + "</div>\n<p class=\"said\" aria-live=\"polite\"></p></section>\n"
}

fn little(left_out: usize) -> String {
    let share = percent(1.0 / PARTS as f64);
    match left_out {
        0 => String::new(),
        1 => format!(" One box with less than {share} of the time is left out."),
        n => format!(
            " {} boxes with less than {share} of the time are left out.",
            whole(n as u64)
        ),
    }
}

fn one(frame: &Frame, all: u64) -> String {
    let share = mean(frame.waited as f64, all);
    let mut text = format!(
        "<div role=\"treeitem\" aria-level=\"{}\" tabindex=\"-1\"{} style=\"left:{:.5}%;\
         width:{:.5}%;--y:{}",
        frame.depth + 2,
        if frame.last { " class=\"lock\"" } else { "" },
        mean(frame.from as f64, all) * 100.0,
        share * 100.0,
        frame.depth + 1
    );
    if !frame.last {
        let _ = write!(text, ";--hue:{}", hue(frame.name));
    }
    let _ = writeln!(
        text,
        "\" title=\"{}, {}\">{}</div>",
        duration(frame.waited),
        percent(share),
        escape(frame.name)
    );
    text
}

/// The same for the same function, in each graph.
fn hue(name: &str) -> u32 {
    let sum = |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte));
    name.bytes().fold(0, sum) % HUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_their_place_their_share_and_their_name() {
        let mut root = Branch::default();
        let mut add = |stack: &str, ns| root.add(stack.split(';').map(str::to_owned), ns);
        add("main;f<int>;hot_mutex", 1_500_000);
        add("main;g;hot_mutex", 500_000);
        add("main;little;hot_mutex", 100);
        let text = section(&root);
        assert_eq!(text.matches("role=\"treeitem\"").count(), 6);
        assert!(text.contains("height:calc(var(--row)*4)"), "{text}");
        let line = text
            .lines()
            .find(|line| line.ends_with(">f&lt;int&gt;</div>"));
        let line = line.expect("a box for f");
        for part in [
            "aria-level=\"3\"",
            "left:0.00000%;width:74.99625%;--y:2;",
            "title=\"1.50 ms, 75.0 %\"",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert_eq!(text.matches("class=\"lock\"").count(), 2);
        let said = " 2 boxes with less than 0.1 % of the time are left out.</p>";
        assert!(text.contains(said), "{text}");
        assert_eq!(section(&Branch::default()), "");
    }
}
