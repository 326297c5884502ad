// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pages that say something else than the code.
use super::*;

const HEAD: &str = "# foo\n\n| tag | place | order | partner | why |\n|---|---|---|---|---|\n";
const ROWS: &str =
    "| .A | load \\| wait | ACQUIRE | .B, .C | x |\n| `foo.B` | store | RELEASE | `.A` | y |\n\
     | foo.C | fence | WMB | foo.A | z |\n";

/// Against `foo_lock.c`, whose A pairs with B and C.
fn found(pages: &[(&str, &str)]) -> Vec<String> {
    let index = index(&[(
        "foo_lock.c",
        "/* [foo.A] ACQUIRE, pairs with foo.B and .C. */\n\
         /* [foo.B] RELEASE, pairs with foo.A. */\n/* [foo.C] WMB, pairs with foo.A. */\n",
    )]);
    let problems = page_problems(&index, pages);
    problems.iter().map(Problem::to_string).collect()
}

#[test]
fn a_page_with_all_rows_is_good() {
    let page = format!("{HEAD}{ROWS}");
    assert_eq!(found(&[("docs/locks/foo_lock.md", &page)]), [""; 0]);
}

#[test]
fn a_row_that_is_missing() {
    let page = format!("{HEAD}{}", ROWS.replace(".C | fence", "| fence"));
    assert_eq!(
        found(&[("foo_lock.md", &page)]),
        ["foo_lock.c:3: foo.C has no row in the table of foo_lock.md: add one"]
    );
}

#[test]
fn a_row_of_no_tag() {
    let page = format!("{HEAD}{ROWS}| .Q | place | WMB | .A | ? |\n");
    assert_eq!(
        found(&[("foo_lock.md", &page)]),
        ["foo_lock.md:8: foo.Q is in no source: correct or remove the row"]
    );
}

#[test]
fn a_row_with_other_partners() {
    let page = format!("{HEAD}{}", ROWS.replace(".B, .C", ".B"));
    assert_eq!(
        found(&[("foo_lock.md", &page)]),
        ["foo_lock.md:5: foo.A pairs with foo.B here, with foo.B, foo.C at foo_lock.c:1: correct one of them"]
    );
    let empty = format!("{HEAD}{}", ROWS.replace(".B, .C", "-"));
    assert_eq!(
        found(&[("foo_lock.md", &empty)]),
        ["foo_lock.md:5: foo.A pairs with nothing here, with foo.B, foo.C at foo_lock.c:1: correct one of them"]
    );
}

#[test]
fn two_rows_on_one_line() {
    let joined = ROWS.replace("| y |\n", "| y ");
    let page = format!("{HEAD}{joined}");
    assert_eq!(
        found(&[("foo_lock.md", &page)]),
        [
            "foo_lock.c:3: foo.C has no row in the table of foo_lock.md: add one",
            "foo_lock.md:6: the row of foo.B has 10 cells, its table has 5 columns: give each tag a line of its own"
        ]
    );
    let twice = format!("{page}| .C | fence | WMB | .A | z |\n");
    assert_eq!(
        found(&[("foo_lock.md", &twice)]),
        ["foo_lock.md:6: the row of foo.B has 10 cells, its table has 5 columns: give each tag a line of its own"]
    );
}

#[test]
fn a_row_that_ends_early() {
    let page = format!("{HEAD}{}", ROWS.replace(" | y |", " |"));
    assert_eq!(
        found(&[("foo_lock.md", &page)]),
        ["foo_lock.md:6: the row of foo.B has 4 cells, its table has 5 columns: give each tag a line of its own"]
    );
}

#[test]
fn a_table_without_a_partner_column_says_nothing_of_partners() {
    let page = "| tag | order |\n|---|---|\n| .A | x |\n| .B | y |\n| .C | z |\n";
    assert_eq!(found(&[("foo.md", page)]), [""; 0]);
}

#[test]
fn a_column_counts_for_its_own_table_only() {
    let page = format!("{HEAD}| .A | load | ACQUIRE | .B .C | x |\n\n| .B | y |\n| .C | z |\n");
    assert_eq!(found(&[("foo.md", &page)]), [""; 0]);
}

#[test]
fn rows_elsewhere_count_only_where_the_lock_has_no_page() {
    let full = format!("{HEAD}{}", ROWS.replace("| .", "| foo."));
    assert_eq!(found(&[("other.md", &full)]), [""; 0]);
    let own = found(&[("other.md", &full), ("foo_lock.md", HEAD)]);
    assert_eq!(
        own,
        ["A", "B", "C"].map(|tag| {
            let line = u32::from(tag.as_bytes()[0] - b'A') + 1;
            format!("foo_lock.c:{line}: foo.{tag} has no row in the table of foo_lock.md: add one")
        })
    );
    assert_eq!(
        found(&[])[0],
        "foo_lock.c:1: foo.A has no row in any page: add one"
    );
}
