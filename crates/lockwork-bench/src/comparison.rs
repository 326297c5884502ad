// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The last section: where our locks lose, and how they do against the best
//! peer of each case.
use crate::score::{Known, Score, GOAL, NEAR};
use crate::scoring::{cases_left_out, score_of, Ahead};
use crate::summary::{Line, Summary};
use lockwork_report::table;
use lockwork_report::text::counted;

/// The section, for the locks named `under_test`.
pub fn section(cases: &[Summary], under_test: &[String]) -> String {
    let mut text = String::new();
    for name in under_test {
        let places: Vec<Place> = cases.iter().filter_map(|c| Place::of(c, name)).collect();
        if places.is_empty() {
            continue;
        }
        if !places.iter().any(Place::is_compared) {
            text += &format!(
                "{name} is compared with nothing: that takes another lock of its family, and two \
                 rounds or more.\n"
            );
            continue;
        }
        let losses: Vec<String> = places.iter().filter_map(Place::loss).collect();
        if losses.is_empty() {
            let once = places.iter().filter(|place| place.ahead.once.is_empty());
            text += &format!(
                "No case shows {name} off the Pareto front of throughput and p99.9 wait. By all \
                 rounds together it is on it in {} of {}.\n",
                once.count(),
                counted(places.len(), "case")
            );
        } else {
            text +=
                &format!("{name} is not on the Pareto front of throughput and p99.9 wait in:\n");
            text += &losses.concat();
        }
        text += &score(cases, name, &places);
    }
    text + &peers(cases, under_test)
}

/// One lock in one case, among the locks of its family there.
struct Place<'a> {
    case: &'a Summary,
    line: &'a Line,
    ahead: Ahead<'a>,
}

impl Place<'_> {
    fn of<'a>(case: &'a Summary, name: &str) -> Option<Place<'a>> {
        let line = case.lines.iter().find(|line| line.lock.name == name)?;
        let ahead = Ahead::of(case, name)?;
        Some(Place { case, line, ahead })
    }

    /// With another lock, in odd rounds and in even ones.
    fn is_compared(&self) -> bool {
        self.line.rounds > 1 && self.case.family(&self.line.lock.family).len() > 1
    }

    fn loss(&self) -> Option<String> {
        if self.ahead.twice.is_empty() {
            return None;
        }
        let own = self.line.point();
        let by: Vec<String> = self
            .ahead
            .twice
            .iter()
            .map(|other| {
                let (name, point) = (&other.lock.name, other.point());
                let throughput = point.throughput / own.throughput;
                let wait = point.wait / own.wait;
                format!("{name} (throughput x{throughput:.2}, p99.9 wait x{wait:.2})")
            })
            .collect();
        Some(format!("  {}: {}\n", self.case.case, by.join(", ")))
    }
}

/// All cases of one lock.
fn score(cases: &[Summary], name: &str, places: &[Place]) -> String {
    let on = |of: &dyn Fn(&Place) -> bool| places.iter().filter(|p| of(p)).count();
    let front = format!(
        "on the Pareto front in {} of {}; by all rounds together, without the halves, in {}",
        on(&|p| p.ahead.twice.is_empty()),
        places.len(),
        on(&|p| p.ahead.once.is_empty())
    );
    let Some(score) = score_of(cases, name) else {
        let why = match places.iter().any(|p| p.case.has_peer(&p.line.lock)) {
            _ if cases_left_out(cases, name) > 0 => "left out, because it took too long to stop",
            true => "one round cannot both choose the best peer and compare with it",
            false => "no peer to compare with",
        };
        return format!("{name}: {why}; {front}.\n");
    };
    let out = match score.left_out {
        0 => String::new(),
        n => format!(
            "  worse than all that follows: left out of {}, because it took too long to stop\n",
            counted(n, "more case")
        ),
    };
    let worst = &score.cases[score.worst];
    let again = score.worst_again.map_or_else(String::new, |ratio| {
        format!("; the case that is worst in one half of the rounds has {ratio:.2} in the other")
    });
    let cpu = score.cpu.as_ref();
    let cpu = cpu.map_or_else(String::new, |known| {
        format!(
            "  CPU time of an acquisition: {} of the best peer's\n",
            shown(known)
        )
    });
    format!(
        "{name}: geometric mean {} of the best peer's throughput in {}\n{out}  worst case: {} ({}; \
         best peer {}){again}\n  under {GOAL:.2} in {}, in {} of them by the whole interval; \
         {NEAR} or more in {}\n  {front}\n{cpu}  two such runs tell apart means that differ by \
         {:.1} % (95 % confidence, 80 % power)\n",
        shown(&score.throughput),
        counted(score.cases.len(), "case"),
        shown(&worst.throughput),
        worst.case,
        worst.rivals.join(" and "),
        score.count(|ratio| ratio < GOAL),
        score.surely_under(),
        score.count(|ratio| ratio >= NEAR),
        score.detectable * 100.0
    )
}

/// In how many cases it is below the goal.
fn under(score: &Score) -> String {
    let text = format!("{} of {}", score.count(|r| r < GOAL), score.cases.len());
    match score.left_out {
        0 => text,
        n => format!("{text}, {n} left out"),
    }
}

/// The same for the peers: each against the best of the other peers.
fn peers(cases: &[Summary], under_test: &[String]) -> String {
    let all = || cases.iter().flat_map(|case| &case.lines);
    let tested = |name: &str| under_test.iter().any(|t| t == name);
    let families: Vec<&str> = all()
        .filter(|line| tested(&line.lock.name))
        .map(|line| line.lock.family.as_str())
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for line in all().filter(|l| tested(&l.lock.name) || !l.is_ours()) {
        let name = line.lock.name.as_str();
        if families.contains(&line.lock.family.as_str()) && !names.contains(&name) {
            names.push(name);
        }
    }
    let scores = names.iter().filter_map(|name| score_of(cases, name));
    let mut scores: Vec<Score> = scores.collect();
    if cases.len() < 2 || scores.len() < 2 {
        return String::new();
    }
    scores.sort_by(|a, b| b.throughput.ratio.total_cmp(&a.throughput.ratio));
    let rows = scores.iter().map(|score| {
        let places = cases.iter().filter_map(|c| Place::of(c, &score.lock));
        let places: Vec<Place> = places.collect();
        let on = places.iter().filter(|p| p.ahead.twice.is_empty()).count();
        let two = |known: &Known| format!("{:.2}", known.ratio);
        [
            score.lock.clone(),
            two(&score.throughput),
            range(&score.throughput),
            two(&score.cases[score.worst].throughput),
            under(score),
            format!("{on} of {}", places.len()),
            score.cpu.as_ref().map_or_else(|| "-".to_owned(), two),
        ]
    });
    let header = ["Lock", "Mean", "95% CI", "Worst", "< 0.90", "Front", "CPU"];
    let text = table::render(header, rows);
    format!(
        "\nEach lock against the best of the other libraries' locks, by the same rule:\n{text}\n\n"
    )
}

/// `0.94 (95 % interval 0.92 to 0.96)`
fn shown(known: &Known) -> String {
    let ratio = known.ratio;
    known.interval.map_or_else(
        || format!("{ratio:.2} (too few rounds for an interval)"),
        |(low, high)| format!("{ratio:.2} (95 % interval {low:.2} to {high:.2})"),
    )
}

/// `0.92 … 0.96`
pub(crate) fn range(known: &Known) -> String {
    let dash = || "-".to_owned();
    let range = |(low, high)| format!("{low:.2} … {high:.2}");
    known.interval.map_or_else(dash, range)
}
