// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The program that was recorded, as one would type it.

use lockwork_report::text::shell;

use crate::model::{Fate, Profile};

/// The command line as one would type it.
pub fn command(profile: &Profile) -> String {
    match profile.command.is_empty() {
        true => "a program".to_owned(),
        false => shell(&profile.command),
    }
}

/// The command line that runs all of this again, and whether it comes to its end by itself.
pub fn runs_again(profile: &Profile) -> (String, bool) {
    let own = (&profile.command, profile.fate);
    let first = profile.started.as_ref().map(|f| (&f.command, f.fate));
    let (words, fate) = first
        .filter(|(_, fate)| *fate == Fate::Ended)
        .unwrap_or(own);
    // A process of init is a service; its manager ends it.
    let service = profile.started.is_none() && profile.parent <= 1;
    let text = shell(words);
    match text.is_empty() {
        true => (command(profile), true),
        false => (text, fate == Fate::Ended && !service),
    }
}

/// The command that measures these locks under this program, which ends by itself or not.
pub fn compare(program: &str, ends: bool, locks: &str) -> String {
    if ends {
        return format!("lockwork compare --locks {locks} -- {program}");
    }
    let path = program.split(' ').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    format!(
        "lockwork compare --locks {locks} --metric 'PER SECOND: ([0-9.]+)' -- ./SCRIPT, where \
         SCRIPT starts {name}, has a client put load on it, prints the client's figure and \
         stops {name}, which did not end by itself here"
    )
}
