// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which clients are run, how, and how far.
use super::args::CheckArgs;
use super::mutants::file_stem;
use super::worker::Request;
use crate::tags::Index;
use crate::{Bound, Client, Method, Mutant, Task};
use anyhow::Result;
use lockwork_report::choice;

/// How much longer a deeper exploration may take.
const DEEP_TIME: u32 = 20;

/// What was asked for.
pub(crate) struct Chosen {
    /// The clients, in the order of the catalogue.
    pub clients: Vec<Client>,
    /// Locks that no client checks.
    pub unchecked: Vec<&'static str>,
}

/// A run of a client.
#[derive(Clone)]
pub(crate) struct Run {
    pub client: Client,
    pub task: Task,
}

impl Run {
    pub fn request(&self) -> Request {
        Request {
            lock: self.client.lock().to_owned(),
            client: self.client.name().to_owned(),
            task: self.task.clone(),
        }
    }

    /// The same with `mutant`.
    pub fn with(&self, mutant: &Mutant) -> Run {
        let mut run = self.clone();
        run.task.mutant = Some(mutant.clone());
        run
    }

    /// The same, as far as `limit` executions.
    pub fn until(&self, limit: Option<u64>) -> Run {
        let mut run = self.clone();
        run.task.limit = limit;
        run
    }
}

/// For the table.
pub(crate) fn method_text(method: Method) -> &'static str {
    match method {
        Method::Exhaustive => "all schedules",
        Method::Random => "random",
        Method::Pct => "PCT",
    }
}

/// The locks and clients that the command line names. With `--tag` and no lock:
/// those that the tags are about.
pub(crate) fn choose(args: &CheckArgs, index: &Index) -> Result<Chosen> {
    let subjects = args.all_locks();
    for lock in &args.locks {
        choice::one("lock", lock, &subjects, |known| known)?;
    }
    let stems = stems_of_tags(args, index)?;
    let all = args.all_clients();
    let mut chosen: Vec<Client> = if args.locks.is_empty() {
        let about = |client: &&Client| stems.is_empty() || stems.contains(&client.stem());
        all.iter().filter(about).copied().collect()
    } else {
        let named = |client: &&Client| args.locks.iter().any(|lock| lock == client.lock());
        all.iter().filter(named).copied().collect()
    };
    let asked = |lock: &&str| match args.locks.is_empty() {
        true => stems.is_empty(),
        false => args.locks.iter().any(|named| named == lock),
    };
    let has_client = |lock: &str| all.iter().any(|client| client.lock() == lock);
    let unchecked = subjects
        .into_iter()
        .filter(asked)
        .filter(|lock| !has_client(lock));
    let unchecked = unchecked.collect();
    keep_named(&mut chosen, &args.clients)?;
    Ok(Chosen {
        clients: chosen,
        unchecked,
    })
}

fn keep_named(chosen: &mut Vec<Client>, names: &[String]) -> Result<()> {
    for name in names {
        if !chosen.iter().any(|client| client.name() == name) {
            let mut known: Vec<&str> = chosen.iter().map(|client| client.name()).collect();
            known.sort_unstable();
            known.dedup();
            return Err(choice::unknown("client", name, known));
        }
    }
    chosen.retain(|client| names.is_empty() || names.iter().any(|name| name == client.name()));
    Ok(())
}

/// The clients' stems that the tags' files belong to; none: any may be.
fn stems_of_tags(args: &CheckArgs, index: &Index) -> Result<Vec<&'static str>> {
    let tags = &args.tags;
    let known = |tag: &&String| index.tags.contains_key(tag.as_str());
    if let Some(tag) = tags.iter().find(|tag| !known(tag)) {
        return Err(choice::unknown("tag", tag, index.tags.keys()));
    }
    let mut stems = Vec::new();
    let all = args.all_clients();
    for site in &index.sites {
        if site.tag.as_ref().is_some_and(|tag| tags.contains(tag)) {
            match all
                .iter()
                .find(|client| client.stem() == file_stem(&site.file))
            {
                Some(client) => stems.push(client.stem()),
                None => return Ok(Vec::new()),
            }
        }
    }
    Ok(stems)
}

/// One step further than a client asks for: one more preemption. Where any
/// number of them is explored already, one more acquisition.
pub(crate) fn deeper(bound: Bound) -> Bound {
    match bound.preemptions {
        Some(preemptions) => Bound {
            preemptions: Some(preemptions + 1),
            ..bound
        },
        None => Bound {
            acquisitions: bound.acquisitions + 1,
            ..bound
        },
    }
}

/// Two preemptions of those that any number of is explored otherwise, or one less.
pub(crate) fn shallower(bound: Bound) -> Bound {
    let preemptions = bound.preemptions.unwrap_or(3).saturating_sub(1);
    Bound {
        preemptions: Some(preemptions),
        ..bound
    }
}

/// How far `client` is explored.
pub(crate) fn bound_of(client: Client, args: &CheckArgs) -> Bound {
    match args.bound {
        Some(bound) if client.keeps_threads() => Bound {
            threads: client.bound().threads,
            ..bound
        },
        Some(bound) => bound,
        None if args.deep => deeper(client.bound()),
        None if args.shallow => shallower(client.bound()),
        None => client.bound(),
    }
}

/// How long its runs may take.
pub(crate) fn seconds_of(client: Client, args: &CheckArgs) -> u32 {
    let factor = if args.deep { DEEP_TIME } else { 1 };
    args.timeout
        .unwrap_or(client.seconds().saturating_mul(factor))
}

/// The runs without mutants, in the order in which they start and are printed:
/// what takes longest first.
pub(crate) fn plan(clients: &[Client], args: &CheckArgs) -> Vec<Run> {
    let run = |client: Client, method, bound| Run {
        client,
        task: Task {
            method,
            bound,
            schedules: args.fuzz,
            seed: args.seed,
            seconds: seconds_of(client, args),
            mutant: None,
            limit: None,
        },
    };
    let mut runs = Vec::new();
    for &client in clients {
        let bound = bound_of(client, args);
        let limit = args.at_most.filter(|_| shallower(bound) != bound);
        runs.push(run(client, Method::Exhaustive, bound).until(limit));
    }
    for &client in clients.iter().filter(|_| args.fuzz > 0) {
        let Some(threads) = client.fuzz_threads() else {
            continue;
        };
        let bound = Bound {
            threads,
            acquisitions: bound_of(client, args).acquisitions,
            preemptions: None,
        };
        runs.push(run(client, Method::Random, bound));
        runs.push(run(client, Method::Pct, bound));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clients, rivals, tags};
    use clap::{Args, FromArgMatches};

    fn args(line: &[&str]) -> CheckArgs {
        let command = CheckArgs::augment_args(clap::Command::new("check"));
        let line = ["check"].iter().chain(line);
        let matches = command.try_get_matches_from(line).expect("arguments");
        CheckArgs::from_arg_matches(&matches).expect("arguments")
    }

    fn chosen(line: &[&str]) -> Result<Vec<Client>> {
        let args = args(line);
        let chosen = choose(&args, &tags::index(args.sources()))?;
        assert!(chosen.unchecked.is_empty(), "{:?}", chosen.unchecked);
        Ok(chosen.clients)
    }

    #[test]
    fn all_locks_or_those_named() {
        assert_eq!(chosen(&[]).expect("clients").len(), clients().len());
        let tas = chosen(&["tas_lock"]).expect("clients");
        assert!(!tas.is_empty() && tas.iter().all(|client| client.lock() == "tas_lock"));
        let pairs = chosen(&["tas_lock", "--client", "pair"]).expect("clients");
        assert_eq!(pairs.len(), 1);
    }

    #[test]
    fn rivals_are_a_list_of_their_own() {
        assert_eq!(
            chosen(&["--rivals"]).expect("clients").len(),
            rivals().len()
        );
        let cna = chosen(&["cna", "--rivals"]).expect("clients");
        assert!(!cna.is_empty() && cna.iter().all(|client| client.lock() == "cna"));
        assert!(chosen(&["cna"]).is_err() && chosen(&["tas_lock", "--rivals"]).is_err());
    }

    #[test]
    fn a_tag_chooses_the_locks_of_its_file() {
        let tas = chosen(&["--tag", "tas.B"]).expect("clients");
        assert!(!tas.is_empty() && tas.iter().all(|client| client.lock() == "tas_lock"));
        let shared = chosen(&["--tag", "epoch.A"]).expect("clients");
        assert_eq!(shared.len(), clients().len());
    }

    #[test]
    fn what_there_is_not_is_refused_with_what_there_is() {
        for (line, known) in [
            (["no_such_lock", "--mutants"], "tas_lock"),
            (["--client", "no_such_client"], "pair"),
            (["--tag", "tas.Z"], "tas.B"),
        ] {
            let error = chosen(&line).map(|_| ()).expect_err(known).to_string();
            assert!(error.contains(known), "{error}");
        }
        assert!(chosen(&["tas_lock", "--client", "fifo"]).is_err());
    }

    #[test]
    fn exhaustive_runs_come_first_and_fuzzers_have_more_threads() {
        let tas = chosen(&["tas_lock"]).expect("clients");
        let runs = plan(
            &tas,
            &args(&["--fuzz", "7", "--seed", "5", "--timeout", "9"]),
        );
        let (first, rest) = runs.split_at(tas.len());
        for (run, client) in first.iter().zip(&tas) {
            assert_eq!(
                (run.task.method, run.task.bound),
                (Method::Exhaustive, client.bound())
            );
        }
        assert!(!rest.is_empty());
        for run in rest {
            assert_ne!(run.task.method, Method::Exhaustive);
            assert_eq!(Some(run.task.bound.threads), run.client.fuzz_threads());
            assert_eq!(
                (run.task.schedules, run.task.seed, run.task.seconds),
                (7, 5, 9)
            );
        }
        assert_eq!(plan(&tas, &args(&["--fuzz", "0"])).len(), tas.len());
    }

    #[test]
    fn threads_that_differ_keep_their_number() {
        let args = args(&["--bound", "4x2@1"]);
        let bounds = |lock| {
            let clients = chosen(&[lock]).expect("clients").into_iter();
            clients.map(|client| (client.name(), bound_of(client, &args).to_string()))
        };
        let tas: Vec<_> = bounds("tas_lock").collect();
        assert!(tas.contains(&("exclusion", "4x2@1".to_owned())), "{tas:?}");
        assert!(tas.contains(&("pair", "2x2@1".to_owned())), "{tas:?}");
        let cond: Vec<_> = bounds("cond").collect();
        assert!(cond.contains(&("busy", "3x2@1".to_owned())), "{cond:?}");
    }

    #[test]
    fn deeper_is_one_step() {
        let bound = |threads, acquisitions, preemptions| Bound {
            threads,
            acquisitions,
            preemptions,
        };
        assert_eq!(deeper(bound(3, 2, Some(2))), bound(3, 2, Some(3)));
        assert_eq!(deeper(bound(2, 2, None)), bound(2, 3, None));
        assert_eq!(shallower(bound(3, 2, Some(2))), bound(3, 2, Some(1)));
        assert_eq!(shallower(bound(1, 1, Some(0))), bound(1, 1, Some(0)));
        assert_eq!(shallower(bound(2, 2, None)), bound(2, 2, Some(2)));
        let tas = chosen(&["tas_lock"]).expect("clients");
        let deep = args(&["--deep"]);
        assert_eq!(bound_of(tas[0], &deep), deeper(tas[0].bound()));
        assert_eq!(seconds_of(tas[0], &deep), tas[0].seconds() * DEEP_TIME);
    }
}
