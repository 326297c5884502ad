// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The lines of `preload/policies.def`, for build scripts and tests.

/// A line of `preload/policies.def`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What users type after `--lock`.
    pub name: String,
    /// The catalogue's lock that a `pthread_mutex_t` becomes.
    pub mutex: String,
    /// The one that a `pthread_rwlock_t` becomes.
    pub rwlock: String,
    /// The one that a `pthread_spinlock_t` becomes.
    pub spinlock: String,
    /// One line for lists.
    pub summary: String,
}

/// The lines of `def`, the file's text, in their order: the default comes first.
///
/// # Errors
/// A line has another form, or there is none.
pub fn policies(def: &str) -> Result<Vec<Policy>, String> {
    let lines = def.split("\nPRE_POLICY(").skip(1);
    let all: Vec<Policy> = lines
        .map(|line| policy(line).ok_or_else(|| format!("policies.def: not a policy: {line}")))
        .collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err("policies.def has no policy".to_owned());
    }
    Ok(all)
}

/// A line is `ID, "name", mutex, rwlock, spinlock, "summary")`: every second piece between
/// quotes is a text.
fn policy(line: &str) -> Option<Policy> {
    let pieces: Vec<&str> = line.split('"').collect();
    let [_, name, locks, summary, _] = pieces[..] else {
        return None;
    };
    let locks: Vec<&str> = locks.split(',').map(str::trim).collect();
    let ["", mutex, rwlock, spinlock, ""] = locks[..] else {
        return None;
    };
    Some(Policy {
        name: name.to_owned(),
        mutex: mutex.to_owned(),
        rwlock: rwlock.to_owned(),
        spinlock: spinlock.to_owned(),
        summary: summary.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_names_locks_and_a_summary() {
        let def = "/* PRE_POLICY(X): */\nPRE_POLICY(A, \"a\", m, r,\n\ts, \"one, (two)\")\n";
        let found = policies(def).expect("a policy");
        assert_eq!(found.len(), 1);
        let Policy {
            name,
            mutex,
            rwlock,
            spinlock,
            summary,
        } = &found[0];
        assert_eq!([name, mutex, rwlock, spinlock], ["a", "m", "r", "s"]);
        assert_eq!(summary, "one, (two)");
    }

    #[test]
    fn other_lines_are_refused() {
        for def in [
            "",
            "\nPRE_POLICY(A, \"a\", \"summary\")\n",
            "\nPRE_POLICY(A, \"a\", m, r, \"summary\")\n",
            "\nPRE_POLICY(A, \"a\", m, r, s, t, \"summary\")\n",
            "\nPRE_POLICY(A, \"a\", m, r, s)\n",
        ] {
            assert!(policies(def).is_err(), "{def}");
        }
    }
}
