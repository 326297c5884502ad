// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which mutants there are: each ordering of the locks made weaker, step by
//! step, and the mistakes in logic that the clients' files name.
use crate::tags::{Index, Order, Site, LOADS, STORES};
use crate::{Change, LogicMutant, Mutant, Spot};
use anyhow::{bail, Result};
use std::collections::BTreeMap;

/// A mutant, and how the kill table names it.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// The tag, or the mistake in words.
    pub name: String,
    /// The tag of the access.
    pub tag: Option<String>,
    /// What becomes of it.
    pub what: String,
    pub mutant: Mutant,
    /// The word that a `Spare` note has for this change; empty for a mistake in
    /// logic.
    pub word: &'static str,
    /// Why it may survive, if a note says so.
    pub spare: Option<String>,
    /// File, name and what becomes of it, a tab between two: what stays the same when
    /// lines are moved. Unlike that of any other mutant.
    pub key: String,
}

/// The file's name without what follows its last dot.
pub(crate) fn file_stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// All mutants of the orderings in `index`, and those of `logic`. `stems` are
/// those of the clients' files.
///
/// # Errors
/// If a mistake in logic fits no access, as after the access was renamed.
pub(crate) fn mutants(
    index: &Index,
    logic: &[LogicMutant],
    stems: &[&str],
) -> Result<Vec<Planned>> {
    let sites = index.sites.iter();
    let mut all: Vec<Planned> = sites.flat_map(|site| weakened(index, site)).collect();
    for mistake in logic {
        let before = all.len();
        all.extend(broken(index, mistake, stems));
        if all.len() == before {
            bail!(
                "tests/check/{}_client.c: the mutant '{}' fits no access at {}: correct its place",
                mistake.stem,
                mistake.name,
                mistake.place
            );
        }
    }
    let mut met = BTreeMap::new();
    for planned in &mut all {
        planned.key = key(planned, &mut met);
    }
    Ok(all)
}

/// Several accesses may have the same name and change: `met` counts them.
fn key(planned: &Planned, met: &mut BTreeMap<String, u32>) -> String {
    let Planned { name, what, .. } = planned;
    let key = format!("{}\t{name}\t{what}", planned.mutant.spot.file);
    let number = met.entry(key.clone()).or_insert(0);
    *number += 1;
    match *number {
        1 => key,
        number => format!("{key} ({number})"),
    }
}

/// What an ordering is weakened to.
pub(crate) fn weaker(order: Order) -> &'static [Change] {
    match order {
        Order::Relaxed => &[],
        Order::Full => &[Change::AcqRel, Change::Acquire, Change::Release],
        Order::Acquire
        | Order::Dependency
        | Order::Release
        | Order::WriteBarrier
        | Order::FullBarrier => &[Change::Relaxed],
    }
}

fn is_fence(order: Order) -> bool {
    matches!(order, Order::WriteBarrier | Order::FullBarrier)
}

fn weakened(index: &Index, site: &Site) -> Vec<Planned> {
    let tag = site.tag.as_ref().and_then(|name| index.tags.get(name));
    let planned = |&change: &Change| {
        let fence = is_fence(site.order);
        let word = if fence { "none" } else { change.text() };
        let shown = if fence { "dropped" } else { change.text() };
        let spare = tag.and_then(|tag| tag.spare.iter().find(|spare| spare.0 == word));
        Planned {
            name: site.tag.clone().unwrap_or_else(|| site.function.clone()),
            tag: site.tag.clone(),
            what: format!("{} → {shown}", site.primitive),
            mutant: mutant(site, change),
            word,
            spare: spare.map(|(_, reason)| reason.clone()),
            key: String::new(),
        }
    };
    weaker(site.order).iter().map(planned).collect()
}

fn mutant(site: &Site, change: Change) -> Mutant {
    Mutant {
        spot: Spot {
            file: site.file.clone(),
            lines: (site.first_line, site.last_line),
            primitive: site.primitive.clone(),
        },
        change,
    }
}

/// A mistake in logic, at each access that it is about: of its own files, or
/// else of files that locks share.
fn broken(index: &Index, mistake: &LogicMutant, stems: &[&str]) -> Vec<Planned> {
    let fits = |site: &&Site| match mistake.primitive {
        Some(primitive) => {
            let operand = mistake
                .operand
                .is_none_or(|operand| site.operand == operand);
            site.function == mistake.place && site.primitive == primitive && operand
        }
        None => site.tag.as_deref() == Some(mistake.place) && can(site, mistake.change),
    };
    let sites: Vec<&Site> = index.sites.iter().filter(fits).collect();
    let own = |site: &&&Site| file_stem(&site.file) == mistake.stem;
    let shared = |site: &&&Site| !stems.contains(&file_stem(&site.file));
    let mut found: Vec<&&Site> = sites.iter().filter(own).collect();
    if found.is_empty() {
        found = sites.iter().filter(shared).collect();
    }
    let planned = |site: &&&Site| Planned {
        name: mistake.name.to_owned(),
        tag: site.tag.clone(),
        what: format!("{} {}", site.primitive, broken_text(site, mistake.change)),
        mutant: mutant(site, mistake.change),
        word: "",
        spare: None,
        key: String::new(),
    };
    found.iter().map(planned).collect()
}

fn broken_text(site: &Site, change: Change) -> &'static str {
    match change {
        Change::Drop if site.primitive.starts_with("wake_") => "does not wake",
        Change::Drop if site.primitive == "look_later" => "forgets it",
        Change::Drop if gives_up(&site.primitive) => "never says so",
        Change::Drop if site.primitive.ends_with("_or_stall") => "never gives up",
        Change::Drop if site.primitive == "knob" => "is taken for 1",
        Change::Drop if site.primitive == "cluster_count" => "is taken for 2",
        Change::Drop if site.primitive == "local_clock" => "says that nothing is due",
        Change::Narrow if site.primitive.starts_with("READ_ONCE") => "loads its lower half only",
        _ => change.text(),
    }
}

/// Whether the primitive only says that a waiter is to give up, or a handler not to wait.
fn gives_up(name: &str) -> bool {
    matches!(name, "in_any_section" | "need_resched" | "should_leave")
}

/// Whether `change` means something to the access.
fn can(site: &Site, change: Change) -> bool {
    let name = site.primitive.as_str();
    let compares = name.contains("cmpxchg");
    let waits = name.contains("cond_");
    let stores = STORES.contains(&name);
    let loads = LOADS.contains(&name);
    let wakes = name.starts_with("wake_") || name == "kick_value";
    let sleeps = wakes || matches!(name, "wait_on_value" | "halt_on_value");
    let relaxes = name.starts_with("cpu_relax");
    let rmw = !(waits || stores || loads || sleeps || relaxes || is_fence(site.order));
    match change {
        Change::Drop => stores || rmw || wakes || name.ends_with("_or_stall"),
        Change::Force => compares,
        Change::Split => rmw,
        Change::NoWait => waits,
        Change::Narrow => stores,
        Change::Relaxed | Change::Acquire | Change::Release | Change::AcqRel => {
            weaker(site.order).contains(&change)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags;

    const LOCK: &str = "
static void lock(struct l *l)
{
	/* [x.A] ACQUIRE, pairs with x.B: why. */
	while (xchg_acquire(&l->word, 1))
		/* [x.C] ACQUIRE, pairs with x.B: why. Spare relaxed: A orders. */
		smp_cond_load_acquire(&l->word,
				      !VAL);
	WRITE_ONCE(l->owner, 1);
	/* [x.D] WMB, pairs with x.B: why. Spare none: nobody looks. */
	smp_wmb();
}

static void unlock(struct l *l)
{
	/* [x.B] full RMW, pairs with x.A: why. */
	xchg(&l->word, 0);
	wake_value(&l->word);
}
";

    fn mistake(
        place: &'static str,
        primitive: Option<&'static str>,
        change: Change,
    ) -> LogicMutant {
        LogicMutant {
            stem: "x",
            name: "a mistake",
            place,
            primitive,
            operand: None,
            change,
        }
    }

    fn planned(logic: &[LogicMutant]) -> Result<Vec<Planned>> {
        mutants(&tags::index(&[("x.h", LOCK)]), logic, &["x"])
    }

    fn shown(all: &[Planned]) -> Vec<String> {
        let show = |mutant: &Planned| {
            let Planned {
                name,
                what,
                mutant: m,
                spare,
                ..
            } = mutant;
            format!("{name} {}: {what} {spare:?}", m.spot.lines.0)
        };
        all.iter().map(show).collect()
    }

    #[test]
    fn each_ordering_is_weakened() {
        let all = planned(&[]).expect("mutants");
        let wanted = [
            "x.A 5: xchg_acquire → relaxed None",
            "x.C 7: smp_cond_load_acquire → relaxed Some(\"A orders.\")",
            "x.D 11: smp_wmb → dropped Some(\"nobody looks.\")",
            "x.B 17: xchg → acq_rel None",
            "x.B 17: xchg → acquire None",
            "x.B 17: xchg → release None",
        ];
        assert_eq!(shown(&all), wanted);
        assert_eq!(all[1].mutant.spot.lines, (7, 8));
        let words: Vec<&str> = all.iter().map(|mutant| mutant.word).collect();
        assert_eq!(
            words,
            ["relaxed", "relaxed", "none", "acq_rel", "acquire", "release"]
        );
    }

    #[test]
    fn mistakes_stand_at_a_tag_or_in_a_function() {
        let logic = [
            mistake("x.C", None, Change::NoWait),
            mistake("x.A", None, Change::Split),
            mistake("lock", Some("WRITE_ONCE"), Change::Drop),
            mistake("unlock", Some("wake_value"), Change::Drop),
        ];
        let all = planned(&logic).expect("mutants");
        let wanted = [
            "a mistake 7: smp_cond_load_acquire does not wait None",
            "a mistake 5: xchg_acquire is not atomic None",
            "a mistake 9: WRITE_ONCE does not store None",
            "a mistake 18: wake_value does not wake None",
        ];
        assert_eq!(shown(&all[6..]), wanted);
    }

    #[test]
    fn no_two_have_the_same_key() {
        let twice = [
            mistake("lock", Some("WRITE_ONCE"), Change::Drop),
            mistake("lock", Some("WRITE_ONCE"), Change::Drop),
        ];
        let all = planned(&twice).expect("mutants");
        let keys: Vec<&str> = all[6..].iter().map(|mutant| mutant.key.as_str()).collect();
        let first = "x.h\ta mistake\tWRITE_ONCE does not store";
        assert_eq!(keys, [first, &format!("{first} (2)")]);
    }

    #[test]
    fn a_mistake_that_fits_nothing_is_refused() {
        for (place, primitive, change) in [
            ("x.Z", None, Change::Drop),
            ("x.A", None, Change::NoWait),
            ("x.A", None, Change::Force),
            ("x.D", None, Change::Drop),
            ("lock", Some("wake_value"), Change::Drop),
        ] {
            let error = planned(&[mistake(place, primitive, change)]).expect_err(place);
            let error = error.to_string();
            assert!(
                error.contains("tests/check/x_client.c") && error.contains(place),
                "{error}"
            );
        }
    }
}
