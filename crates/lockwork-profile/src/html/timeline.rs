// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The timeline as pictures in SVG, one above the other, of which a script shows one; and as a
//! table.

use std::collections::HashMap;
use std::fmt::Write;

use lockwork_report::html::{escape, table};
use lockwork_report::text::{counted, cut, duration, whole};

use crate::deadlock::tid;
use crate::model::Profile;
use crate::names::Names;
use crate::raw;
use crate::timeline::{Bar, State, Timeline, View};

/// A row's height, and that of a lock's heading.
const ROW: usize = 22;
/// Units from left to right; a script shows less of them to zoom.
const WIDTH: f64 = 100_000.0;
/// Columns of a call's name.
const NAME: usize = 60;

/// The section.
pub fn render(profile: &Profile, names: &Names<'_>) -> String {
    let Some(timeline) = Timeline::new(profile) else {
        return format!(
            "<section><h2>{HEADING}</h2>\n<p>{}</p></section>\n",
            nothing(profile)
        );
    };
    let mut drawing = Drawing {
        profile,
        names,
        sites: HashMap::new(),
        timeline: &timeline,
    };
    let mut text = format!(
        "<section class=\"timeline\" aria-label=\"Timeline\"><h2>{HEADING}</h2>\n{}{LEGEND}{BUTTONS}",
        drawing.what_is_missing()
    );
    for (at, view) in timeline.views.iter().enumerate() {
        text += &drawing.view(at, view);
    }
    // Shown by the script.
    text +=
        "<p class=\"empty\" hidden>No wait and no hold was recorded in the time that is shown: \
             zoom out, or go to a bar.</p>\n";
    text += "<p class=\"said\" aria-live=\"polite\"></p>\n";
    text + &drawing.as_table() + "</section>\n"
}

const HEADING: &str = "Who waits and who holds, over time";

/// Why nothing is drawn.
fn nothing(profile: &Profile) -> &'static str {
    match profile.sum().contended {
        0 => "No lock was contended, so there is nothing to draw.",
        _ => {
            "The file has no single wait or hold: it had no room for them. The sums above are of all \
             of them."
        }
    }
}

const LEGEND: &str = "<p class=\"legend\"><span><i class=\"w\"></i> waits</span> \
    <span><i class=\"o\"></i> waits in vain, or at the end</span> \
    <span><i class=\"h\"></i> holds</span> \
    <span><i class=\"s\"></i> was seen to hold it; since when is not known</span></p>\n";

/// Shown by the script, which serves them.
const BUTTONS: &str = "<div class=\"buttons\" hidden><label>Show <select></select></label> \
    <button type=\"button\" data-do=\"+\">Zoom in</button> \
    <button type=\"button\" data-do=\"-\">Zoom out</button> \
    <button type=\"button\" data-do=\"ArrowLeft\">Earlier</button> \
    <button type=\"button\" data-do=\"ArrowRight\">Later</button> \
    <button type=\"button\" data-do=\"Home\">All</button> \
    <button type=\"button\" data-do=\",\">Previous bar</button> \
    <button type=\"button\" data-do=\".\">Next bar</button>\
    <p>Click a bar for what it is. Keys, once the picture has the focus: <kbd>+</kbd> \
    <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>Home</kbd> shows all, <kbd>,</kbd> \
    <kbd>.</kbd> go from bar to bar.</p></div>\n";

struct Drawing<'a> {
    profile: &'a Profile,
    names: &'a Names<'a>,
    /// Names that were looked up.
    sites: HashMap<u64, String>,
    timeline: &'a Timeline<'a>,
}

impl Drawing<'_> {
    fn time(&self, ticks: u64) -> String {
        duration(self.profile.ns(ticks as f64))
    }

    fn site(&mut self, address: u64) -> &str {
        let names = self.names;
        let new = || escape(&cut(&names.site(address), NAME));
        self.sites.entry(address).or_insert_with(new)
    }

    /// What is not in the pictures.
    fn what_is_missing(&self) -> String {
        let mut text = String::from(
            "<p>Each row is a thread at a lock. Shown are contended acquisitions, and holds that \
             somebody waited for.",
        );
        let window = 1u64 << raw::WINDOW;
        if self.profile.level > 0 {
            let _ = write!(
                text,
                " The recorder keeps only some events: all waits and holds of {} and more, and \
                 the shorter ones that began in the first {} of each {}.",
                self.time(window << self.profile.level),
                self.time(window),
                self.time(window << self.profile.level)
            );
        }
        let whole_run = &self.timeline.views[0];
        if whole_run.bin > 0 {
            let _ = write!(
                text,
                " In the picture of the whole run, {} bars are reduced to {}: neighbours that are \
                 shorter and closer than {} are one bar. {} of it are drawn apart, with each bar.",
                whole(self.timeline.all as u64),
                whole(whole_run.bars.len() as u64),
                self.time(whole_run.bin),
                counted(self.timeline.views.len() - 1, "part")
            );
        }
        let left_out: usize = self.timeline.lanes.iter().map(|lane| lane.left_out).sum();
        if left_out > 0 {
            let _ = write!(
                text,
                " {} with less time at a lock have no row.",
                counted(left_out, "thread")
            );
        }
        text + "</p>\n"
    }

    fn title(&self, at: usize, view: &View) -> String {
        match at {
            0 => format!("the whole run: {}", self.time(view.to)),
            _ => format!(
                "{} from {} on",
                self.time(view.to - view.from),
                self.time(view.from)
            ),
        }
    }

    fn view(&mut self, at: usize, view: &View) -> String {
        let lanes = &self.timeline.lanes;
        let rows: usize = lanes.iter().map(|lane| lane.rows.len() + 1).sum();
        let height = rows * ROW;
        let title = self.title(at, view);
        let mut text = format!(
            "<h3>{title}</h3><div class=\"view\" tabindex=\"0\" role=\"group\" \
             aria-label=\"Timeline, {title}\" data-from=\"{}\" data-length=\"{}\">\
             <div class=\"names\" style=\"line-height:{ROW}px\">",
            self.profile.ns(view.from as f64),
            self.profile.ns((view.to - view.from) as f64)
        );
        let mut top = Vec::new();
        let mut y = 0;
        for lane in lanes {
            let name = format!("{} {}", lane.lock.kind(), self.names.lock(lane.lock));
            let _ = write!(text, "<b>{}</b>", escape(&name));
            y += ROW;
            for row in &lane.rows {
                let _ = write!(text, "<span>{}</span>", tid(self.profile, row.thread));
                top.push(y);
                y += ROW;
            }
        }
        let _ = write!(
            text,
            "</div><svg viewBox=\"0 0 {WIDTH} {height}\" height=\"{height}\" \
             preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        );
        for y in &top {
            let _ = write!(text, "<path class=\"r\" d=\"M0 {}h{WIDTH}\"/>", y + ROW - 1);
        }
        // Holds are thick and behind, waits are thin.
        let (waits, holds): (Vec<_>, Vec<_>) =
            view.bars.iter().partition(|bar| bar.state.is_wait());
        for bar in holds.iter().chain(&waits) {
            text += &self.bar(view, bar, top[bar.row]);
        }
        text + "</svg><div class=\"ticks\"></div></div>\n"
    }

    fn bar(&mut self, view: &View, bar: &Bar, top: usize) -> String {
        let unit = WIDTH / (view.to - view.from) as f64;
        let x = |ticks: u64| (ticks.clamp(view.from, view.to) - view.from) as f64 * unit;
        let (class, y, height) = match bar.state {
            State::Hold => ("h", 2, 17),
            State::Seen => ("s", 2, 17),
            State::Wait => ("w", 7, 7),
            State::TimedOut | State::Waiting => ("o", 7, 7),
        };
        format!(
            "<rect class=\"{class}\" x=\"{:.2}\" y=\"{}\" width=\"{:.2}\" height=\"{height}\">\
             <title>{}</title></rect>",
            x(bar.from),
            top + y,
            x(bar.to) - x(bar.from),
            self.what(bar)
        )
    }

    /// What a bar says when it is asked.
    fn what(&mut self, bar: &Bar) -> String {
        let thread = tid(self.profile, bar.thread);
        let from = self.time(bar.from);
        let site = self.site(bar.site).to_owned();
        if bar.count > 1 {
            let what = match bar.state.is_wait() {
                true => "waits",
                false => "holds",
            };
            return format!(
                "thread {thread}: {} {what}, {} in all, in {} from {from} on; the first in {site}",
                whole(bar.count as u64),
                self.time(bar.sum),
                self.time(bar.to - bar.from)
            );
        }
        let took = self.time(bar.sum);
        let mut text = match bar.state {
            State::Wait => format!("thread {thread} waited {took} in {site}"),
            State::TimedOut => format!("thread {thread} waited {took} in {site}, in vain"),
            State::Waiting => format!("thread {thread} waits for {took} in {site}, to the end"),
            State::Hold => format!("thread {thread} held it for {took}, taken in {site}"),
            State::Seen => format!("thread {thread} was seen to hold it for {took} of {site}"),
        };
        if let Some(holder) = bar.holder {
            let holder = tid(self.profile, holder);
            let _ = write!(text, ", while thread {holder} held it");
        }
        if bar.holder_site != 0 {
            let site = self.site(bar.holder_site);
            let _ = write!(text, " by {site}");
        }
        text + &format!("; at {from}")
    }

    fn as_table(&self) -> String {
        let mut rows = Vec::new();
        for lane in &self.timeline.lanes {
            let name = format!("{} {}", lane.lock.kind(), self.names.lock(lane.lock));
            for row in &lane.rows {
                rows.push(vec![
                    escape(&cut(&name, NAME)),
                    tid(self.profile, row.thread),
                    whole(row.waits as u64),
                    self.time(row.waited),
                    self.time(row.longest),
                    whole(row.holds as u64),
                    self.time(row.held),
                ]);
            }
        }
        let header = [
            "lock",
            "thread",
            "waits",
            "waited",
            "longest wait",
            "holds",
            "held",
        ];
        format!(
            "<details><summary>The bars of the whole run as a table</summary>{}</details>\n",
            table(&header, &rows)
        )
    }
}
