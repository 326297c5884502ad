// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Puts each known peer into one of two lists.
use std::ffi::{c_char, CStr};

use crate::entry::{entries, Entry};
use crate::list::{library, NAMES};
use crate::load::{load, Loaded};
use crate::peer::{Absent, Peer, Peers};
use crate::{parking_lot_locks, std_locks};

/// A library's shim as the build script left it: a shared object, or why there
/// is none.
#[derive(Clone, Copy)]
pub(crate) struct Shim {
    pub(crate) library: &'static str,
    pub(crate) object: Result<&'static [u8], &'static str>,
}

// `SHIMS`: what this program carries inside itself.
include!(concat!(env!("OUT_DIR"), "/shims.rs"));

extern "C" {
    /// Ended by an entry that is all zero.
    static peers_glibc: [Entry; 0];
    /// Null where something else took the place of glibc's locks.
    fn peers_glibc_running() -> *const c_char;
}

/// A library's peers, or why there are none.
type Offer = (&'static str, Result<Vec<Peer>, String>);

/// The known peers, by what is linked in and by `shims`.
pub(crate) fn gather(shims: &[Shim]) -> Peers {
    let mut offers = linked_in();
    for shim in shims {
        let loaded = shim.object.map_err(str::to_owned);
        let loaded = loaded.and_then(|object| load(shim.library, object));
        offers.push((shim.library, loaded.and_then(peers)));
    }
    sort(&offers)
}

/// glibc's locks and Rust's.
fn linked_in() -> Vec<Offer> {
    let rust = |entries: Vec<Entry>, version: &str| {
        let version = version.to_owned();
        peers(Loaded { entries, version })
    };
    let std = rust(std_locks::entries(), env!("LOCKWORK_RUST_VERSION"));
    let parking_lot = parking_lot_locks::entries();
    let parking_lot = rust(parking_lot, env!("LOCKWORK_PARKING_LOT_VERSION"));
    vec![
        ("glibc", glibc()),
        ("std", std),
        ("parking_lot", parking_lot),
    ]
}

fn glibc() -> Result<Vec<Peer>, String> {
    // SAFETY: it has no requirements; a version is a constant text.
    let version = unsafe {
        let version = peers_glibc_running();
        (!version.is_null()).then(|| CStr::from_ptr(version))
    };
    let Some(version) = version else {
        return Err(
            "pthread_mutex_lock and the like are not glibc's here: run without LD_PRELOAD".into(),
        );
    };
    peers(Loaded {
        // SAFETY: the table ends as it should.
        entries: unsafe { entries((&raw const peers_glibc).cast()) },
        version: version.to_string_lossy().into_owned(),
    })
}

fn peers(loaded: Loaded) -> Result<Vec<Peer>, String> {
    let version = &loaded.version;
    // SAFETY: all tables are constants, and shims are never unloaded.
    let peer = |entry: &Entry| unsafe { entry.peer(version) };
    let peers: Option<Vec<Peer>> = loaded.entries.iter().map(peer).collect();
    peers.ok_or_else(|| "its shim names an unknown family: build lockwork again".to_owned())
}

/// Looks each name up in its library's offer.
fn sort(offers: &[Offer]) -> Peers {
    let mut sorted = Peers {
        present: Vec::new(),
        absent: Vec::new(),
    };
    for &(name, family) in NAMES {
        let library = library(name);
        let offer = offers.iter().find(|(of, _)| *of == library);
        let reason = match offer.map(|(_, peers)| peers) {
            Some(Ok(peers)) => match peers.iter().find(|peer| peer.kind.name() == name) {
                Some(peer) => {
                    sorted.present.push(peer.clone());
                    continue;
                }
                None => format!("this version of {library} has no such lock"),
            },
            Some(Err(reason)) => reason.clone(),
            None => format!("lockwork was built without {library}"),
        };
        sorted.absent.push(Absent {
            name,
            library,
            family,
            reason,
        });
    }
    sorted
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
