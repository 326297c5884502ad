// SPDX-License-Identifier: MIT OR GPL-2.0-only
use super::*;
use std::collections::HashSet;
use std::path::Path;

/// The libraries that are linked in, and so always there.
const LINKED_IN: &[&str] = &["glibc", "std", "parking_lot"];

fn names(peers: &Peers) -> Vec<&'static str> {
    let present = peers.present.iter().map(|peer| peer.kind.name());
    let absent = peers.absent.iter().map(|absent| absent.name);
    present.chain(absent).collect()
}

/// Every known name is in one list, once, under its library and family.
fn assert_complete(peers: &Peers) {
    let names = names(peers);
    let distinct: HashSet<_> = names.iter().copied().collect();
    let known: HashSet<_> = NAMES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), NAMES.len());
    assert_eq!(distinct, known);
    for peer in &peers.present {
        let (name, library) = (peer.kind.name(), peer.library);
        assert!(NAMES.contains(&(name, peer.family)), "{name}");
        assert!(name.starts_with(&format!("{library}.")), "{name}");
        // Only a package tells which nsync it is, where there are packages.
        let told = library != "nsync" || Path::new("/var/lib/dpkg/status").exists();
        assert_eq!(told, !peer.version.is_empty(), "{name}");
    }
    for absent in &peers.absent {
        assert!(absent.name.starts_with(&format!("{}.", absent.library)));
        assert!(!absent.reason.is_empty(), "{}", absent.name);
        assert!(!absent.reason.contains('\n'), "{}", absent.reason);
    }
}

#[test]
fn every_name_is_present_or_absent() {
    assert_complete(crate::peers());
}

/// What a table holds beyond the list would never be seen.
#[test]
fn no_shim_has_more_than_the_list() {
    for shim in SHIMS {
        let Ok(object) = shim.object else { continue };
        let loaded = load(shim.library, object).unwrap();
        let offered = peers(loaded).unwrap();
        assert!(!offered.is_empty());
        for peer in offered {
            assert!(NAMES.contains(&(peer.kind.name(), peer.family)));
        }
    }
}

#[test]
fn without_packages_the_rest_is_absent_and_says_why() {
    let none: Vec<Shim> = SHIMS
        .iter()
        .map(|shim| Shim {
            object: Err("install it"),
            ..*shim
        })
        .collect();
    let peers = gather(&none);
    assert_complete(&peers);
    let there: HashSet<_> = peers.present.iter().map(|peer| peer.library).collect();
    assert_eq!(there, LINKED_IN.iter().copied().collect());
    assert!(peers.absent.iter().all(|a| a.reason == "install it"));
}

#[test]
fn a_shim_that_cannot_be_loaded_is_absent_with_the_loaders_reason() {
    let broken = Shim {
        library: "ck",
        object: Ok(b"not a shared object, though it is long enough to be looked at by the loader"),
    };
    let peers = gather(&[broken]);
    assert_complete(&peers);
    let ck: Vec<_> = peers.absent.iter().filter(|a| a.library == "ck").collect();
    assert_eq!(ck.len(), 6);
    for absent in ck {
        assert!(
            absent.reason.contains("invalid ELF header"),
            "{}",
            absent.reason
        );
    }
}

/// Those that were left out when this was built say so, and so does no other.
#[test]
fn what_was_left_out_says_so() {
    let left_out = env!("LOCKWORK_PEERS_WITHOUT").split(',');
    let left_out: HashSet<_> = left_out.filter(|name| !name.is_empty()).collect();
    let says: HashSet<_> = crate::peers()
        .absent
        .iter()
        .filter(|absent| absent.reason.contains("LOCKWORK_PEERS_WITHOUT"))
        .map(|absent| absent.library)
        .collect();
    assert_eq!(says, left_out);
}

/// A library that is here is a peer: its shim compiles, links and loads.
#[test]
fn what_is_installed_is_present() {
    for (library, header) in [
        ("absl", "/usr/include/absl/synchronization/mutex.h"),
        ("ck", "/usr/include/ck_spinlock.h"),
        ("nsync", "/usr/include/nsync.h"),
        ("tbb", "/usr/include/oneapi/tbb/mutex.h"),
    ] {
        let mut left_out = env!("LOCKWORK_PEERS_WITHOUT").split(',');
        if Path::new(header).exists() && !left_out.any(|name| name == library) {
            let absent = &crate::peers().absent;
            let absent = absent.iter().find(|absent| absent.library == library);
            assert!(absent.is_none(), "{absent:?}");
        }
    }
}
