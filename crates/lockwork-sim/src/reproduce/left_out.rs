// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Published figures that no table simulates, and why.

use super::table::Table;

/// Some figures of a file of `data/published/`.
struct LeftOut {
    file: &'static str,
    /// The table that is made of the other figures of the file.
    table: &'static str,
    what: &'static str,
    why: &'static str,
}

/// Of two files.
const VARIATION: &str = "the change is that of the averages, which are compared; variation \
                         between runs of a real machine is not modelled";

const ALL: [LeftOut; 11] = [
    LeftOut {
        file: "osq_fxmark.csv",
        table: "fxmark",
        what: "DWAL, DWOL, DWSL, DWTL, MWRL, MWCL, MWUL",
        why: "each process writes files of its own. What they share is inside the file system, \
              and the mail names no lock of it",
    },
    LeftOut {
        file: "osq_fxmark.csv",
        table: "fxmark",
        what: "MRPL, MRPM, MRPH, MRDL, MRDM, DRBL, DRBM, DRBH",
        why: "all processes only read. The mail names no lock, and its author calls the items \
              with more than 10 % loss not stable: their coefficients of variation are 15 to 30 %",
    },
    LeftOut {
        file: "osq_fxmark.csv",
        table: "fxmark",
        what: "averages, and coefficients of variation",
        why: "an operation of FxMark is an acquisition and much else, so that only the change \
              can be compared; variation between runs of a real machine is not modelled",
    },
    LeftOut {
        file: "osq_macro.csv",
        table: "osq-macro",
        what: "the rows of unixbench",
        why: "programs with many system calls. The mail names neither a lock nor the share of \
              the time that one takes",
    },
    LeftOut {
        file: "osq_macro.csv",
        table: "osq-macro",
        what: "coefficients of variation, and changes in percent",
        why: VARIATION,
    },
    LeftOut {
        file: "osq_locktorture_affinity_epyc7551.csv",
        table: "osq-locktorture",
        what: "coefficients of variation, and changes in percent",
        why: VARIATION,
    },
    LeftOut {
        file: "qspinlock_simple_write.csv",
        table: "queue-head",
        what: "after, standalone",
        why: "the figures of spin-micro's fair queue again",
    },
    LeftOut {
        file: "qspinlock_aim7_ebizzy.csv",
        table: "aim7-ebizzy",
        what: "Real, and Sys and Usr apart",
        why: "Real says the same as the throughput. All CPU time of a job is compared; how much \
              of it is in user space is not modelled",
    },
    LeftOut {
        file: "mutex_xchg_jpm.csv",
        table: "mutex-nodes",
        what: "10-100 users",
        why: "the mail has words for them (within 1 %), and no figures",
    },
    LeftOut {
        file: "mutex_xchg_jpm.csv",
        table: "mutex-nodes",
        what: "changes in percent",
        why: "the jobs a minute are compared, and say the same but for one",
    },
    LeftOut {
        file: "mutex_slowpath_pct.csv",
        table: "mutex-nodes",
        what: "changes in percent",
        why: "the shares are compared, and say the same",
    },
];

/// A line for each, of those that belong to `tables`.
pub(super) fn list(tables: &[Table]) -> String {
    let mut text = String::from("\nNot simulated:\n");
    for one in &ALL {
        if tables.iter().any(|table| table.name == one.table) {
            text += &format!("{}, {}: {}.\n", one.file, one.what, one.why);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{
        aim7_ebizzy, fxmark, mutex_nodes, osq_locktorture, osq_macro, queue_head,
    };

    fn tables() -> Vec<Table> {
        let all = [
            queue_head::table(),
            mutex_nodes::table(),
            osq_macro::table(),
            fxmark::table(),
            aim7_ebizzy::table(),
            osq_locktorture::table(),
        ];
        all.into_iter()
            .map(|table| table.expect("a table"))
            .collect()
    }

    #[test]
    fn each_line_is_of_a_table_and_of_a_file() {
        let tables = tables();
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published/");
        for one in &ALL {
            assert!(
                tables.iter().any(|table| table.name == one.table),
                "{}",
                one.table
            );
            let text = std::fs::read_to_string(format!("{dir}{}", one.file)).expect(one.file);
            for item in one
                .what
                .split(", ")
                .filter(|word| word.chars().all(char::is_uppercase))
            {
                assert!(text.contains(&format!(",{item},")), "{}: {item}", one.file);
            }
        }
        assert_eq!(list(&tables).lines().count(), ALL.len() + 2);
        let one = &tables[2..3];
        assert!(list(one).contains("unixbench") && !list(one).contains("FxMark"));
    }

    /// Each item of FxMark is simulated, or has its line.
    #[test]
    fn no_item_is_forgotten() {
        let table = fxmark::table().expect("the table");
        let text = include_str!("../../../../data/published/osq_fxmark.csv");
        let said = list(std::slice::from_ref(&table));
        for line in text.lines().filter(|line| line.starts_with('"')) {
            let item = line
                .rsplit('"')
                .next()
                .and_then(|rest| rest.split(',').nth(1));
            let item = item.expect("an item");
            let simulated = table.cells.iter().any(|cell| cell.row.starts_with(item));
            assert!(simulated != said.contains(item), "{item}");
        }
    }
}
