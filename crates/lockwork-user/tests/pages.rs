// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Each file that puts a lock into the catalogue has a page of its own.
use std::path::Path;

#[test]
fn each_lock_has_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut missing = Vec::new();
    let mut files = 0;
    for entry in std::fs::read_dir(root.join("locks")).expect("locks/ is part of a checkout") {
        let path = entry.expect("locks/ can be listed").path();
        if path.extension().is_none_or(|ext| ext != "c") || path.ends_with("catalogue.c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("sources can be read");
        if !text.contains("const struct lk_ops lk_") {
            continue;
        }
        files += 1;
        let stem = path.file_stem().expect("it has a name").to_string_lossy();
        let page = format!("docs/locks/{stem}.md");
        let size = std::fs::metadata(root.join(&page)).map_or(0, |page| page.len());
        if size < 200 {
            missing.push(page);
        }
    }
    assert!(
        files > 0,
        "no lock defines its operations any more: mend this test"
    );
    assert!(
        missing.is_empty(),
        "these pages are missing or empty: {}",
        missing.join(", ")
    );
}
