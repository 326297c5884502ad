// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The man pages, from the help of each command.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::roff::{roman, Roff};
use clap_mangen::Man;

/// One page for `command` and each of its subcommands that is not hidden, in `dir`.
///
/// # Errors
/// `dir` cannot be made or written to.
pub fn write(command: Command, dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let source = format!(
        "{} {}",
        command.get_name(),
        command.get_version().unwrap_or_default()
    );
    pages(&command, &source, dir)
}

fn pages(command: &Command, source: &str, dir: &Path) -> io::Result<()> {
    let shown = |command: &&Command| !command.is_hide_set();
    for subcommand in command.get_subcommands().filter(shown) {
        pages(subcommand, source, dir)?;
    }
    let man = Man::new(command.clone()).source(source);
    let mut file = File::create(dir.join(man.get_filename()))?;
    page(command, &man, &mut file)?;
    file.flush()
}

fn page(command: &Command, man: &Man, out: &mut dyn Write) -> io::Result<()> {
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.get_subcommands().any(|other| !other.is_hide_set()) {
        man.render_subcommands_section(out)?;
    }
    let after = command.get_after_long_help().or(command.get_after_help());
    for (head, lines) in after.map_or_else(Vec::new, |text| sections(&text.to_string())) {
        section(&head, &lines).to_writer(out)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(out)?;
    }
    Ok(())
}

/// The parts of the text behind a command's options: each has a line that ends by a colon, and
/// lines that are indented.
fn sections(text: &str) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match line.strip_suffix(':').filter(|head| !head.starts_with(' ')) {
            Some(head) => all.push((head.to_owned(), Vec::new())),
            None => match all.last_mut() {
                Some((_, lines)) => lines.push(line.to_owned()),
                None => all.push(("Notes".to_owned(), vec![line.to_owned()])),
            },
        }
    }
    all
}

/// A paragraph is filled; all else, such as commands to copy, keeps its lines.
fn section(head: &str, lines: &[String]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [head.to_uppercase().as_str()]);
    let is_paragraph = head == "Exit status";
    if !is_paragraph {
        roff.control("nf", []);
    }
    let last = lines.iter().rposition(|line| !line.is_empty());
    for line in &lines[..last.map_or(0, |last| last + 1)] {
        let line = line.strip_prefix("  ").unwrap_or(line);
        roff.text([roman(line)]);
    }
    if !is_paragraph {
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_paragraphs_do_not() {
        let found = sections("Exit status:\n  0; or\n  1.\n\nExamples:\n  a -b\n        Why.\n");
        let heads: Vec<&str> = found.iter().map(|(head, _)| head.as_str()).collect();
        assert_eq!(heads, ["Exit status", "Examples"]);
        let text = section(&found[1].0, &found[1].1).render();
        assert!(text.contains(".SH EXAMPLES\n.nf\n"), "{text}");
        assert!(text.contains("      Why.\n.fi"), "{text}");
        let text = section(&found[0].0, &found[0].1).render();
        assert!(
            text.ends_with("\n0; or\n1.\n") && !text.contains(".nf"),
            "{text}"
        );
    }
}
