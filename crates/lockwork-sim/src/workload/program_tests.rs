// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::file::parse;
use super::*;

const GOOD: &str = r#"summary = "a test"
locks = ["mutex"]
threads = [4]
affinity = false
preemptible = true
warmup = { us = 10, source = "s" }
measure = { us = 100, source = "s" }

[[lock]]
name = "table"
kind = "rwsem"
count = { count = 3, source = "s" }
lines = { count = 2, source = "s" }
packed = true

[[queue]]
name = "jobs"
capacity = { count = 5, source = "s" }

[[resource]]
name = "memory"
per = "node"
wait = "busy"
servers = { count = 2, source = "s" }
rate = { gb_per_s = 4, source = "s" }

[[role]]
name = "in"
steps = [ { put = "jobs", section = { ns = 5, source = "s" } } ]

[[role]]
name = "out"
parts = { count = 3, source = "s" }
steps = [
  { get = "jobs" },
  { think = { us = 1, source = "s" }, chance = { share = 0.5, source = "s" } },
  { lock = "table", reads = { share = 0.9, source = "s" }, section = { ns = 7, source = "s" }, inside = [
    { use = "memory", bytes = { bytes = 4096, source = "s" } },
  ] },
]
"#;

fn refused(text: &str) -> String {
    let error = parse("x.toml", "x", text).expect_err(text);
    format!("{error:#}")
}

fn always(what: What) -> Step {
    Step { chance: 1.0, what }
}

#[test]
fn a_program_is_read_with_its_names_as_places() {
    let workload = parse("x.toml", "x", GOOD).expect("a workload");
    let program = workload.program.expect("it has roles");
    let table = &program.locks[0];
    assert_eq!((table.count, table.lines, table.packed), (3, 2, true));
    assert_eq!(table.kind.as_deref(), Some("rwsem"));
    assert_eq!(
        (program.queues[0].capacity, &program.queues[0].kind),
        (5, &None)
    );
    let memory = &program.resources[0];
    assert_eq!(
        (memory.per_node, memory.busy, memory.servers),
        (true, true, 2)
    );
    let put = What::Put {
        queue: 0,
        section: Time::Fixed(5.0),
    };
    assert_eq!(program.roles[0].steps, [always(put)]);
    let steps = &program.roles[1].steps;
    assert_eq!(steps[1].chance, 0.5);
    let use_memory = What::Use {
        resource: 0,
        time: Time::Fixed(1024.0),
    };
    let lock = What::Lock {
        lock: 0,
        reads: 0.9,
        section: Time::Fixed(7.0),
        read_section: Time::Fixed(7.0),
        inside: vec![always(use_memory)],
    };
    assert_eq!(steps[2].what, lock);
    let roles: Vec<usize> = (0..6).map(|thread| program.role_of(thread)).collect();
    assert_eq!(roles, [0, 1, 1, 1, 0, 1]);
    assert_eq!(program.lock_names().collect::<Vec<_>>(), ["table", "jobs"]);
    assert_eq!(program.names_of_locks(), [0, 0, 0, 1]);
}

#[test]
fn mistakes_in_a_program_have_their_line_and_what_exists() {
    for (old, new, words) in [
        (
            "put = \"jobs\"",
            "put = \"job\"",
            &["x.toml:29", "'job'", "jobs"][..],
        ),
        (
            "{ get = \"jobs\" }",
            "{ get = \"table\" }",
            &["x.toml:35", "no queue 'table'"],
        ),
        (
            "lock = \"table\",",
            "lock = \"jobs\",",
            &["no lock 'jobs'", "table"],
        ),
        (
            "name = \"jobs\"",
            "name = \"table\"",
            &["two of the name 'table'"],
        ),
        (
            "bytes = { bytes = 4096, source = \"s\" }",
            "time = { ns = 1, source = \"s\" }",
            &["needs bytes"],
        ),
        (
            "rate = { gb_per_s = 4, source = \"s\" }\n",
            "",
            &["needs a time"],
        ),
        ("gb_per_s = 4", "gb_per_s = 0", &["0.001 to 1000000"]),
        (
            "{ get = \"jobs\" }",
            "{ get = \"jobs\", put = \"jobs\" }",
            &["a step is one of"],
        ),
        (
            "{ get = \"jobs\" }",
            "{ chance = { share = 0.1, source = \"s\" } }",
            &["a step is one of"],
        ),
        (
            "{ get = \"jobs\" }",
            "{ gets = \"jobs\" }",
            &["no field `gets`"],
        ),
        (
            "{ get = \"jobs\" }",
            "{ get = \"jobs\", reads = { share = 1, source = \"s\" } }",
            &["a step is one of"],
        ),
        (
            "share = 0.5",
            "share = 1.5",
            &["chance must be a share from 0 to 1"],
        ),
        (
            "count = 5, source = \"s\"",
            "count = 5, source = \" \"",
            &["capacity has no source"],
        ),
        (
            "count = 5,",
            "count = 0,",
            &["capacity must be 1 to 1000000"],
        ),
        (
            "wait = \"busy\"",
            "wait = \"spinning\"",
            &["`spinning`", "`asleep`"],
        ),
        (
            "preemptible = true",
            "preemptible = true\nloops = { count = 3, source = \"s\" }",
            &["loops is of a workload with one lock"],
        ),
        (
            "preemptible = true",
            "preemptible = true\nthink = { us = 3, source = \"s\" }",
            &["think is of a workload with one lock"],
        ),
    ] {
        assert!(GOOD.contains(old), "{old}");
        let said = refused(&GOOD.replacen(old, new, 1));
        for word in words {
            assert!(said.contains(word), "{new}: {said}");
        }
        assert!(!said.contains('\n'), "{said}");
    }
}

#[test]
fn tables_without_a_role_are_refused_and_so_are_roles_without_locks() {
    let (head, roles) = GOOD.split_once("[[role]]").expect("it has roles");
    assert!(refused(head).contains("needs a [[role]]"));
    let (head, _) = head.split_once("[[lock]]").expect("it has locks");
    let alone = format!(
        "{head}[[role]]\nname = \"x\"\nsteps = [ {{ think = {{ us = 1, source = \"s\" }} }} ]\n"
    );
    assert!(refused(&alone).contains("needs a [[lock]] or a [[queue]]"));
    let empty = format!("{head}[[queue]]\nname = \"jobs\"\ncapacity = {{ count = 1, source = \"s\" }}\n[[role]]{roles}");
    assert!(refused(&empty).contains("no lock 'table'; there is none"));
}

#[test]
fn locks_nest_four_deep() {
    let nested = |depth: usize| {
        let open = "{ lock = \"table\", inside = [ ".repeat(depth);
        GOOD.replace(
            "{ get = \"jobs\" }",
            &format!("{open}{}", " ] }".repeat(depth)),
        )
    };
    assert!(parse("x.toml", "x", &nested(4)).is_ok());
    assert!(refused(&nested(5)).contains("4 deep"));
}
