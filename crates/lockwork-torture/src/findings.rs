// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What probes find.

/// What a probe found.
#[derive(Default)]
pub(crate) struct Findings {
    /// What was seen, by property; the probe's first property if none is named.
    pub(crate) seen: Vec<(&'static str, String)>,
    pub(crate) wrong: Vec<(&'static str, String)>,
}

impl Findings {
    /// The probe could not do its work.
    pub(crate) fn broken(text: String) -> Self {
        Self {
            seen: Vec::new(),
            wrong: vec![("", text)],
        }
    }

    /// The findings of a probe of one property.
    pub(crate) fn of(result: Result<String, String>) -> Self {
        match result {
            Ok(seen) => Self {
                seen: vec![("", seen)],
                wrong: Vec::new(),
            },
            Err(wrong) => Self::broken(wrong),
        }
    }
}

/// Fails with `text()` unless `right`.
pub(crate) fn ensure(right: bool, text: impl FnOnce() -> String) -> Result<(), String> {
    if right {
        Ok(())
    } else {
        Err(text())
    }
}
