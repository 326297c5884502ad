// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the user may do while a comparison runs: end it, or stop it for a while.

use std::io;

use lockwork_report::interrupt::Interrupt;
use lockwork_report::stops::Stops;

/// Ctrl-C and Ctrl-Z, and their relatives.
pub struct Signals {
    /// Those that end it.
    pub interrupt: Interrupt,
    /// Those that stop it for a while.
    pub stops: Stops,
}

impl Signals {
    /// Takes them over.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: Interrupt::listen_for_quit_too()?,
            stops: Stops::listen()?,
        })
    }

    /// Stops now, if that was asked for while no program ran, and forgets earlier stops.
    pub fn settle(&self) {
        if self.stops.is_asked() {
            self.stops.stop();
        }
        self.stops.was_stopped();
    }
}
