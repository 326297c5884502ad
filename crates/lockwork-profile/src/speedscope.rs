// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stacks of waits in the file format of speedscope: for each process a sampled profile, whose
//! weights are nanoseconds waited. The format is described by speedscope's
//! `src/lib/file-format-spec.ts`.

use std::collections::HashMap;

use serde_json::{json, Value};

use crate::folded::{self, Waits};
use crate::model::Profile;
use crate::names::Names;
use crate::program;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// The frames that all profiles of a file share, each once.
#[derive(Default)]
struct Frames {
    places: HashMap<String, usize>,
    all: Vec<Value>,
}

impl Frames {
    fn place(&mut self, name: String) -> usize {
        if let Some(place) = self.places.get(&name) {
            return *place;
        }
        self.all.push(json!({ "name": name }));
        self.places.insert(name, self.all.len() - 1);
        self.all.len() - 1
    }
}

/// The file of these processes.
pub fn render(profiles: &[Profile]) -> Value {
    let mut frames = Frames::default();
    let profiles: Vec<Value> = profiles
        .iter()
        .map(|profile| one(profile, &mut frames))
        .collect();
    json!({
        "$schema": SCHEMA,
        "name": "time waited for locks",
        "exporter": concat!("lockwork ", env!("CARGO_PKG_VERSION")),
        "shared": { "frames": frames.all },
        "profiles": profiles,
    })
}

fn one(profile: &Profile, frames: &mut Frames) -> Value {
    let names = Names::new(profile);
    let (mut samples, mut weights, mut end) = (Vec::new(), Vec::new(), 0);
    for Waits { stack, ns } in folded::stacks(profile, &names) {
        let stack: Vec<usize> = stack.into_iter().map(|name| frames.place(name)).collect();
        samples.push(stack);
        weights.push(ns);
        end += ns;
    }
    json!({
        "type": "sampled",
        "name": format!("{} (process {})", program::command(profile), profile.pid),
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": end,
        "samples": samples,
        "weights": weights,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_there_once() {
        let mut frames = Frames::default();
        let places: Vec<usize> = ["main", "work", "main"]
            .into_iter()
            .map(|name| frames.place(name.to_owned()))
            .collect();
        assert_eq!(places, [0, 1, 0]);
        assert_eq!(frames.all.len(), 2);
    }
}
