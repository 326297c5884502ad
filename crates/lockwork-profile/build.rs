// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The structs of a profile's file, from the recorder's header.
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
    ("rec_init", "RawInit"),
    ("rec_thread_info", "RawThread"),
    ("rec_event", "RawEvent"),
    ("rec_events", "RawEvents"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let headers = ["record/format.h", "record/records.h"];
    watch(&headers);
    let mut header = String::new();
    for file in headers {
        header += &fs::read_to_string(root().join(file))?;
    }
    let mut text = String::new();
    for (name, rust) in STRUCTS {
        text += &mirror::mirror(&header, name, rust)?;
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("format.rs"), text)?;
    Ok(())
}
