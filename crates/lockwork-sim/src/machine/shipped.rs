// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Machines by name, which are in the program, and by file.

use std::cell::RefCell;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use anyhow::{anyhow, Context, Result};
use include_dir::{include_dir, Dir};
use lockwork_report::{bail_usage, choice, input};

use super::model::Machine;
use super::parse::{parse, Loaded};
use crate::data;

/// What is wrong in a machine's file, with the line.
#[derive(Debug)]
pub struct Mistake(String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

/// `data/machines`, as it was when this was built.
static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../data/machines");

/// The machines that come with the program, by name.
pub fn names() -> Vec<&'static str> {
    data::names(&SHIPPED)
}

/// Reads a machine: by its name, or from a file if there is a `/` in it or it
/// ends in `.toml`.
///
/// # Errors
/// There is no such machine or file, or ([`Mistake`]) a line of it is wrong.
pub fn load(name_or_path: &str) -> Result<Machine> {
    Ok(open(name_or_path)?.machine)
}

/// The same, with its file and what is odd about it.
///
/// # Errors
/// As [`load`].
pub fn open(name_or_path: &str) -> Result<Loaded> {
    if data::is_path(name_or_path) {
        open_file(Path::new(name_or_path))
    } else {
        by_name(name_or_path)?.parse()
    }
}

/// Reads the file of a machine that is not in the program.
///
/// # Errors
/// As [`load`].
pub fn open_file(path: &Path) -> Result<Loaded> {
    by_path(path)?.parse()
}

/// The text of a sound machine's file, and the files that it names, each with its name.
///
/// # Errors
/// As [`load`].
pub(super) fn texts(name_or_path: &str) -> Result<(String, Vec<(String, String)>)> {
    let mut source = if data::is_path(name_or_path) {
        by_path(Path::new(name_or_path))?
    } else {
        by_name(name_or_path)?
    };
    let named = Rc::new(RefCell::new(Vec::new()));
    let (seen, read) = (Rc::clone(&named), source.beside);
    source.beside = Box::new(move |file| {
        let text = read(file)?;
        seen.borrow_mut().push((file.to_owned(), text.clone()));
        Ok(text)
    });
    source.parse()?;
    let named = named.take();
    Ok((source.text, named))
}

/// Reads a file by its name.
type Read<'a> = dyn Fn(&str) -> Result<String> + 'a;

/// Where a machine is read from.
struct Source<'a> {
    name: String,
    /// How messages name its file.
    shown: String,
    text: String,
    /// Reads a file beside it.
    beside: Box<Read<'a>>,
}

impl Source<'_> {
    fn parse(&self) -> Result<Loaded> {
        parse(&self.name, &self.text, &self.beside)
            .map_err(|fault| Mistake(fault.tell(&self.shown, &self.text)).into())
    }
}

fn by_name(name: &str) -> Result<Source<'static>> {
    let file = format!("{name}.toml");
    let Some(text) = shipped(&file) else {
        let names = names();
        let near = match &choice::nearest(name, &names)[..] {
            [] => String::new(),
            near => format!("the nearest: {}; ", near.join(", ")),
        };
        bail_usage!(
            "there is no machine '{name}'; {near}give the path of a file, or one of these: {}",
            names.join(", ")
        );
    };
    Ok(Source {
        name: name.to_owned(),
        shown: format!("data/machines/{file}"),
        text: text.to_owned(),
        beside: Box::new(|file| {
            let text = shipped(file).ok_or_else(|| anyhow!("no file {file} in data/machines"))?;
            Ok(text.to_owned())
        }),
    })
}

fn by_path(path: &Path) -> Result<Source<'_>> {
    let shown = path.display().to_string();
    Ok(Source {
        name: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        text: input::text(path).with_context(|| format!("cannot read {shown}"))?,
        shown,
        beside: Box::new(|file| {
            let file = path.with_file_name(file);
            input::text(&file).with_context(|| format!("cannot read {}", file.display()))
        }),
    })
}

fn shipped(path: &str) -> Option<&'static str> {
    data::text(&SHIPPED, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn directory() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/machines")
    }

    #[test]
    fn each_file_of_data_is_in_the_program_as_it_is_and_sound() {
        let mut found = 0;
        for entry in fs::read_dir(directory()).expect("data/machines") {
            let path = entry.expect("entry").path();
            if path.extension().is_none_or(|ending| ending != "toml") {
                continue;
            }
            let name = path.file_stem().expect("stem").to_str().expect("UTF-8");
            assert!(names().contains(&name), "{name} is not in the program");
            let text = fs::read_to_string(&path).expect("readable");
            assert_eq!(shipped(&format!("{name}.toml")), Some(&*text), "{name}");
            let machine = load(name).unwrap_or_else(|error| panic!("{error:#}"));
            assert_eq!(machine.name, name);
            let by_path = load(path.to_str().expect("UTF-8")).expect("the same file");
            assert_eq!(machine, by_path, "{name}");
            found += 1;
        }
        assert_eq!(found, names().len(), "a machine without a file");
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        let error = load("cray-1").expect_err("unknown").to_string();
        for name in names() {
            assert!(error.contains(name), "{name}: {error}");
        }
    }
}
