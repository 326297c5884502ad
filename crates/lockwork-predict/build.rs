// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interposer's policies, as `src/policy.rs` wants them.

use lockwork_build::policies::policies;
use lockwork_build::{root, watch};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let def = "preload/policies.def";
    watch(&[def]);
    let mut text = "[\n    GLIBC,\n".to_owned();
    for policy in policies(&fs::read_to_string(root().join(def))?)? {
        text += &format!(
            "    Policy {{ name: {:?}, mutex: {:?}, rwlock: {:?}, spinlock: {:?} }},\n",
            policy.name, policy.mutex, policy.rwlock, policy.spinlock
        );
    }
    text += "]\n";
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("policies.rs"), text)?;
    Ok(())
}
