// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names that users type for one of several things that there are.

use anyhow::Result;

use crate::usage;

/// The one of `known` that `name` is the name of.
///
/// # Errors
/// There is none: that is a mistake in the command line, and the error lists the names
/// that there are. `what` says what they name, as `lock`.
pub fn one<'a, T>(
    what: &str,
    name: &str,
    known: &'a [T],
    name_of: impl Fn(&T) -> &str,
) -> Result<&'a T> {
    let found = known.iter().find(|one| name_of(one) == name);
    found.ok_or_else(|| unknown(what, name, known.iter().map(&name_of)))
}

/// A name for several things at once.
pub struct Group<T> {
    /// What users type.
    pub name: &'static str,
    /// Whether one is among them.
    pub has: fn(&T) -> bool,
}

/// Those of `known` that `names` are the names of, in their order, and those of the
/// groups that are named, in the order of `known`. Each is there once.
///
/// # Errors
/// As [`one`]; the groups are in the list as well.
pub fn several<'a, T>(
    what: &str,
    names: &[String],
    groups: &[Group<T>],
    known: &'a [T],
    name_of: impl Fn(&T) -> &str,
) -> Result<Vec<&'a T>> {
    let mut chosen: Vec<&T> = Vec::new();
    for name in names {
        let mut found: Vec<&T> = match groups.iter().find(|group| group.name == name) {
            Some(group) => known.iter().filter(|one| (group.has)(one)).collect(),
            None => known.iter().filter(|one| name_of(one) == name).collect(),
        };
        if found.is_empty() {
            let all = groups.iter().map(|group| group.name);
            return Err(unknown(what, name, all.chain(known.iter().map(&name_of))));
        }
        found.retain(|one| !chosen.iter().any(|there| std::ptr::eq(*there, *one)));
        chosen.extend(found);
    }
    Ok(chosen)
}

/// An error that says that nothing has this name, which names are near it, and which there are.
pub fn unknown<S: AsRef<str>>(
    what: &str,
    name: &str,
    known: impl IntoIterator<Item = S>,
) -> anyhow::Error {
    let known: Vec<S> = known.into_iter().collect();
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let all = known.join(", ");
    usage::error(match nearest(name, &known).join(", ") {
        near if near.is_empty() => {
            format!("there is no {what} named '{name}'; choose one of: {all}")
        }
        near => {
            format!("there is no {what} named '{name}'; the nearest: {near}; choose one of: {all}")
        }
    })
}

/// Names that are easily overlooked in a list of so many.
const MANY: usize = 8;
/// How alike two names are to be near, by Jaro and Winkler: 1 is the same name. "mutx" and "mutex"
/// have 0.95.
const NEAR: f64 = 0.88;
/// Names that are said to be near, at most.
const MOST: usize = 3;

/// Those of many names that one meant most likely, the nearest first; of few names none, since
/// they are seen at once.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let alike = |one: &&'a str| strsim::jaro_winkler(name, one);
    let mut near: Vec<&str> = match known.len() > MANY {
        true => known.to_vec(),
        false => Vec::new(),
    };
    near.retain(|one| alike(one) >= NEAR);
    near.sort_by(|a, b| alike(b).total_cmp(&alike(a)));
    near.truncate(MOST);
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_refused_with_the_right_ones() {
        let known = [("mutex", 1), ("rwsem", 2)];
        let chosen = |name| one("lock", name, &known, |known| known.0);
        assert_eq!(chosen("rwsem").expect("there").1, 2);
        let error = chosen("futex").expect_err("not there");
        assert_eq!(
            error.to_string(),
            "there is no lock named 'futex'; choose one of: mutex, rwsem"
        );
        assert!(usage::is(&error));
    }

    #[test]
    fn of_many_names_the_nearest_are_said_first() {
        let known = [
            "tas_lock",
            "mcs_lock",
            "qspinlock_fair",
            "qspinlock_tas",
            "qrwlock",
            "mutex",
            "mutex_numa",
            "rwsem",
            "cond",
        ];
        assert_eq!(nearest("mutx", &known), ["mutex"]);
        assert_eq!(
            nearest("qspinlock", &known),
            ["qspinlock_tas", "qspinlock_fair"]
        );
        assert_eq!(nearest("futex_wait", &known), [""; 0]);
        assert_eq!(nearest("mutx", &known[..MANY]), [""; 0]);
        let error = unknown("lock", "mutx", known).to_string();
        assert!(
            error.starts_with(
                "there is no lock named 'mutx'; the nearest: mutex; choose one of: tas"
            ),
            "{error}"
        );
    }

    #[test]
    fn groups_and_names_give_each_once() {
        let known = ["mutex", "cna", "rwsem"];
        let groups = [Group::<&str> {
            name: "all",
            has: |_| true,
        }];
        let chosen = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            several("lock", &names, &groups, &known, |name| name)
                .map(|all| all.into_iter().copied().collect::<Vec<&str>>())
        };
        assert_eq!(
            chosen(&["rwsem", "all"]).expect("there"),
            ["rwsem", "mutex", "cna"]
        );
        assert_eq!(chosen(&["cna", "cna"]).expect("there"), ["cna"]);
        let error = chosen(&["futex"]).expect_err("not there").to_string();
        assert!(
            error.ends_with("choose one of: all, mutex, cna, rwsem"),
            "{error}"
        );
    }
}
