// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether tags, their partners and the code under them agree.
use super::comment::{spare, stem, SPARE_ORDERS};
use super::index::{belongs, file_stem, Index, Problem, Tag};
use super::order::Order;
use super::site::Site;

/// All that is wrong with the tags of `index`, by file and line.
pub fn problems(index: &Index) -> Vec<Problem> {
    let mut problems = Vec::new();
    for site in &index.sites {
        problems.extend(site_problem(index, site));
    }
    for tag in index.tags.values() {
        tag_problems(index, tag, &mut problems);
        partner_problems(index, tag, &mut problems);
        spare_problems(tag, &mut problems);
    }
    again_problems(index, &mut problems);
    mention_problems(index, &mut problems);
    problems.sort();
    problems
}

fn at_tag(tag: &Tag, text: String) -> Problem {
    Problem {
        file: tag.file.clone(),
        line: tag.line,
        text,
    }
}

/// An ordering without a tag, or with one that says another order.
fn site_problem(index: &Index, site: &Site) -> Option<Problem> {
    if site.order == Order::Relaxed {
        return None;
    }
    let (primitive, operand) = (&site.primitive, &site.operand);
    let text = match &site.tag {
        None => format!(
            "{primitive}({operand}) in {} has no tag: say before it what it pairs with",
            site.function
        ),
        Some(name) => {
            // A tag that is nowhere defined is a problem of the comment.
            let kind = &index.tags.get(name)?.kind;
            if kind.is_empty() || kind.contains(&site.order) {
                return None;
            }
            format!(
                "{primitive}({operand}) counts as {}, but {name} says {}: correct one of them",
                site.order,
                spoken(kind)
            )
        }
    };
    Some(Problem {
        file: site.file.clone(),
        line: site.first_line,
        text,
    })
}

fn spoken(kind: &[Order]) -> String {
    let words: Vec<_> = kind.iter().map(Order::to_string).collect();
    words.join(" or ")
}

fn tag_problems(index: &Index, tag: &Tag, problems: &mut Vec<Problem>) {
    let name = &tag.name;
    let mut complain = |text| problems.push(at_tag(tag, text));
    if tag.kind.is_empty() {
        complain(format!(
            "{name} says no order: write ACQUIRE, RELEASE, full RMW, WMB, MB or address \
             dependency before its partners"
        ));
    }
    let stands = |site: &Site| site.tag.as_ref() == Some(name);
    if !index.sites.iter().any(stands) {
        complain(format!(
            "no ordering is under {name}: move the comment to one, or remove it"
        ));
    }
    let file = file_stem(&tag.file);
    if !belongs(stem(name), file) {
        let wanted = file.strip_suffix("_lock").unwrap_or(file);
        complain(format!(
            "{name} is defined in {}, whose tags are called {wanted}.X: rename it",
            tag.file
        ));
    }
}

fn partner_problems(index: &Index, tag: &Tag, problems: &mut Vec<Problem>) {
    let name = &tag.name;
    let mut complain = |text| problems.push(at_tag(tag, text));
    if tag.partners.is_empty() {
        complain(format!("{name} has no partner: say what it pairs with"));
    }
    for partner in &tag.partners {
        match index.tags.get(partner) {
            None => complain(format!(
                "{name} pairs with {partner}, which is defined nowhere: correct the name"
            )),
            Some(other) if !other.partners.contains(name) => complain(format!(
                "{name} says that it pairs with {partner}, but {partner} ({}:{}) does not: \
                 correct one of them",
                other.file, other.line
            )),
            Some(_) => {}
        }
    }
}

fn spare_problems(tag: &Tag, problems: &mut Vec<Problem>) {
    for (order, reason) in &tag.spare {
        let name = &tag.name;
        if !SPARE_ORDERS.contains(&order.as_str()) {
            let text = format!(
                "{name} has a Spare note for '{order}': write {}",
                SPARE_ORDERS.join(", ")
            );
            problems.push(at_tag(tag, text));
        }
        if reason.is_empty() {
            let text = format!("{name} does not say why it is Spare {order}: add the reason");
            problems.push(at_tag(tag, text));
        }
    }
}

fn again_problems(index: &Index, problems: &mut Vec<Problem>) {
    for tag in &index.again {
        let name = &tag.name;
        let first = index.tags.get(name);
        let place = first.map_or(String::new(), |tag| format!("{}:{}", tag.file, tag.line));
        let text = format!("{name} is defined already, at {place}: write only [{name}] here");
        problems.push(at_tag(tag, text));
    }
}

fn mention_problems(index: &Index, problems: &mut Vec<Problem>) {
    for mention in &index.mentions {
        let name = &mention.name;
        let mut complain = |text| {
            problems.push(Problem {
                file: mention.file.clone(),
                line: mention.line,
                text,
            });
        };
        if !index.tags.contains_key(name) {
            complain(format!(
                "{name} is defined nowhere: correct the name, or say its order and partners"
            ));
        }
        if !spare(&mention.text).is_empty() {
            complain(format!(
                "a Spare note of {name} is at a mention: move it to the comment that \
                 defines the tag"
            ));
        }
    }
}
