// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `--list`: what can be measured, and what cannot be here.
use crate::contender::contenders;
use crate::named;
use lockwork_peers::peers;
use lockwork_report::table;

/// The locks, the peers with their versions, and what is absent and why.
pub(crate) fn list() -> String {
    let all = contenders();
    let row = |c: &crate::Contender| {
        let inlined = if c.inlined.is_some() { "yes" } else { "no" };
        [
            c.name().to_owned(),
            c.family.name().to_owned(),
            c.version.clone(),
            inlined.to_owned(),
            c.kind.summary().to_owned(),
        ]
    };
    let header = ["Lock", "Family", "Version", "Inlined", "What"];
    let mut text = table::render(header, all.iter().map(row));
    text += "\n";
    for absent in &peers().absent {
        text += &format!(
            "absent: {} ({}): {}\n",
            absent.name,
            absent.family.name(),
            absent.reason
        );
    }
    text + "Presets (--preset NAME):\n" + &named::list()
}
