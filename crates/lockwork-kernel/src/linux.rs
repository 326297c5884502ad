// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Debian's kernel: the headers that are installed, and the image that belongs to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use lockwork_report::usage;

use crate::work::{self, Work};

/// Where a build leaves what boots.
const IMAGE: &str = "arch/x86/boot/bzImage";

/// The modules with which a kernel runs guests on the CPU that QEMU emulates, as they are loaded.
const KVM: &[&str] = &[
    "virt/lib/irqbypass",
    "drivers/crypto/ccp/ccp",
    "arch/x86/kvm/kvm",
    "arch/x86/kvm/kvm-amd",
];

/// A kernel that modules can be built for, and its image.
#[derive(Debug)]
pub(crate) struct Linux {
    /// As `uname -r` would print it.
    pub(crate) release: String,
    /// The folder that modules are built with.
    pub(crate) headers: PathBuf,
    /// The file that boots.
    pub(crate) image: PathBuf,
    /// Debian's, so it has nothing of ours until a module is loaded.
    pub(crate) is_stock: bool,
}

/// The newest kernel's headers.
pub(crate) fn headers() -> Option<PathBuf> {
    let entries = fs::read_dir("/usr/src").ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| release(path).is_some() && path.join("include/config/auto.conf").is_file())
        .max_by_key(|path| version(&release(path).unwrap_or_default()))
}

/// `linux-headers-RELEASE-amd64` names it.
fn release(headers: &Path) -> Option<String> {
    let name = headers.file_name()?.to_str()?;
    let release = name.strip_prefix("linux-headers-")?;
    // Not the kernels for real time, and for clouds.
    let plain = !release.contains("-rt-") && !release.contains("-cloud-");
    (plain && release.ends_with("-amd64")).then(|| release.to_owned())
}

/// The numbers in a release, in order.
fn version(release: &str) -> Vec<u32> {
    let numbers = release.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// A kernel that somebody built in `dir`.
pub(crate) fn built(dir: &Path) -> Result<Linux> {
    let not = |what: &str| {
        usage::error(format!(
            "--linux {}: there is no {what}; name a directory in which Linux was built by `make \
             bzImage modules`",
            dir.display()
        ))
    };
    let release = fs::read_to_string(dir.join("include/config/kernel.release"));
    let release = release.map_err(|_| not("include/config/kernel.release"))?;
    for file in [IMAGE, "Module.symvers", "include/config/auto.conf"] {
        if !dir.join(file).is_file() {
            return Err(not(file));
        }
    }
    let headers = dir.canonicalize()?;
    Ok(Linux {
        release: release.trim().to_owned(),
        image: headers.join(IMAGE),
        headers,
        is_stock: false,
    })
}

/// The kernel that runs here. Modules can be built for it if its headers are installed.
pub(crate) fn running() -> Result<Linux> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let release = release.trim().to_owned();
    Ok(Linux {
        headers: Path::new("/lib/modules").join(&release).join("build"),
        image: Path::new("/boot").join(format!("vmlinuz-{release}")),
        release,
        is_stock: false,
    })
}

/// The kernel of the newest headers. Its image is an installed one, one in the cache, or that of
/// Debian's package, which is unpacked there and not installed.
pub(crate) fn find(work: &Work) -> Result<Linux> {
    let headers = headers().context("no kernel headers are installed")?;
    let release = release(&headers).context("the headers' folder names no kernel")?;
    let installed = Path::new("/boot").join(image_of(&release));
    let image = match fs::File::open(&installed).is_ok() {
        true => installed,
        false => unpacked(&release, work)?.join(image_of(&release)),
    };
    Ok(Linux {
        release,
        headers,
        image,
        is_stock: true,
    })
}

/// Debian's kernel with its modules for KVM, as they are loaded.
pub(crate) fn host(work: &Work) -> Result<(PathBuf, Vec<PathBuf>)> {
    let headers = headers().context("no kernel headers are installed")?;
    let release = release(&headers).context("the headers' folder names no kernel")?;
    let dir = unpacked(&release, work)?;
    let modules = KVM.iter().map(|module| dir.join(file_of(module)));
    Ok((dir.join(image_of(&release)), modules.collect()))
}

fn image_of(release: &str) -> String {
    format!("vmlinuz-{release}")
}

fn file_of(module: &str) -> String {
    let (_, name) = module.rsplit_once('/').unwrap_or(("", module));
    format!("{name}.ko")
}

/// The folder in the cache with what is used of the kernel's package.
fn unpacked(release: &str, work: &Work) -> Result<PathBuf> {
    let ours = work.cache.join(format!("debian-{release}"));
    if !ours.is_dir() {
        fetch(release, &ours, work)?;
    }
    Ok(ours)
}

/// Makes `target` of the package. Half of it is never there.
fn fetch(release: &str, target: &Path, work: &Work) -> Result<()> {
    let package = format!("linux-image-{release}");
    work.progress.step(&format!("fetching {package}"));
    let room = tempfile::tempdir_in(&work.cache)
        .with_context(|| format!("cannot write to {}", work.cache.display()))?;
    let mut download = Command::new("apt-get");
    download.args(["download", "-qq", &package]);
    work::run(download.current_dir(room.path()), "apt-get download", work).with_context(|| {
        format!("cannot fetch {package}; run apt-get update; if the archive has a newer kernel, upgrade linux-headers-amd64")
    })?;
    let package = fs::read_dir(room.path())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|ext| ext == "deb"))
        .context("apt-get download left no package")?;
    let unpacked = room.path().join("unpacked");
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&package).arg(&unpacked);
    work::run(&mut unpack, "dpkg-deb", work)?;
    // The other modules are most of it.
    let used = room.path().join("used");
    fs::create_dir(&used)?;
    let image = image_of(release);
    fs::rename(unpacked.join("boot").join(&image), used.join(&image))
        .with_context(|| format!("{} has no {image}", package.display()))?;
    let modules = unpacked.join("lib/modules").join(release).join("kernel");
    for module in KVM {
        let from = modules.join(format!("{module}.ko"));
        let packed = modules.join(format!("{module}.ko.xz"));
        if packed.is_file() {
            work::run(Command::new("xz").arg("-d").arg(packed), "xz", work)?;
        }
        fs::rename(&from, used.join(file_of(module)))
            .with_context(|| format!("{} has no {module}.ko", package.display()))?;
    }
    // Another run may have been quicker.
    let renamed = fs::rename(&used, target);
    if !target.is_dir() {
        renamed.with_context(|| format!("cannot write to {}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_is_newer_than_nine() {
        assert!(version("6.10.1-1-amd64") > version("6.9.12-3-amd64"));
        let path = Path::new("/usr/src/linux-headers-6.1.0-9-amd64");
        assert_eq!(release(path).as_deref(), Some("6.1.0-9-amd64"));
        assert_eq!(
            release(Path::new("/usr/src/linux-headers-6.1.0-9-common")),
            None
        );
    }
}
