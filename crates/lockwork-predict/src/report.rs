// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The prediction on the terminal.

use std::fmt::Write;

use lockwork_profile::demand::{Demand, Kind, Program};
use lockwork_profile::NOTHING;
use lockwork_report::table;
use lockwork_report::text::{counted, cut, duration, grouped, percent, seconds, short, whole};

use crate::doubt;
use crate::nested::Round;
use crate::plan::{Case, Plan};
use crate::rows::{verdict, Banded, Results, Row};

/// Columns of a lock's name, and of a command line.
const NAME: usize = 60;

/// The profile, and the most that a lock could win.
pub fn head(program: &Program, hot: &[&Demand], at_once: usize) -> String {
    let mut text = heading(program);
    for (at, lock) in hot.iter().enumerate() {
        text += &format!("\n{}", asked(lock, at + 1, at_once));
    }
    text
}

fn heading(program: &Program) -> String {
    let mut text = format!(
        "{}: profiled for {}, {} at work, {}\n\
         Threads waited for locks for {} of their time. {}\n",
        cut(&program.command, NAME),
        seconds(program.seconds),
        counted(program.threads.round() as usize, "thread"),
        match program.lock.as_str() {
            "glibc" => "glibc's locks".to_owned(),
            lock => format!("the lock {lock}"),
        },
        percent(program.waited),
        match program.still_waiting {
            0 if program.taken_back > 0 => format!(
                "How much faster another lock may make it is not known: {} waits for condition variables \
                 ended with taking a mutex back, and how long threads waited for that is not seen.",
                whole(program.taken_back)
            ),
            0 if program.kept >= NOTHING => format!(
                "Of that, {} was for locks that no policy replaces. With these threads, no waiting for the \
                 others would make the program {} faster (Amdahl's law). What lock calls cost the CPUs is \
                 not in that.",
                percent(program.kept / program.waited),
                percent(doubt::most(program))
            ),
            0 => format!(
                "With these threads, no waiting for locks at all would make the program {} faster \
                 (Amdahl's law). What lock calls cost the CPUs is not in that.",
                percent(doubt::most(program))
            ),
            threads => format!(
                "That leaves out the waits of {}, which had not ended when the recording did.",
                counted(threads, "thread")
            ),
        },
    );
    if let Some(waits) = &program.quick_waits {
        let _ = writeln!(
            text,
            "That leaves out its waits for condition variables, which another policy may shorten. {waits}"
        );
    }
    for note in &program.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// What is said instead of a prediction.
pub fn nothing(program: &Program, at_once: usize) -> String {
    let mut text = heading(program);
    let busiest = program
        .locks
        .iter()
        .map(|lock| lock.held)
        .fold(0.0, f64::max);
    if program.still_waiting > 0 {
        let _ = writeln!(
            text,
            "Nothing to predict: `lockwork report` says for which locks those threads wait, and whether \
             that is a deadlock."
        );
        return text;
    }
    if program.locks.is_empty() && !program.left_out.is_empty() {
        text += "Nothing to predict: each lock that threads share is left out, as the notes say.\n";
        return text;
    }
    if program.locks.is_empty() {
        text += "Nothing to predict: no two threads often use a lock together that a policy replaces and the recorder sees.\n";
        return text;
    }
    let _ = writeln!(
        text,
        "Nothing to predict: {} is less than {}, and the busiest lock would be held for {} of the \
         time with {} at once (less than {}). {}",
        match program.kept {
            kept if kept > 0.0 => "the waiting for locks that a policy replaces",
            _ => "that",
        },
        percent(NOTHING),
        percent(busiest * at_once as f64),
        counted(at_once, "thread"),
        percent(doubt::HALF_HELD),
        match program.quick_waits {
            _ if program.taken_back > 0 => {
                "What threads waited to take a mutex back is not in the profile, so it is not predicted."
            }
            None if program.partly_seen => {
                "No lock makes such a program faster, as far as its locks were seen."
            }
            None => "No lock makes such a program faster.",
            Some(_) => "Nothing but those waits can become shorter by another lock.",
        }
    );
    text
}

/// What the threads ask of a lock.
fn asked(lock: &Demand, number: usize, at_once: usize) -> String {
    let kind = match lock.kind {
        Kind::Mutex => "mutex",
        Kind::RwLock => "rwlock",
        Kind::Spinlock => "spinlock",
    };
    let mut text = format!(
        "{number}. {kind} {}: {} of the waiting, {} acquisitions, {}\n   sections {} {}",
        cut(&lock.name, NAME),
        percent(lock.of_waiting),
        whole(lock.acquisitions),
        counted(lock.threads.round() as usize, "thread"),
        match lock.held_beyond {
            true => "of a length that is not known, simulated as",
            false => "of",
        },
        ns(lock.section.mean),
    );
    if let Some(reads) = &lock.read_section {
        let _ = write!(
            text,
            " to write, of {} to read ({} are reads)",
            ns(reads.mean),
            percent(lock.reads)
        );
    }
    let _ = write!(text, "; {} between them", ns(lock.think.mean));
    if let Some((share, length)) = lock.sleep {
        let _ = write!(
            text,
            ", and {} asleep before {} of them",
            ns(length),
            percent(share)
        );
    }
    text += "\n";
    if lock.reads == 0.0 && lock.section.mean > 0.0 && !lock.held_beyond {
        let _ = writeln!(
            text,
            "   sections come one after another, so no lock allows more than {} acquisitions a second{}",
            short(1e9 / lock.section.mean),
            as_many(threads_that_fill(lock), at_once)
        );
    }
    if let Some(partner) = &lock.partner {
        let name = cut(&partner.lock.name, NAME);
        text += &match partner.is_outer {
            true => format!(
                "   {} of them while {name} is held",
                percent(partner.together / lock.acquisitions.max(1) as f64)
            ),
            false => format!(
                "   while it is held, {name} is taken {} times on average",
                grouped(partner.together / lock.acquisitions.max(1) as f64, 2)
            ),
        };
        text += match Round::of(lock) {
            Some(_) => ": both are simulated together\n",
            None => ": that is not simulated, and the locks are taken one by one\n",
        };
    }
    if let Some((holds, share)) = lock.left_out {
        let _ = writeln!(
            text,
            "   left out: {} of 0.5 ms or more, {} of the time held, taken for holders that lost \
             their CPU",
            counted(holds as usize, "hold"),
            percent(share)
        );
    }
    text
}

/// How many threads ask for as many acquisitions as the sections allow. A thread that never waits
/// for the lock asks for one in the time of a section and of what is between two of them.
fn threads_that_fill(lock: &Demand) -> f64 {
    let asleep = lock.sleep.map_or(0.0, |(share, length)| share * length);
    (lock.section.mean + lock.think.mean + asleep) / lock.section.mean
}

/// That number in words, if so few threads run at once.
fn as_many(threads: f64, at_once: usize) -> String {
    match threads {
        one if one < 1.05 => "; one thread makes as many".to_owned(),
        few if few < at_once as f64 => {
            format!("; {} threads that never wait make as many", grouped(few, 1))
        }
        _ => String::new(),
    }
}

/// The tables of all locks and machines, and what they depend on.
pub fn prediction(program: &Program, hot: &[&Demand], plan: &Plan, results: &Results) -> String {
    let mut text = String::new();
    for (at, case) in plan.cases.iter().enumerate() {
        text += &on_machine(case, hot, results, at);
    }
    text += "\nWhat this depends on\n";
    for sentence in doubt::assumptions(hot, plan.is_crowded()) {
        let _ = writeln!(text, "  {sentence}");
    }
    text + &format!(
        "\nThis is simulated. On a machine that you have, `lockwork compare -- {}` measures.\n",
        program.again
    )
}

fn on_machine(case: &Case, hot: &[&Demand], results: &Results, at: usize) -> String {
    let number = at % hot.len() + 1;
    let mut text = format!(
        "\n{number}. {} on {} ({})\n",
        cut(&case.lock.name, NAME),
        case.machine.name,
        case.machine.summary
    );
    if let Some(simulated) = results.as_profiled(at) {
        let _ = writeln!(
            text,
            "profiled: {} acquisitions a second with {}{}; simulated so: {} ({})",
            short(case.lock.rate),
            counted(case.profiled_threads(), "thread"),
            match case.lock.rate > 1.05 * case.lock.whole_rate {
                true => format!(
                    " while others did not have their CPUs ({} in the whole run)",
                    short(case.lock.whole_rate)
                ),
                false => String::new(),
            },
            short(simulated),
            change(simulated / case.lock.rate.max(1e-9))
        );
        let error = results.error(at);
        if let Some(sentence) = wider(error, doubt::least_error(case.lock.kind)) {
            let _ = writeln!(text, "{sentence}");
        }
    }
    if !case.left_out.is_empty() {
        let _ = writeln!(
            text,
            "left out, because the machine has one cluster of CPUs: {}",
            case.left_out.join(", ")
        );
    }
    let rows = results.rows(at);
    text += &format!("\n{}\n\n", rendered(&rows));
    text += &said(&rows, &case.left_out);
    let unsettled: Vec<String> = rows
        .iter()
        .filter(|row| row.rate.is_some() && !row.settled)
        .map(|row| format!("{} with {}", row.policies, counted(row.threads, "thread")))
        .collect();
    if !unsettled.is_empty() {
        let _ = writeln!(
            text,
            "warning: no steady state within the simulated time: {}",
            unsettled.join(", ")
        );
    }
    text
}

/// What is said of bands for an `error` that is greater than the `least` one. Those that are printed
/// alike are alike.
fn wider(error: f64, least: f64) -> Option<String> {
    let (shown, usual) = (percent(error), percent(least));
    (error > least && shown != usual)
        .then(|| format!("so the bands are {shown} wider at each end, not {usual}"))
}

fn rendered(rows: &[Row]) -> String {
    let header = [
        "Lock",
        "Threads",
        "Acquisitions/s",
        "Band",
        "Waiting",
        "Over glibc",
        "Band",
        "Expect",
    ];
    let lines = rows.iter().map(|row| {
        let of = |banded: &Option<Banded>, one: fn(&Banded) -> String| {
            banded.as_ref().map_or_else(|| "-".to_owned(), one)
        };
        [
            row.policies.clone(),
            row.threads.to_string(),
            of(&row.rate, |rate| short(rate.value)),
            of(&row.rate, |rate| {
                format!("{} … {}", short(rate.low), short(rate.high))
            }),
            of(
                &row.rate.map(|rate| Banded {
                    value: row.waiting,
                    ..rate
                }),
                |w| percent(w.value),
            ),
            of(&row.ratio, |ratio| change(ratio.value)),
            of(&row.ratio, |ratio| {
                format!("{} … {}", change(ratio.low), change(ratio.high))
            }),
            match (&row.ratio, row.is_base) {
                (Some(ratio), _) => verdict(ratio).to_owned(),
                (None, true) => String::new(),
                (None, false) => "-".to_owned(),
            },
        ]
    });
    table::render(header, lines)
}

/// What the bands say, in a sentence each. `left_out` are the policies that have no rows.
fn said(rows: &[Row], left_out: &[String]) -> String {
    if rows.iter().all(|row| row.is_base) {
        return match left_out.is_empty() {
            true => "Only glibc's lock was asked for: nothing is compared with it.\n",
            false => "Only glibc's lock has rows: nothing is compared with it.\n",
        }
        .to_owned();
    }
    let mut text = String::new();
    for word in ["faster", "slower"] {
        let is = |row: &&Row| row.ratio.is_some_and(|ratio| verdict(&ratio) == word);
        let mut locks: Vec<(&str, Vec<String>)> = Vec::new();
        for row in rows.iter().filter(is) {
            match locks.iter_mut().find(|known| known.0 == row.policies) {
                Some(known) => known.1.push(row.threads.to_string()),
                None => locks.push((&row.policies, vec![row.threads.to_string()])),
            }
        }
        for (lock, threads) in locks {
            let _ = writeln!(
                text,
                "{lock}: expected to be {word} than glibc with {} threads",
                threads.join(", ")
            );
        }
    }
    if rows.iter().all(|row| row.ratio.is_none()) {
        return "Nothing is compared with glibc's lock, which has no rows: nothing is promised.\n"
            .to_owned();
    }
    match text.is_empty() {
        true => "No band is beyond glibc's: nothing is promised.\n".to_owned(),
        false => {
            text
                + "Where no lock is named, the band has no difference in it: nothing is promised.\n"
        }
    }
}

fn ns(ns: f64) -> String {
    duration(ns.round() as u64)
}

/// 1.5: "+50 %".
fn change(ratio: f64) -> String {
    let percent = grouped((ratio - 1.0) * 100.0, 0);
    let sign = if percent.starts_with('-') { "" } else { "+" };
    format!("{sign}{percent} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quotient of what the line above says.
    #[test]
    fn the_threads_that_fill_a_lock_follow_from_the_times_that_are_printed() {
        let mut lock = crate::workload::tests::lock();
        (lock.section.mean, lock.think.mean) = (274.0, 1740.0);
        let text = asked(&lock, 1, 64);
        assert!(
            text.contains("sections of 274 ns; 1.74 µs between them\n"),
            "{text}"
        );
        assert!(
            text.contains("a second; 7.4 threads that never wait make as many\n"),
            "{text}"
        );
        assert!(asked(&lock, 1, 7).contains("a second\n"), "{text}");
        lock.sleep = Some((0.5, 5480.0));
        let text = asked(&lock, 1, 64);
        assert!(text.contains("; 17.4 threads that"), "{text}");
        (lock.sleep, lock.think.mean) = (None, 0.0);
        let text = asked(&lock, 1, 64);
        assert!(text.contains("; one thread makes as many\n"), "{text}");
        lock.held_beyond = true;
        let text = asked(&lock, 1, 64);
        assert!(text.contains("not known, simulated as 274 ns;"), "{text}");
        assert!(!text.contains("no lock allows"), "{text}");
    }

    #[test]
    fn bands_that_are_printed_alike_are_not_told_apart() {
        assert_eq!(wider(0.2804, 0.28), None);
        assert_eq!(wider(0.1, 0.28), None);
        let text = wider(0.3, 0.28).expect("they are wider");
        assert_eq!(
            text,
            "so the bands are 30.0 % wider at each end, not 28.0 %"
        );
    }

    #[test]
    fn what_glibc_is_not_compared_with_is_said() {
        let row = |is_base, rate| Row {
            policies: if is_base { "glibc" } else { "mutex" }.to_owned(),
            lock: "glibc_mutex",
            threads: 2,
            is_base,
            rate,
            ratio: None,
            waiting: 0.0,
            settled: true,
        };
        let rate = Some(Banded {
            value: 1.0,
            low: 0.5,
            high: 2.0,
        });
        let alone = [row(true, rate)];
        let asked = "Only glibc's lock was asked for: nothing is compared with it.\n";
        assert_eq!(said(&alone, &[]), asked);
        let left_out = said(&alone, &["mutex_numa".to_owned()]);
        assert!(
            left_out.starts_with("Only glibc's lock has rows"),
            "{left_out}"
        );
        let stuck = said(&[row(true, None), row(false, rate)], &[]);
        assert!(stuck.contains("which has no rows"), "{stuck}");
    }

    #[test]
    fn no_bound_is_given_where_waiting_is_not_seen() {
        let mut program = Program {
            command: "x".to_owned(),
            again: "x".to_owned(),
            threads: 9.0,
            ..Program::default()
        };
        assert!(nothing(&program, 2).contains("Amdahl"));
        program.taken_back = 2_400;
        program.locks = vec![crate::workload::tests::lock()];
        let text = nothing(&program, 2);
        assert!(text.contains("is not known: 2,400 waits"), "{text}");
        assert!(
            !text.contains("Amdahl") && !text.contains("No lock makes"),
            "{text}"
        );
        let json = crate::json::nothing(&program);
        assert!(json.contains("\"bound\": null"), "{json}");
        (program.taken_back, program.partly_seen) = (0, true);
        let text = nothing(&program, 2);
        assert!(text.contains("as far as its locks were seen"), "{text}");
    }
}
