// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What runs nothing: the list of clients and mutants, and the check of tags.
use super::args::CheckArgs;
use super::mutants::{weaker, Planned};
use super::plan::{bound_of, seconds_of, Chosen};
use super::printer::Printer;
use crate::tags::{self, Order};
use crate::{Client, OTHERS, SOURCES};
use anyhow::Result;
use lockwork_report::table::{Align, Columns};
use lockwork_report::text::{counted, whole};
use std::path::Path;
use std::process::ExitCode;

const HEADINGS: [(&str, Align); 8] = [
    ("lock", Align::Left),
    ("client", Align::Left),
    ("about", Align::Left),
    ("threads", Align::Right),
    ("acquisitions", Align::Right),
    ("preemptions", Align::Right),
    ("time-out", Align::Right),
    ("fuzz threads", Align::Right),
];

/// The orders, with what `weaker` makes of each.
const ORDERS: [Order; 6] = [
    Order::Acquire,
    Order::Release,
    Order::Full,
    Order::Dependency,
    Order::WriteBarrier,
    Order::FullBarrier,
];

/// Prints the clients and the mutants.
pub(crate) fn list(
    printer: &Printer,
    chosen: &Chosen,
    mutants: &[Planned],
    args: &CheckArgs,
) -> Result<()> {
    let mut rows = vec![HEADINGS.map(|heading| heading.0.to_owned())];
    for lock in &chosen.unchecked {
        let dash = || "-".to_owned();
        let about = "no client checks it".to_owned();
        rows.push([
            (*lock).to_owned(),
            dash(),
            about,
            dash(),
            dash(),
            dash(),
            dash(),
            dash(),
        ]);
    }
    rows.extend(chosen.clients.iter().map(|&client| row(client, args)));
    let mut table = Columns::new(&HEADINGS);
    for row in &rows {
        table.fit(row);
    }
    let rows: String = rows.iter().map(|row| table.row(row)).collect();
    printer.print(&(rows + &changes(mutants)))
}

fn row(client: Client, args: &CheckArgs) -> [String; 8] {
    let bound = bound_of(client, args);
    let preemptions = bound.preemptions.map(|preemptions| preemptions.to_string());
    let threads = client.fuzz_threads().filter(|_| args.fuzz > 0);
    [
        client.lock().to_owned(),
        client.name().to_owned(),
        client.about().to_owned(),
        bound.threads.to_string(),
        bound.acquisitions.to_string(),
        preemptions.unwrap_or_else(|| "any".to_owned()),
        format!("{} s", whole(seconds_of(client, args).into())),
        threads.map_or_else(|| "-".to_owned(), |threads| threads.to_string()),
    ]
}

fn changes(mutants: &[Planned]) -> String {
    let logic = mutants.iter().filter(|mutant| mutant.word.is_empty());
    let (orders, logic) = (mutants.len() - logic.clone().count(), logic);
    let mut text = format!(
        "\n{} (--mutants) of orderings:\n",
        counted(orders, "mutant")
    );
    for order in ORDERS {
        let changes: Vec<&str> = weaker(order).iter().map(|change| change.text()).collect();
        let changes = match order {
            Order::WriteBarrier | Order::FullBarrier => "dropped".to_owned(),
            _ => changes.join(", "),
        };
        text += &format!("  {:<20} → {changes}\n", order.to_string());
    }
    text += &format!("\n{} of logic:\n", counted(logic.clone().count(), "mutant"));
    let mut table = Columns::new(&[("", Align::Left); 3]);
    let rows = logic.map(|mutant| {
        let spot = &mutant.mutant.spot;
        let place = format!("{}:{}", spot.file, spot.lines.0);
        [format!("  {}", mutant.name), place, mutant.what.clone()]
    });
    let rows: Vec<_> = rows.collect();
    for row in &rows {
        table.fit(row);
    }
    text + &rows.iter().map(|row| table.row(row)).collect::<String>()
}

/// Prints what is wrong with the tags: of `root`, with its pages, or of the
/// sources that are built in.
pub(crate) fn pairs(printer: &Printer, root: Option<&Path>) -> Result<ExitCode> {
    let index = match root {
        Some(root) => {
            let files = tags::read_tree(root)?;
            tags::index(&borrowed(&files))
        }
        None => tags::index(&[SOURCES, OTHERS].concat()),
    };
    let mut problems = tags::problems(&index);
    if let Some(root) = root {
        let pages = tags::read_pages(root)?;
        problems.extend(tags::page_problems(&index, &borrowed(&pages)));
    }
    let mut text: String = problems
        .iter()
        .map(|problem| format!("{problem}\n"))
        .collect();
    let tags = counted(index.tags.len(), "tag");
    let ordering = |site: &&tags::Site| site.order != Order::Relaxed;
    let orderings = counted(index.sites.iter().filter(ordering).count(), "ordering");
    text += &match problems.len() {
        0 => format!("{tags}, {orderings}: every one has its partner\n"),
        number => format!("{tags}, {orderings}: {}\n", counted(number, "problem")),
    };
    printer.print(&text)?;
    Ok(match problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    let files = files.iter();
    files
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect()
}
