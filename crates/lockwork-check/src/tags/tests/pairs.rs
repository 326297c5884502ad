// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Each kind of problem, alone.
use super::*;

/// A pair of which nothing is wrong: lines 3 and 8 have the tags, 4 and 9 the
/// orderings.
const GOOD: [&str; 2] = [
    "\t/* [foo.A] ACQUIRE, pairs with foo.B: see it. */\n\tsmp_load_acquire(p);",
    "\t/* [foo.B] RELEASE, pairs with foo.A. */\n\tsmp_store_release(p, 1);",
];

/// The problems of `foo.c` with these bodies, as text.
fn found(texts: &[&str]) -> Vec<String> {
    let problems = problems(&foo(&bodies(texts)));
    problems.iter().map(Problem::to_string).collect()
}

/// `GOOD` with a change.
fn changed(old: &str, new: &str) -> Vec<String> {
    let texts = GOOD.map(|text| text.replace(old, new));
    assert_ne!(texts, GOOD, "{old} is not in it");
    found(&[texts[0].as_str(), texts[1].as_str()])
}

#[test]
fn a_good_pair_has_no_problem() {
    assert_eq!(found(&GOOD), [""; 0]);
}

#[test]
fn an_ordering_without_a_tag() {
    assert_eq!(
        found(&[GOOD[0], GOOD[1], "\tx = xchg(&p->next, 0);"]),
        ["foo.c:13: xchg(&p->next) in f2 has no tag: say before it what it pairs with"]
    );
}

#[test]
fn a_mention_of_a_tag_that_is_not_there() {
    assert_eq!(
        found(&[GOOD[0], GOOD[1], "\t/* [foo.Z] */\n\tsmp_mb();"]),
        ["foo.c:13: foo.Z is defined nowhere: correct the name, or say its order and partners"]
    );
}

#[test]
fn a_tag_that_is_defined_twice() {
    assert_eq!(
        found(&[GOOD[0], GOOD[1], GOOD[0]]),
        ["foo.c:13: foo.A is defined already, at foo.c:3: write only [foo.A] here"]
    );
    assert_eq!(
        found(&[GOOD[0], GOOD[1], "\t/* [foo.A] */\n\tsmp_load_acquire(p);"]),
        [""; 0]
    );
}

#[test]
fn a_partner_that_is_not_there() {
    assert_eq!(
        changed("foo.B: see", "foo.B and .Q: see"),
        ["foo.c:3: foo.A pairs with foo.Q, which is defined nowhere: correct the name"]
    );
}

#[test]
fn a_pair_of_which_one_does_not_know() {
    let wmb = "\t/* [foo.C] WMB, pairs with foo.A. */\n\tsmp_wmb();";
    assert_eq!(
        found(&[GOOD[0], GOOD[1], wmb]),
        [
            "foo.c:13: foo.C says that it pairs with foo.A, but foo.A (foo.c:3) does not: \
             correct one of them"
        ]
    );
}

#[test]
fn code_that_does_not_do_what_its_tag_says() {
    assert_eq!(
        changed("smp_load_acquire", "xchg_relaxed_dep"),
        ["foo.c:4: xchg_relaxed_dep(p) counts as address dependency, but foo.A says ACQUIRE: correct one of them"]
    );
    assert_eq!(
        changed("smp_store_release(p, 1)", "xchg(p, 1)"),
        ["foo.c:9: xchg(p) counts as full RMW, but foo.B says RELEASE: correct one of them"]
    );
    assert_eq!(
        changed("RELEASE", "full RMW"),
        ["foo.c:9: smp_store_release(p) counts as RELEASE, but foo.B says full RMW: correct one of them"]
    );
    assert_eq!(changed("RELEASE", "RELEASE or full RMW"), [""; 0]);
}

#[test]
fn a_tag_that_says_no_order() {
    assert_eq!(
        changed("RELEASE", "REL"),
        [
            "foo.c:8: foo.B says no order: write ACQUIRE, RELEASE, full RMW, WMB, MB or address \
          dependency before its partners"
        ]
    );
}

#[test]
fn a_tag_without_an_ordering() {
    assert_eq!(
        changed("smp_load_acquire(p)", "READ_ONCE(*p)"),
        ["foo.c:3: no ordering is under foo.A: move the comment to one, or remove it"]
    );
}

#[test]
fn a_tag_of_another_file() {
    let text = bodies(&GOOD);
    let of = |file: &str| {
        let problems = problems(&index(&[(file, &text)]));
        let texts: Vec<_> = problems.iter().map(Problem::to_string).collect();
        texts.join("\n")
    };
    assert_eq!(
        of("bar_lock.c"),
        "bar_lock.c:3: foo.A is defined in bar_lock.c, whose tags are called bar.X: rename it\n\
         bar_lock.c:8: foo.B is defined in bar_lock.c, whose tags are called bar.X: rename it"
    );
    assert_eq!(of("locks/foo_lock.h"), "");
    let long = text.replace("foo.", "foo_lock.");
    assert_eq!(problems(&index(&[("foo_lock.c", &long)])), []);
}

#[test]
fn a_tag_without_a_partner() {
    let lonely = "\t/* [foo.C] WMB: because. */\n\tsmp_wmb();";
    assert_eq!(
        found(&[GOOD[0], GOOD[1], lonely]),
        ["foo.c:13: foo.C has no partner: say what it pairs with"]
    );
}

#[test]
fn a_spare_note_that_says_too_little_or_at_the_wrong_place() {
    assert_eq!(
        changed("see it.", "see it. Spare weak: it is. Spare none:"),
        [
            "foo.c:3: foo.A does not say why it is Spare none: add the reason",
            "foo.c:3: foo.A has a Spare note for 'weak': write relaxed, acquire, release, \
             acq_rel, none"
        ]
    );
    assert_eq!(changed("see it.", "see it. Spare relaxed: it is."), [""; 0]);
    let mention = "\t/* [foo.A]. Spare none: it is. */\n\tsmp_load_acquire(p);";
    assert_eq!(
        found(&[GOOD[0], GOOD[1], mention]),
        [
            "foo.c:13: a Spare note of foo.A is at a mention: move it to the comment that \
          defines the tag"
        ]
    );
}

#[test]
fn tags_of_several_files_know_each_other() {
    let (header, code) = (bodies(&GOOD[..1]), bodies(&GOOD[1..]));
    let both = index(&[("locks/foo.h", &header), ("locks/foo.c", &code)]);
    assert_eq!(problems(&both), []);
    let alone = problems(&index(&[("locks/foo.h", &header)]));
    assert_eq!((alone.len(), alone[0].file.as_str()), (1, "foo.h"));
}
