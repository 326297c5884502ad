// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;

#[test]
fn raw_objects_have_everything() {
    let plan = plan(&["--lock", "tas_lock", "--threads", "2", "--overcommit", "2"]);
    let object = json::outcome(&plan, plan.job(1), &outcome(&[30, 10]));
    assert_eq!(object["seed"], 2);
    assert_eq!(object["overcommit"], 2);
    assert_eq!(object["by_thread"], serde_json::json!([30, 10]));
    assert_eq!(object["waits_ns"], serde_json::json!([[2000, 40]]));
    assert_eq!(object["counts"]["moved"]["hop1"], 40);
    assert_eq!(object["counts"]["link_bytes"][0][1], 40 * 64);
    assert_eq!(object["wait_split_ns"]["queueing"], 60_000.0);
}

#[test]
fn what_is_not_as_usual_is_in_the_object_and_else_nothing_is() {
    let usual = plan(&["--lock", "tas_lock", "--threads", "2"]);
    let object = json::outcome(&usual, usual.job(0), &outcome(&[30, 10]));
    for name in [
        "knobs",
        "clusters",
        "events",
        "divided",
        "vms",
        "by_vm",
        "vcpus",
        "migrations",
        "donations",
    ] {
        assert!(object.get(name).is_none(), "{name}");
    }
    let words = [
        "--lock",
        "tas_lock",
        "--threads",
        "2",
        "--set",
        "depth=7",
        "--clusters",
        "node",
    ];
    let plan = plan(&words);
    let mut found = outcome(&[30, 10]);
    found.counts.events = vec![0, 5];
    found.counts.divided = 1;
    let object = json::outcome(&plan, plan.job(0), &found);
    assert_eq!(object["knobs"], serde_json::json!({ "depth": 7 }));
    assert_eq!(object["clusters"], "node");
    assert_eq!(
        object["events"],
        serde_json::json!({ "opened": 0, "local": 5 })
    );
    assert_eq!(object["divided"], 1);
}

#[test]
fn a_timeline_groups_threads_by_node() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("trace.json");
    let machine = crate::machine::load("westmere-ex-4s").expect("a machine");
    let far = (0..machine.cpus())
        .find(|&cpu| machine.places[cpu].node == 1)
        .expect("a node");
    let event = |thread, cpu, doing, from| Event {
        thread,
        cpu,
        doing,
        from,
        ns: 500.0,
    };
    let events = [
        event(0, 0, Doing::Wait, 1000.0),
        event(1, 1, Doing::Hold, 1500.0),
        event(0, 1, Doing::Hold, 2000.0),
    ];
    let file = timeline::create(&path).expect("a file");
    timeline::write(file, &machine, &[0, far], "a title", &events).expect("written");
    let text = std::fs::read_to_string(&path).expect("a file");
    let trace: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let all = trace["traceEvents"].as_array().expect("events");
    let pieces: Vec<_> = all.iter().filter(|event| event["ph"] == "X").collect();
    assert_eq!(pieces.len(), 3);
    assert_eq!(
        (&pieces[0]["name"], &pieces[0]["ts"]),
        (&"wait".into(), &1.0.into())
    );
    assert_eq!(pieces[0]["dur"], 0.5);
    assert_eq!(
        (&pieces[1]["pid"], &pieces[1]["tid"]),
        (&1.into(), &1.into())
    );
    // It moved, and its row stays where it was.
    assert_eq!(
        (&pieces[2]["pid"], &pieces[2]["args"]["node"]),
        (&0.into(), &1.into())
    );
    let names: Vec<_> = all.iter().filter(|e| e["name"] == "process_name").collect();
    assert_eq!(names.len(), 2);
}

#[test]
fn another_hypervisor_is_in_the_object_and_above_the_tables() {
    let plan = plan(&[
        "--lock",
        "tas_lock",
        "--threads",
        "2",
        "--overcommit",
        "2",
        "--vms",
        "2",
        "--vcpus",
        "migrate",
        "--directed-yield",
        "donate",
    ]);
    let mut found = outcome(&[30, 10]);
    (found.counts.migrations, found.counts.donations) = (7, 3);
    let waits = found.waits.clone();
    found.vms = [30, 10]
        .map(|acquisitions| OfLocks {
            name: String::new(),
            acquisitions,
            reads: 0,
            contended: 0,
            waits: waits.clone(),
            ns_held: 0.0,
        })
        .to_vec();
    let object = json::outcome(&plan, plan.job(0), &found);
    assert_eq!(
        (&object["vms"], &object["vcpus"]),
        (&2.into(), &"migrate".into())
    );
    assert_eq!(object["directed_yield"], "donate");
    assert_eq!(object["by_vm"], serde_json::json!([30, 10]));
    assert_eq!(object["longest_by_vm_ns"][1], 2000);
    assert_eq!(
        (&object["migrations"], &object["donations"]),
        (&7.into(), &3.into())
    );
    let done = vec![Done {
        job: plan.job(0),
        outcome: found,
    }];
    let text = report(&plan, &done);
    let head = "hypervisor: 2 virtual CPUs a CPU, of 2 virtual machines, which migrate, directed \
                yield that donates\n";
    assert!(text.contains(head), "{text}");
    let vms = text
        .split("Why: the virtual machines")
        .nth(1)
        .expect("a table");
    let cells: Vec<&str> = vms
        .lines()
        .nth(2)
        .expect("a row")
        .split_whitespace()
        .collect();
    // Jain's index of 30 and 10 is 1600 of 2 times 1000.
    assert_eq!(
        cells,
        ["tas_lock", "2", "0.010", "0.030", "0.80", "2.000", "2.000"]
    );
    assert!(
        text.contains("Migrations") && text.contains("Donations"),
        "{text}"
    );
}
