// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lockwork docs`: the tables in `docs/` that this program knows better than any
//! writer. A table is between `<!-- table: NAME -->` and `<!-- end of table -->`. With names
//! behind it, as in `<!-- table: knobs KNOB … -->`, the table has only these rows.

use crate::policy::POLICIES;
use anyhow::{bail, Context, Result};
use lockwork_catalogue::{catalogue, events, knobs, Promises};
use lockwork_check::clients;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const END: &str = "<!-- end of table -->";

/// Writes the tables into the pages below `root`/docs; with `check`, says which differ.
pub fn run(root: &Path, check: bool) -> Result<()> {
    let mut count = 0;
    let mut old = Vec::new();
    for page in pages(&root.join("docs"))? {
        let failed = || format!("cannot read or write {}", page.display());
        let text = fs::read_to_string(&page).with_context(failed)?;
        let (new, tables) = filled(&text).with_context(|| page.display().to_string())?;
        count += tables;
        if new == text {
            continue;
        }
        if check {
            old.push(page.display().to_string());
        } else {
            fs::write(&page, new).with_context(failed)?;
        }
    }
    if count == 0 {
        bail!("no page in {}/docs has a table to fill", root.display());
    }
    if !old.is_empty() {
        bail!(
            "tables are out of date in {}; write them by: lockwork docs {}",
            old.join(", "),
            root.display()
        );
    }
    Ok(())
}

/// All Markdown files of a folder and those below it, in order.
fn pages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let failed = || {
        format!(
            "cannot list {}; name a checkout of lockwork",
            folder.display()
        )
    };
    for entry in fs::read_dir(folder).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        if path.is_dir() {
            found.extend(pages(&path)?);
        } else if path.extension().is_some_and(|ext| ext == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A page with its tables as they are to be, and how many it has.
fn filled(text: &str) -> Result<(String, usize)> {
    let mut new = String::new();
    let mut rest = text;
    let mut count = 0;
    while let Some((before, behind)) = rest.split_once("<!-- table: ") {
        let (name, behind) = behind.split_once(" -->\n").context("a table has no name")?;
        let (_, behind) = behind
            .split_once(END)
            .with_context(|| format!("the table '{name}' does not end by {END}"))?;
        let table = table(name)?;
        write!(new, "{before}<!-- table: {name} -->\n{table}{END}")?;
        rest = behind;
        count += 1;
    }
    Ok((new + rest, count))
}

fn table(name: &str) -> Result<String> {
    let mut words = name.split(' ');
    let rows = match (words.next(), words.collect::<Vec<_>>().as_slice()) {
        (Some("knobs"), named) => knob_rows(named)?,
        (Some("events"), named) => event_rows(named)?,
        (Some("promises"), []) => promise_rows(),
        (Some("policies"), []) => policy_rows(),
        (Some("clients"), []) => client_rows(),
        _ => bail!("there is no table '{name}'"),
    };
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        text += &format!("| {} |\n", row.join(" | "));
        if at == 0 {
            text += &format!("|{}\n", "---|".repeat(row.len()));
        }
    }
    Ok(text)
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Those of `all` that are `named`, in that order; all, if none is named.
fn chosen<T>(mut all: Vec<T>, named: &[&str], name: impl Fn(&T) -> &str) -> Result<Vec<T>> {
    if named.is_empty() {
        return Ok(all);
    }
    let place = |one: &T| named.iter().position(|wanted| *wanted == name(one));
    if let Some(unknown) = named
        .iter()
        .find(|&&n| all.iter().all(|one| name(one) != n))
    {
        bail!("there is no knob or event '{unknown}'");
    }
    all.retain(|one| place(one).is_some());
    all.sort_by_key(place);
    Ok(all)
}

/// Those that most users need first, unless some are `named`.
fn knob_rows(named: &[&str]) -> Result<Vec<Vec<String>>> {
    let mut all = knobs();
    all.sort_by_key(|knob| knob.is_for_experts());
    let all = chosen(all, named, |knob| knob.name())?;
    let mut rows = vec![row(["knob", "default", "values", "meaning"])];
    rows.extend(all.iter().map(|knob| {
        let words = knob.words();
        let values = match words.is_empty() {
            true => format!("{} to {}", knob.min(), knob.max()),
            false => words
                .iter()
                .map(|word| code(word))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let default = words.get(knob.default() as usize);
        let default = default.map_or_else(|| knob.default().to_string(), |word| code(word));
        let expert = match knob.is_for_experts() {
            true => " (`--expert`)",
            false => "",
        };
        vec![
            code(knob.name()),
            default,
            values,
            format!("{}{expert}", knob.help()),
        ]
    }));
    Ok(rows)
}

fn policy_rows() -> Vec<Vec<String>> {
    let mut rows = vec![row([
        "policy",
        "mutex",
        "read/write lock",
        "spinlock",
        "what it is",
    ])];
    rows.extend(POLICIES.iter().map(|policy| {
        let mut cells = vec![code(policy.name)];
        cells.extend(match policy.locks {
            Some(locks) => locks.map(code),
            None => ["glibc's"; 3].map(str::to_owned),
        });
        cells.push(policy.summary.to_owned());
        cells
    }));
    rows
}

fn event_rows(named: &[&str]) -> Result<Vec<Vec<String>>> {
    let mut rows = vec![row(["event", "counts"])];
    let events = chosen(events(), named, |event| event.name)?;
    rows.extend(
        events
            .iter()
            .map(|event| vec![code(event.name), event.help.to_owned()]),
    );
    Ok(rows)
}

fn promise_rows() -> Vec<Vec<String>> {
    let flags: Vec<(&str, Promises)> = Promises::all().iter_names().collect();
    let mut head = row(["lock", "bytes"]);
    head.extend(flags.iter().map(|(name, _)| code(&format!("LK_{name}"))));
    let mut rows = vec![head];
    rows.extend(catalogue().iter().map(|kind| {
        let mut cells = vec![code(kind.name()), kind.size().to_string()];
        cells.extend(
            flags
                .iter()
                .map(|(_, flag)| match kind.flags().contains(*flag) {
                    true => "yes".to_owned(),
                    false => String::new(),
                }),
        );
        cells
    }));
    rows
}

fn client_rows() -> Vec<Vec<String>> {
    let mut rows = vec![row(["lock", "client", "bound", "what is asked"])];
    rows.extend(clients().iter().map(|client| {
        row([
            client.lock(),
            client.name(),
            &client.bound().to_string(),
            client.about(),
        ])
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_replaced_and_the_rest_stays() {
        let page = format!("a\n<!-- table: events -->\nold\n{END}\nb\n");
        let (new, count) = filled(&page).expect("a page");
        assert_eq!(count, 1);
        assert!(new.starts_with("a\n<!-- table: events -->\n| event | counts |\n|---|---|\n"));
        assert!(new.ends_with(&format!("|\n{END}\nb\n")), "{new}");
        assert!(!new.contains("old"));
        assert_eq!(filled(&new).expect("a page").0, new);
    }

    #[test]
    fn a_table_that_nobody_knows_is_an_error() {
        assert!(filled(&format!("<!-- table: nope -->\n{END}")).is_err());
        assert!(filled(&format!("<!-- table: knobs nope -->\n{END}")).is_err());
        assert!(filled(&format!("<!-- table: events nope -->\n{END}")).is_err());
        assert!(filled("<!-- table: knobs -->\n| a |\n").is_err());
    }

    #[test]
    fn a_table_of_some_names_has_those_rows() {
        let text = table("knobs yield_after clusters").expect("a table");
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert!(rows[0].starts_with("| `yield_after` | 200 |"), "{text}");
        assert!(rows[1].starts_with("| `clusters` | `llc` |"), "{text}");
        assert_eq!(rows.len(), 2, "{text}");
    }

    #[test]
    fn each_table_has_rows() {
        for name in ["knobs", "events", "promises", "policies", "clients"] {
            let text = table(name).expect("a table");
            assert!(text.lines().count() > 5, "{name}: {text}");
        }
    }
}
