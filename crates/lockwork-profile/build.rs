// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The structs and numbers of a profile's file, from the recorder's headers.
use lockwork_build::{mirror, root, watch};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

const STRUCTS: &[(&str, &str)] = &[
    ("rec_file", "RawFile"),
    ("rec_wait", "RawWait"),
    ("rec_block", "RawBlock"),
    ("rec_site", "RawSite"),
    ("rec_sites", "RawSites"),
    ("rec_timing", "RawTiming"),
    ("rec_detail", "RawDetail"),
    ("rec_blame", "RawBlame"),
    ("rec_stack", "RawStack"),
    ("rec_inside", "RawInside"),
    ("rec_init", "RawInit"),
    ("rec_kept", "RawKept"),
    ("rec_left", "RawLeft"),
    ("rec_name", "RawName"),
    ("rec_outside", "RawOutside"),
    ("rec_thread_info", "RawThread"),
    ("rec_event", "RawEvent"),
    ("rec_events", "RawEvents"),
];

/// Names in C, names in Rust, types.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("REC_MAGIC", "MAGIC", "u64"),
    ("REC_VERSION", "VERSION", "u64"),
    ("REC_WAITS", "WAITS", "usize"),
    ("REC_CAPACITY", "CAPACITY", "u64"),
    ("REC_MAX_WAITS", "MAX_WAITS", "usize"),
    ("REC_SHOWN", "SHOWN", "usize"),
    ("REC_BLOCK_RECORDS", "BLOCK_RECORDS", "u32"),
    ("REC_BLOCK_MAPS", "BLOCK_MAPS", "u32"),
    ("REC_SITES", "SITES", "u32"),
    ("REC_DETAIL", "DETAIL", "u32"),
    ("REC_BLAME", "BLAME", "u32"),
    ("REC_STACK", "STACK", "u32"),
    ("REC_INIT", "INIT", "u32"),
    ("REC_THREAD", "THREAD", "u32"),
    ("REC_EVENTS", "EVENTS", "u32"),
    ("REC_TIMING", "TIMING", "u32"),
    ("REC_INSIDE", "INSIDE", "u32"),
    ("REC_LEFT", "LEFT", "u32"),
    ("REC_NAME", "NAME", "u32"),
    ("REC_OUTSIDE", "OUTSIDE", "u32"),
    ("REC_KEPT", "KEPT", "u32"),
    ("SHARED", "SHARED", "u64"),
    ("INHERITS", "INHERITS", "u64"),
    ("CEILING", "CEILING", "u64"),
    ("ROBUST", "ROBUST", "u64"),
    ("REC_KIND_SHIFT", "KIND_SHIFT", "u32"),
    ("REC_COUNT_SHIFT", "COUNT_SHIFT", "u32"),
    ("REC_CHUNK", "CHUNK", "u32"),
    ("REC_WINDOW", "WINDOW", "u32"),
    ("REC_TIMED_OUT", "TIMED_OUT", "u32"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let headers = [
        "record/format.h",
        "record/records.h",
        "record/timeline.h",
        "record/mutex_parts.h",
    ];
    watch(&headers);
    let mut header = String::new();
    for file in headers {
        header += &fs::read_to_string(root().join(file))?;
    }
    let mut text = String::new();
    for (name, rust) in STRUCTS {
        text += &mirror::mirror(&header, name, rust)?;
    }
    for (name, rust, kind) in NUMBERS {
        text += &mirror::number(&header, name, rust, kind)?;
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("format.rs"), text)?;
    Ok(())
}
