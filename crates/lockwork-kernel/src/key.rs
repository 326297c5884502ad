// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names what was built by what it was built from.

use sha2::{Digest, Sha256};

/// What goes into a name, so far.
pub(crate) struct Key(Sha256);

impl Key {
    /// `what` is all that is not a file.
    pub(crate) fn of(what: &str) -> Self {
        Self(Sha256::new_with_prefix(format!("{what}\n")))
    }

    /// One file more.
    pub(crate) fn file(&mut self, path: &str, bytes: &[u8]) {
        self.0.update(format!("{path} {}\n", bytes.len()));
        self.0.update(bytes);
    }

    /// The name: 16 digits.
    pub(crate) fn name(self) -> String {
        let hash = self.0.finalize();
        let bytes = hash.iter().take(8);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}
