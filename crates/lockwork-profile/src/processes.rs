// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A recording of many processes: a table of them, and which have a report of their own.

use lockwork_report::table;
use lockwork_report::text::{cut, duration, percent, whole};

use crate::model::Profile;
use crate::program::command;
use crate::users::still_waited;
use crate::verdict::{deadlocks, lost_share};

/// So many have a report each, whatever they waited for.
const FEW: usize = 4;
/// Of more, those with this share of the longest waiting or more, and those that are damaged or
/// in a deadlock.
const MUCH: f64 = 0.1;
/// Columns of a command line.
const COMMAND: usize = 48;
/// Rows of the table.
const LISTED: usize = 30;

/// How long its threads waited for locks, in ns.
pub fn waited(profile: &Profile) -> u64 {
    let ticks = profile.sum().waited.saturating_add(still_waited(profile));
    profile.ns(ticks as f64)
}

/// Those that have a report of their own, of `all` that used locks, in their order.
pub fn in_full<'a>(all: &[&'a Profile]) -> Vec<&'a Profile> {
    if all.len() <= FEW {
        return all.to_vec();
    }
    let most = all.iter().map(|profile| waited(profile)).max().unwrap_or(0);
    let special =
        |profile: &Profile| !profile.warnings.is_empty() || !deadlocks(profile).is_empty();
    let mut room = FEW;
    let mut is_full = |profile: &&Profile| {
        let much = room > 0 && waited(profile) as f64 >= (most as f64 * MUCH).max(1.0);
        room -= usize::from(much);
        much || special(profile)
    };
    let chosen: Vec<&Profile> = all.iter().copied().filter(|p| is_full(p)).collect();
    match chosen.is_empty() {
        true => all[..1].to_vec(),
        false => chosen,
    }
}

/// What the columns are, and which a narrow terminal goes without, the first one first.
const HEADER: [&str; 8] = [
    "command",
    "process",
    "time",
    "threads",
    "acquired",
    "contended",
    "waited",
    "of time",
];
const LESS: &[&[usize]] = &[&[2], &[3], &[5], &[4]];

/// A row for each of `all`, which waited longest first, in a terminal of so many columns.
pub fn table(all: &[&Profile], width: Option<usize>) -> String {
    let row = |profile: &&Profile| {
        let sum = profile.sum();
        vec![
            cut(&command(profile), COMMAND),
            profile.pid.to_string(),
            profile.length(),
            whole(profile.threads),
            whole(sum.count),
            percent(sum.contention()),
            duration(waited(profile)),
            match profile.at_least {
                true => "-".to_owned(),
                false => percent(lost_share(profile)),
            },
        ]
    };
    let mut text = format!("{} processes used locks:\n\n", whole(all.len() as u64));
    let rows: Vec<Vec<String>> = all.iter().take(LISTED).map(row).collect();
    text += &table::within(width, &HEADER, &rows, LESS);
    if all.len() > LISTED {
        let rest: u64 = all[LISTED..].iter().map(|profile| waited(profile)).sum();
        text += &format!(
            "\n… and {} more, {} in all",
            all.len() - LISTED,
            duration(rest)
        );
    }
    text + "\n\n`lockwork report FILE --process PID` prints the report of one that is not below.\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Counts;
    use crate::verdict::tests::one_mutex;

    fn process(pid: u64, waited: u64) -> Profile {
        let counts = Counts {
            count: 10,
            contended: 1,
            waited,
            ..Counts::default()
        };
        Profile {
            pid,
            ..one_mutex(counts)
        }
    }

    fn full(waited: &[u64]) -> Vec<u64> {
        let all: Vec<Profile> = (0..).zip(waited).map(|(pid, w)| process(pid, *w)).collect();
        let all: Vec<&Profile> = all.iter().collect();
        in_full(&all).iter().map(|profile| profile.pid).collect()
    }

    #[test]
    fn of_many_processes_those_that_waited_long_have_a_report() {
        assert_eq!(full(&[9, 8, 1, 0]), [0, 1, 2, 3], "few");
        assert_eq!(full(&[90, 80, 9, 8, 0]), [0, 1, 2]);
        assert_eq!(full(&[90, 80, 70, 60, 50, 40]), [0, 1, 2, 3]);
        assert_eq!(full(&[0; 6]), [0], "nobody waited");
    }

    #[test]
    fn a_damaged_one_is_not_left_out() {
        let mut all: Vec<Profile> = (0..6).map(|pid| process(pid, 0)).collect();
        all[5].warnings.push("cut short".to_owned());
        let all: Vec<&Profile> = all.iter().collect();
        let shown: Vec<u64> = in_full(&all).iter().map(|p| p.pid).collect();
        assert_eq!(shown, [5]);
    }

    #[test]
    fn each_process_has_a_row() {
        let all: Vec<Profile> = (0..40).map(|pid| process(1_000 + pid, 40 - pid)).collect();
        let all: Vec<&Profile> = all.iter().collect();
        let text = table(&all, None);
        assert!(text.starts_with("40 processes used locks:"), "{text}");
        assert!(text.contains("1029") && !text.contains("1030"), "{text}");
        assert!(text.contains("… and 10 more, 55 ns in all"), "{text}");
    }
}
