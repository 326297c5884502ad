// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is measured: our catalogue and the locks of others, by name.
use crate::inlined;
use anyhow::Result;
use lockwork_catalogue::{catalogue, LockKind, Promises};
use lockwork_peers::{peers, Family, Inlined};
use lockwork_report::bail_usage;

/// The library that our own locks are from.
pub const LOCKWORK: &str = "lockwork";
/// The library, and the family, of the [bare pair](bare): it is no lock.
pub const BARE: &str = "bare";
/// Where we say something about our locks unasked, it is about these; of those
/// in one row the first that exists. The only names of locks in this crate
/// beside the presets'.
const FLAGSHIPS: [&[&str]; 3] = [
    &["mutex"],
    &["qspinlock_auto", "qspinlock_steal"],
    &["qrwlock"],
];
const FAMILIES: [Family; 3] = [Family::Mutex, Family::Spin, Family::Rw];

/// A lock that can be measured.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its operations; the name is unique among all.
    pub kind: LockKind,
    /// Where it is from.
    pub library: &'static str,
    /// What it is compared with.
    pub family: Family,
    /// The library's version.
    pub version: String,
    /// A loop that is compiled together with it.
    pub inlined: Option<Inlined>,
}

impl Contender {
    /// The name that users type.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Is it Lockwork's?
    pub fn is_ours(&self) -> bool {
        self.library == LOCKWORK
    }

    /// One of our locks: of the catalogue, or a candidate for it.
    pub fn ours(kind: LockKind) -> Contender {
        let flags = kind.flags();
        let family = match () {
            () if flags.contains(Promises::RW) => Family::Rw,
            () if flags.contains(Promises::SLEEPS) => Family::Mutex,
            () => Family::Spin,
        };
        Contender {
            kind,
            library: LOCKWORK,
            family,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            inlined: inlined::of(kind.name()),
        }
    }
}

/// One compare-and-exchange and one store, for comparison. Its name is [`BARE`].
pub(crate) fn bare() -> Contender {
    let (kind, loops) = inlined::bare();
    Contender {
        kind,
        library: BARE,
        family: Family::Spin,
        version: String::new(),
        inlined: Some(loops),
    }
}

/// Every lock there is: ours in the order of the catalogue, then the others.
pub fn contenders() -> Vec<Contender> {
    let others = peers().present.iter().map(|peer| Contender {
        kind: peer.kind,
        library: peer.library,
        family: peer.family,
        version: peer.version.clone(),
        inlined: peer.inlined,
    });
    let ours = catalogue().into_iter().map(Contender::ours);
    ours.chain(others).collect()
}

/// The names of the locks that we say something about unasked.
pub fn flagships(all: &[Contender]) -> Vec<&'static str> {
    let find = |name: &&&str| all.iter().find(|c| c.is_ours() && c.name() == **name);
    FLAGSHIPS
        .iter()
        .filter_map(|row| row.iter().find_map(|name| find(&name)))
        .map(Contender::name)
        .collect()
}

/// What users chose.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The locks, each once, in the order of [`contenders`].
    pub locks: Vec<Contender>,
    /// The locks that were named one by one.
    pub named: Vec<&'static str>,
    /// Names of those of ours that the last section of the report is about:
    /// those that were named, or else the flagships.
    pub under_test: Vec<String>,
}

/// Finds the locks that `words` name: a family, a library, `peers`, `all`, or a
/// lock. `lockwork.NAME` is our lock NAME, for where a family is called so too.
pub fn select(words: &[String]) -> Result<Selection> {
    let all = contenders();
    let mut chosen = vec![false; all.len()];
    let mut named = Vec::new();
    for word in words {
        if mark_group(&all, word, &mut chosen) {
            continue;
        }
        let own = word.strip_prefix("lockwork.").unwrap_or(word);
        let is = |c: &Contender| c.name() == word || (c.is_ours() && c.name() == own);
        let Some(at) = all.iter().position(is) else {
            bail_usage!("{}", unknown(&all, word));
        };
        chosen[at] = true;
        named.push(all[at].name());
    }
    let mut marks = chosen.into_iter();
    let mut locks = all.clone();
    locks.retain(|_| marks.next().unwrap_or(false));
    let ours = locks.iter().filter(|c| c.is_ours()).map(Contender::name);
    let ours: Vec<&str> = ours.collect();
    let only = |names: &[&'static str]| -> Vec<String> {
        let both = ours.iter().filter(|name| names.contains(name));
        both.map(|name| (*name).to_owned()).collect()
    };
    let mut under_test = only(&named);
    if under_test.is_empty() {
        under_test = only(&flagships(&all));
    }
    Ok(Selection {
        locks,
        named,
        under_test,
    })
}

/// Marks what the group `word` holds; false if it is no group.
fn mark_group(all: &[Contender], word: &str, chosen: &mut [bool]) -> bool {
    let family = FAMILIES.iter().find(|family| family.name() == word);
    let library = all.iter().any(|c| c.library == word);
    let holds = |c: &Contender| match word {
        "all" => true,
        "peers" => !c.is_ours(),
        _ => family.map_or(c.library == word, |family| c.family == *family),
    };
    for (mark, contender) in chosen.iter_mut().zip(all) {
        *mark |= holds(contender);
    }
    family.is_some() || library || ["all", "peers"].contains(&word)
}

fn unknown(all: &[Contender], word: &str) -> String {
    let mut absent = lockwork_peers::peers().absent.iter();
    if let Some(absent) = absent.find(|peer| peer.name == word || peer.library == word) {
        return format!("'{word}' is absent here: {}", absent.reason);
    }
    let mut groups = vec!["all", "peers"];
    groups.extend(FAMILIES.iter().map(|family| family.name()));
    for contender in all {
        if !groups.contains(&contender.library) {
            groups.push(contender.library);
        }
    }
    let names: Vec<&str> = all.iter().map(Contender::name).collect();
    format!(
        "there is no lock named '{word}'; choose from: {}; or a group: {}",
        names.join(", "),
        groups.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    fn names(text: &str) -> Vec<&'static str> {
        let selection = select(&words(text)).expect("locks");
        selection.locks.iter().map(Contender::name).collect()
    }

    #[test]
    fn names_are_unique_and_no_group_but_a_family() {
        let all = contenders();
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other.name() != one.name()));
            assert!(!["all", "peers", "lockwork"].contains(&one.name()));
        }
    }

    #[test]
    fn groups_and_names() {
        let everything = names("all").len();
        assert_eq!(everything, contenders().len());
        assert_eq!(names("lockwork").len() + names("peers").len(), everything);
        let families: usize = ["mutex", "spin", "rw"].iter().map(|f| names(f).len()).sum();
        assert_eq!(families, everything);
        for own in catalogue() {
            assert_eq!(names(&format!("lockwork.{}", own.name())), [own.name()]);
        }
        assert!(names("mutex").contains(&"mutex"));
        assert!(names("mutex").len() > 1, "the family, not the lock");
    }

    #[test]
    fn what_is_under_test() {
        let test = |text: &str| select(&words(text)).expect("locks").under_test;
        assert_eq!(test("mutex"), ["mutex"]);
        assert_eq!(test("peers"), [""; 0]);
        let all = test("all");
        assert_eq!(all.len(), FLAGSHIPS.len(), "{all:?}");
        let first = catalogue()[0].name();
        assert_eq!(test(&format!("mutex,lockwork.{first}")), [first]);
    }

    #[test]
    fn an_unknown_lock_is_refused_with_what_there_is() {
        let error = select(&words("mutex,no_such")).expect_err("no such lock");
        let text = error.to_string();
        assert!(text.contains("'no_such'"), "{text}");
        for name in contenders().iter().map(Contender::name) {
            assert!(text.contains(name), "{text}: {name}");
        }
        assert!(text.contains("peers"), "{text}");
    }
}
