// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Calls, and the tags that they are under.
use super::*;

#[test]
fn a_call_is_found_with_all_that_is_known_of_it() {
    let index = foo(concat!(
        "struct s { u32 a; };\n",
        "static inline bool __attribute__((cold))\n",
        "take(struct s *s)\n",
        "{\n",
        "\treturn unlikely(!try_cmpxchg_acquire(&s->a, /* the word */\n",
        "\t\t\t\t\t     &old,\n",
        "\t\t\t\t\t     1));\n",
        "}\n",
    ));
    assert_eq!(
        index.sites,
        [Site {
            file: "foo.c".to_owned(),
            first_line: 5,
            last_line: 7,
            function: "take".to_owned(),
            primitive: "try_cmpxchg_acquire".to_owned(),
            operand: "&s->a".to_owned(),
            order: Order::Acquire,
            tag: None,
        }]
    );
}

#[test]
fn operands_are_as_written_but_for_white_space_and_comments() {
    let operands: Vec<String> = foo(&bodies(&[
        "WRITE_ONCE(f(a,\n  /* , */ b)[c,\td], 1); atomic_add(1, &l->n); smp_wmb( );",
        "x = READ_ONCE(READ_ONCE_DEP(n->prev)->vcpu) + atomic_fetch_add_acquire(A | B, &l->n);",
    ]))
    .sites
    .into_iter()
    .map(|site| site.operand)
    .collect();
    assert_eq!(
        operands,
        [
            "f(a, b)[c, d]",
            "&l->n",
            "",
            "READ_ONCE_DEP(n->prev)->vcpu",
            "n->prev",
            "&l->n"
        ]
    );
}

#[test]
fn only_calls_in_functions_count() {
    let index = foo(concat!(
        "/* xchg(1) */ // smp_wmb()\n",
        "#define TWICE(p) \\\n\txchg(p, xchg(p, 1))\n",
        "static u32 table[] __aligned(8) = { xchg(0, 1), };\n",
        "bool xchg_acquire(u32 *p);\n",
        "static void f(void)\n{\n",
        "#define MANY \\\n\txchg(p, 1)\n",
        "\tputs(\"xchg(\\\"/*\"); c = '\"'; smp_mb();\n",
        "\tu32 xchg = my_xchg(p) + xchg_acquired(p);\n",
        "}\n",
        "static void g(void)\n{\n\tif (a) { b(); }\n\tsmp_wmb();\n}\n",
    ));
    let found: Vec<_> = index.sites.iter().collect();
    let names: Vec<_> = found
        .iter()
        .map(|site| (site.function.as_str(), site.primitive.as_str()))
        .collect();
    assert_eq!(names, [("f", "smp_mb"), ("g", "smp_wmb")]);
    assert_eq!((found[0].first_line, found[1].first_line), (10, 16));
}

#[test]
fn a_comment_before_a_statement_is_for_all_of_it() {
    let text = bodies(&[concat!(
        "/* [foo.A] */\nif (!try_cmpxchg_acquire(p, &o, 1) &&\n",
        "    smp_load_acquire(p) == 2)\n\treturn;\n",
        "smp_store_release(p, 0);"
    )]);
    assert_eq!(
        tagged(&foo(&text)),
        [
            ("try_cmpxchg_acquire", "foo.A"),
            ("smp_load_acquire", "foo.A"),
            ("smp_store_release", "-"),
        ]
    );
}

#[test]
fn the_condition_of_a_do_while_takes_the_last_comment_of_its_block() {
    let text = bodies(&["do {\n\tx = READ_ONCE(*p);\n\t/* [foo.A] */\n} while (!xchg(p, 1));"]);
    assert_eq!(tagged(&foo(&text)), [("xchg", "foo.A")]);
}

#[test]
fn the_semicolons_of_a_for_end_no_statement() {
    let text = bodies(&["/* [foo.A] */\nfor (i = 0; i < 9; i++)\n\tif (xchg(p, 1))\n\t\treturn;"]);
    assert_eq!(tagged(&foo(&text)), [("xchg", "foo.A")]);
}

#[test]
fn a_comment_does_not_reach_past_its_function() {
    let text = bodies(&["/* [foo.A] */ if (x) {}", "if (xchg(p, 1)) {}"]);
    assert_eq!(tagged(&foo(&text)), [("xchg", "-")]);
}

#[test]
fn other_comments_between_do_not_matter() {
    let text = bodies(&["/* [foo.A] */\n/* why; really */\nxchg(p, ';');"]);
    assert_eq!(tagged(&foo(&text)), [("xchg", "foo.A")]);
}

#[test]
fn a_comment_behind_an_ordering_is_for_its_line_only() {
    let text = bodies(&[
        "/* [foo.A] */\nnext = xchg(p, 1); /* [foo.B] */\nif (!smp_load_acquire(p)) {}",
        "if (xchg(p, 1) && /* [foo.B] */\n    smp_load_acquire(p)) {}",
        "WRITE_ONCE(*p, 1); /* [foo.B] */\nsmp_mb();",
        "try_cmpxchg(p, &o,\n\t1); /* [foo.B] */",
    ]);
    assert_eq!(
        tagged(&foo(&text)),
        [
            ("xchg", "foo.B"),
            ("smp_load_acquire", "-"),
            ("xchg", "foo.B"),
            ("smp_load_acquire", "-"),
            ("smp_mb", "-"),
            ("try_cmpxchg", "foo.B"),
        ]
    );
}

#[test]
fn a_comment_among_the_arguments_is_for_the_call() {
    let text = bodies(&["xchg(p, /* [foo.A] */\n     1);\nsmp_mb();"]);
    assert_eq!(tagged(&foo(&text)), [("xchg", "foo.A"), ("smp_mb", "-")]);
}

#[test]
fn relaxed_accesses_have_no_tag() {
    let index = foo(&bodies(&["/* [foo.A] */\nif (READ_ONCE(*p)) cpu_relax();"]));
    let tags: Vec<_> = index.sites.iter().map(|site| &site.tag).collect();
    assert_eq!(tags, [&None, &None]);
}

#[test]
fn a_tag_may_stand_anywhere_in_a_comment_of_several_lines() {
    let index = foo(&bodies(&[concat!(
        "\t/*\n\t * Step C; see [2]. [foo.A] address\n",
        "\t * dependency, pairs\n\t * with foo.B\n\t * and .C: it is. */\n",
        "\tx = READ_ONCE_DEP(p);"
    )]));
    let tag = &index.tags["foo.A"];
    assert_eq!(
        (tag.line, tag.kind.as_slice()),
        (4, &[Order::Dependency][..])
    );
    assert_eq!(tag.partners, ["foo.B", "foo.C"]);
    assert_eq!(
        tag.text,
        "address dependency, pairs with foo.B and .C: it is."
    );
    assert_eq!(tagged(&index), [("READ_ONCE_DEP", "foo.A")]);
}

#[test]
fn of_two_tags_in_a_comment_the_nearer_one_counts() {
    let index = foo(&bodies(&[
        "/* [foo.B] WMB. [foo.A] ACQUIRE,\n * pairs with foo.B. */\nsmp_load_acquire(p);",
    ]));
    assert_eq!(tagged(&index), [("smp_load_acquire", "foo.A")]);
    assert_eq!(index.tags["foo.B"].text, "WMB.");
    assert_eq!(index.tags["foo.A"].text, "ACQUIRE, pairs with foo.B.");
}

#[test]
fn orders_are_read_from_the_words_before_the_partners() {
    let kind = |words: &str| {
        let text = format!("/* [foo.A] {words}, pairs with foo.B: ACQUIRE it, a full RMW. */");
        foo(&text).tags["foo.A"].kind.clone()
    };
    assert_eq!(kind("ACQUIRE"), [Order::Acquire]);
    assert_eq!(kind("RELEASE"), [Order::Release]);
    assert_eq!(kind("RELEASE, or full RMW"), [Order::Release, Order::Full]);
    assert_eq!(kind("ACQUIRE and RELEASE by the full RMW"), [Order::Full]);
    assert_eq!(kind("WMB"), [Order::WriteBarrier]);
    assert_eq!(kind("MB (light)"), [Order::FullBarrier]);
    assert_eq!(kind("address dependency"), [Order::Dependency]);
    assert_eq!(kind("acquire by an address and a dependency"), []);
}

#[test]
fn partners_may_be_lists_ranges_and_the_tag_itself() {
    let partners = |list: &str| {
        let text = format!("/* [foo.B] RELEASE, pairs with {list} */");
        foo(&text).tags["foo.B"].partners.join(" ")
    };
    assert_eq!(
        partners("foo.A and .C to .F."),
        "foo.A foo.C foo.D foo.E foo.F"
    );
    assert_eq!(partners("foo.A, .D and foo.E"), "foo.A foo.D foo.E");
    assert_eq!(partners(".A and itself: see .Z."), "foo.A foo.B");
    assert_eq!(partners("bar.A (not .Q but x) and .C; .Z"), "bar.A bar.C");
    assert_eq!(partners("foo.C to .C. Only .Z"), "foo.C");
}

#[test]
fn a_comment_without_order_and_partners_is_a_mention() {
    for text in [
        "/* [foo.A] */",
        "/* [foo.A]; full, so that a RELEASE pairs with it. */",
        "/* as [foo.A]: ACQUIRE */",
    ] {
        let index = foo(text);
        assert!(index.tags.is_empty(), "{text} defines {:?}", index.tags);
        assert_eq!(index.mentions.len(), 1, "{text}");
    }
}

#[test]
fn what_is_no_tag_in_brackets_is_left_alone() {
    let index = foo("/* [Foo.A], [foo.AB], [foo.a], [foo], [.A], [foo.A */ int x[foo.A];");
    assert!(index.tags.is_empty() && index.mentions.is_empty());
}

#[test]
fn spare_notes_are_read_up_to_the_next_one() {
    let index = foo(concat!(
        "/* [foo.A] ACQUIRE, pairs with foo.B: it is. Spare relaxed: the\n",
        " * load orders. But: not in C. Spare none: the\n * same. */"
    ));
    let note = |order: &str, reason: &str| (order.to_owned(), reason.to_owned());
    assert_eq!(
        index.tags["foo.A"].spare,
        [
            note("relaxed", "the load orders. But: not in C."),
            note("none", "the same.")
        ]
    );
    let prose =
        foo("/* [foo.A] WMB, pairs with foo.B. Spare the reader: no note. NoSpare it: x. */");
    assert_eq!(prose.tags["foo.A"].spare, []);
}
