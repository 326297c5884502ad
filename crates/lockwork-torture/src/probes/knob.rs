// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A knob that a probe needs at a value of its own.
use lockwork_catalogue::{knobs, set_knob};

/// Sets a knob; puts it back when dropped.
pub(super) struct Knob {
    name: &'static str,
    before: u32,
}

impl Knob {
    /// Errors: there is no such knob, or it does not take `value`.
    pub(super) fn set(name: &'static str, value: &str) -> Result<Self, String> {
        let knob = knobs().into_iter().find(|knob| knob.name() == name);
        let before = knob
            .ok_or_else(|| format!("there is no knob {name}"))?
            .get();
        set_knob(name, value).map_err(|err| err.to_string())?;
        Ok(Self { name, before })
    }
}

impl Drop for Knob {
    fn drop(&mut self) {
        let _ = set_knob(self.name, &self.before.to_string());
    }
}
