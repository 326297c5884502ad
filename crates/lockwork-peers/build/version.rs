// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Versions of what is not told by a header.

use std::env;
use std::process::Command;

/// What `dpkg-query` says of a Debian package; `None` elsewhere.
pub fn package(name: &str) -> Option<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${Version}\\n", name]);
    first_line(query)
}

/// The standard library's, which is the compiler's.
pub fn rust() -> Option<String> {
    let mut query = Command::new(env::var_os("RUSTC")?);
    query.arg("--version");
    first_line(query)?
        .split_whitespace()
        .nth(1)
        .map(str::to_owned)
}

/// The one version that a manifest allows: `name = "=1.2.3"`.
pub fn pinned<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    manifest.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix(" = \"=")?;
        rest.strip_suffix('"')
    })
}

fn first_line(mut query: Command) -> Option<String> {
    let output = query.output().ok().filter(|out| out.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}
