// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One shim: a shared object, or a sentence that says why there is none.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::library::Library;
use crate::version;

/// Where the shims are, below the workspace's directory.
pub const SOURCES: &str = "crates/lockwork-peers/peers";

/// A compilation as all shims have it. Debugging aids are left out, as in a
/// release of the program that would use the library.
pub fn compiler(cpp: bool) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(cpp)
        // What is missing is said by the peers that are absent then.
        .cargo_warnings(false)
        .std(if cpp { "gnu++17" } else { "gnu11" })
        .opt_level(2)
        .debug(false)
        .pic(true)
        .warnings(true)
        .extra_warnings(true)
        .define("NDEBUG", None)
        .flags(["-fno-plt", "-fvisibility=hidden"]);
    build
}

/// Compiles the shim of `library` with `build` into the shared object `object`.
///
/// # Errors
/// One sentence: what is missing here, and what to do. Nothing of that stops
/// the build, because all peers are optional.
pub fn make(library: &Library, build: &cc::Build, object: &Path) -> Result<(), String> {
    let package = library.package;
    let compiler = if library.cpp { "g++" } else { "gcc" };
    let missing_compiler = |err: String| {
        format!("no compiler for its shim when lockwork was built ({err}): install Debian's {compiler} and build lockwork again")
    };
    let tool = build
        .try_get_compiler()
        .map_err(|err| missing_compiler(err.to_string()))?;
    let found = has_header(tool.to_command(), library).map_err(missing_compiler)?;
    if !found {
        return Err(format!(
            "{} was not found when lockwork was built: install Debian's {package} (scripts/install-deps does) and build lockwork again",
            library.header
        ));
    }
    let output = link(tool.to_command(), library, object).map_err(missing_compiler)?;
    let messages = String::from_utf8_lossy(&output.stderr);
    eprint!("{messages}");
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "its shim could not be built with the installed {package}, try another version of it: {}",
        complaint(&messages)
    ))
}

/// The line of a compiler's or linker's messages that says most.
fn complaint(messages: &str) -> &str {
    let closing = ["ld returned", "linker command failed"];
    let tells = |line: &&str| line.contains("error: ") && !closing.iter().any(|c| line.contains(c));
    let line = messages.lines().find(tells).or(messages.lines().next());
    line.unwrap_or("the compiler did not say why")
}

/// Whether the compiler can include the library's header.
fn has_header(mut compiler: Command, library: &Library) -> Result<bool, String> {
    let language = if library.cpp { "c++" } else { "c" };
    compiler.args(["-fsyntax-only", "-x", language, "-"]);
    compiler
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = compiler
        .spawn()
        .map_err(|err| cannot_run(compiler.get_program(), &err))?;
    let mut source = child.stdin.take().expect("it is piped");
    // A compiler that does not read to the end has failed, and says so.
    let _ = writeln!(source, "#include <{}>", library.header);
    drop(source);
    let status = child
        .wait()
        .map_err(|err| cannot_run(compiler.get_program(), &err))?;
    Ok(status.success())
}

/// Compiles and links.
fn link(mut compiler: Command, library: &Library, object: &Path) -> Result<Output, String> {
    let root = lockwork_build::root();
    let suffix = if library.cpp { "cc" } else { "c" };
    let version = version::package(library.package).unwrap_or_default();
    let own = ["locks", SOURCES].map(|dir| root.join(dir));
    for dir in lockwork_build::platform("user").iter().chain(&own) {
        compiler.arg("-I").arg(dir);
    }
    compiler
        .arg(format!("-DPEER_PACKAGE_VERSION=\"{version}\""))
        .arg("-shared")
        .arg(
            root.join(SOURCES)
                .join(format!("{}.{suffix}", library.name)),
        )
        .arg("-o")
        .arg(object)
        .args(["-Wl,-z,relro,-z,now", "-Wl,--no-undefined"])
        .args(library.link);
    compiler
        .output()
        .map_err(|err| cannot_run(compiler.get_program(), &err))
}

fn cannot_run(program: &OsStr, err: &std::io::Error) -> String {
    format!("cannot run {}: {err}", program.to_string_lossy())
}
