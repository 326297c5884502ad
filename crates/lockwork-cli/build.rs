// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Builds the C parts that the command line carries inside itself: the two
//! interposers and the recorder, as shared objects in `OUT_DIR`, and the embedded
//! workload. And the list of policies, from the interposer's sources.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockwork_build::policies::policies;
use lockwork_build::{c_files, needs, root, watch};

/// How the interposers and the recorder are compiled and linked.
const FLAGS: &[&str] = &[
    "-shared",
    "-O2",
    "-g1",
    "-std=gnu11",
    "-fPIC",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-fno-strict-aliasing",
    // Profilers that walk by frame pointers do not lose the stack in a lock call.
    "-fno-omit-frame-pointer",
    "-momit-leaf-frame-pointer",
    "-Wall",
    "-Wextra",
    "-Werror=incompatible-pointer-types",
    "-Wl,-z,relro,-z,now",
    "-Wl,--no-undefined",
];

/// The world that they are compiled against: the user world, its host the interposer.
const WORLD: &[&str] = &["platform/preload", "platform/user", "platform"];

/// What they link with; after the sources, as linkers want it.
const LIBS: &[&str] = &["-lpthread", "-ldl"];

/// The folder of the glibc that tests/preload.rs uses beside the system's.
const NEWER_GLIBC: &str = "LOCKWORK_NEWER_GLIBC";

fn main() -> Result<(), Box<dyn Error>> {
    let root = root();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let workload = "crates/lockwork-cli/c";

    watch(&[
        "preload", "record", "locks", "platform", "include", workload,
    ]);

    let control = root.join("preload/passthrough.c");
    let mut sources = c_files(&root.join("preload"));
    sources.retain(|path| *path != control);
    if sources.is_empty() {
        return Err("preload/ holds no interposer sources".into());
    }
    sources.extend(c_files(&root.join("locks")));
    for dir in WORLD {
        sources.extend(c_files(&root.join(dir)));
    }

    let versions = Some(root.join("preload/versions.map"));
    let target = out.join("liblockwork-preload.so");
    shared_object(&root, &sources, versions.as_deref(), &target)?;
    let target = out.join("liblockwork-passthrough.so");
    shared_object(&root, &[control], None, &target)?;
    let recorder = c_files(&root.join("record"));
    shared_object(&root, &recorder, None, &out.join("liblockwork-record.so"))?;

    let def = fs::read_to_string(root.join("preload/policies.def"))?;
    fs::write(out.join("policies.rs"), policies_in_rust(&def)?)?;

    cc::Build::new()
        .files(c_files(&root.join(workload)))
        .std("gnu11")
        .opt_level(2)
        .extra_warnings(true)
        .try_compile("lockwork_kvcache")?;
    println!("cargo:rustc-link-lib=pthread");
    println!("cargo:rustc-link-lib=m");

    println!("cargo::rerun-if-env-changed={NEWER_GLIBC}");
    needs::declare("newer_glibc", &newer_glibc());
    needs::declare("guest", &guest());
    needs::declare("usdt", &usdt());
    needs::declare("chromium", &chromium());
    needs::declare("dwz", &needs::program("dwz"));
    Ok(())
}

/// The lines of `preload/policies.def` for `src/policy.rs`.
fn policies_in_rust(def: &str) -> Result<String, String> {
    let policies = policies(def)?;
    let default = &policies[0].name;
    let lines: String = policies
        .iter()
        .map(|policy| {
            let [name, mutex, rwlock, spinlock, summary] = [
                &policy.name,
                &policy.mutex,
                &policy.rwlock,
                &policy.spinlock,
                &policy.summary,
            ];
            format!("    lockwork({name:?}, [{mutex:?}, {rwlock:?}, {spinlock:?}], {summary:?}),\n")
        })
        .collect();
    Ok(format!(
        "/// What `run` uses unless told otherwise.\n\
         pub const DEFAULT: &str = {default:?};\n\n\
         /// Every policy, baselines first.\n\
         pub const POLICIES: &[Policy] = &[\n    NOTHING,\n    PASSTHROUGH,\n{lines}];\n"
    ))
}

/// Compiles and links `sources` into the shared object `target`. `versions`: the script
/// that declares the versions of its symbols.
fn shared_object(
    root: &Path,
    sources: &[PathBuf],
    versions: Option<&Path>,
    target: &Path,
) -> Result<(), Box<dyn Error>> {
    let compiler = cc::Build::new()
        .cargo_metadata(false)
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .try_get_compiler()?;
    let mut command = compiler.to_command();
    command.args(FLAGS);
    for dir in WORLD.iter().chain(&["locks", "include", "preload"]) {
        command.arg("-I").arg(root.join(dir));
    }
    if let Some(script) = versions {
        let mut option = OsString::from("-Wl,--version-script=");
        option.push(script);
        command.arg(option);
    }
    command.args(sources).arg("-o").arg(target).args(LIBS);
    let status = command.status()?;
    if !status.success() {
        return Err(format!("the C compiler failed on {}", target.display()).into());
    }
    Ok(())
}

/// Whether the interposer has probes: it has none without their header.
fn usdt() -> Result<(), String> {
    let header = "#include <sys/sdt.h>\n";
    let file = PathBuf::from(env::var("OUT_DIR").map_err(|e| e.to_string())?).join("usdt.c");
    fs::write(&file, header).map_err(|e| e.to_string())?;
    let compiler = cc::Build::new().cargo_metadata(false).try_get_compiler();
    let mut command = compiler.map_err(|e| e.to_string())?.to_command();
    let tried = command.arg("-E").arg(&file).output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("the header sys/sdt.h (systemtap-sdt-dev) is missing".to_owned()),
    }
}

/// Whether `lockwork kernel` can boot a guest without installing anything.
fn guest() -> Result<(), String> {
    needs::program("qemu-system-x86_64")?;
    let busybox = Command::new("busybox").arg("true").status();
    if !busybox.is_ok_and(|status| status.success()) {
        return Err("busybox cannot be run".to_owned());
    }
    let sources = fs::read_dir("/usr/src").into_iter().flatten().flatten();
    let mut names = sources.map(|entry| entry.file_name().to_string_lossy().into_owned());
    if names.any(|name| name.starts_with("linux-headers-") && name.ends_with("-amd64")) {
        return Ok(());
    }
    Err("kernel headers (linux-headers-amd64) are missing".to_owned())
}

/// Whether there is a browser for the tests of pages.
fn chromium() -> Result<(), String> {
    let tried = Command::new("chromium-headless-shell")
        .arg("--version")
        .output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("chromium-headless-shell cannot be run".to_owned()),
    }
}

/// Whether `NEWER_GLIBC` names a folder that `scripts/newer-glibc` filled.
fn newer_glibc() -> Result<(), String> {
    let folder = env::var_os(NEWER_GLIBC).filter(|folder| !folder.is_empty());
    let folder = folder.ok_or_else(|| format!("{NEWER_GLIBC} is not set"))?;
    let folder = PathBuf::from(folder);
    let loader = folder.join("root/lib64/ld-linux-x86-64.so.2");
    println!("cargo::rerun-if-changed={}", loader.display());
    if loader.exists() {
        return Ok(());
    }
    Err(format!("{NEWER_GLIBC}={} has no glibc", folder.display()))
}
