// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The calls that `platform/check/` declares.
//!
//! They unwind through C when an execution ends early, so the C code is built
//! with `-fexceptions`.
use crate::engine::{self, Found, Order};
use crate::mutant::Change;
use crate::site::Site;
use crate::trace::What;
use crate::verdict::Kind;
use std::ffi::{c_char, CStr};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Orders, as in atomic.h.
const DEP: u32 = 1;
const ACQUIRE: u32 = 2;
const RELEASE: u32 = 3;
const FULL: u32 = 4;
/// Read-modify-writes, as in atomic.h.
const XCHG: u32 = 0;
const ADD: u32 = 1;
const OR: u32 = 2;
/// Fences, as in atomic.h.
const WMB: u32 = 0;

/// How strong an access is, with what a mutant made of it.
struct Strength {
    order: Order,
    /// A full barrier on both sides.
    fenced: bool,
    change: Option<Change>,
}

fn strength(order: u32, site: &Site) -> Strength {
    let change = engine::change_at(site);
    let weaker = match change {
        Some(Change::Relaxed) => Some(Relaxed),
        Some(Change::Acquire) => Some(Acquire),
        Some(Change::Release) => Some(Release),
        Some(Change::AcqRel) => Some(AcqRel),
        _ => None,
    };
    let declared = match order {
        // A dependency is weaker than this; docs/proof.md says what that hides.
        DEP | ACQUIRE => Acquire,
        RELEASE => Release,
        _ => Relaxed,
    };
    Strength {
        order: weaker.unwrap_or(declared),
        fenced: order == FULL && weaker.is_none(),
        change,
    }
}

fn fence(order: Order) {
    match engine::with(|state| state.mode) {
        engine::Mode::Loom if order == SeqCst => engine::full_fence(),
        engine::Mode::Loom => engine::release_fence(),
        _ => std::sync::atomic::compiler_fence(SeqCst),
    }
}

/// Runs `access` with a full barrier before and after it, if it has them.
fn fenced<R>(strength: &Strength, access: impl FnOnce() -> R) -> R {
    if !strength.fenced {
        return access();
    }
    fence(SeqCst);
    let result = access();
    fence(SeqCst);
    result
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_load(
    addr: usize,
    size: u32,
    order: u32,
    site: &'static Site,
    pc: usize,
) -> u64 {
    let strength = strength(order, site);
    engine::before_load(site, addr, pc);
    let target = engine::target(addr, size, false, site);
    let kept = match strength.change {
        Some(Change::Narrow) => u64::MAX >> (64 - size * 4),
        _ => u64::MAX,
    };
    let value = target.load(strength.order) & kept;
    let newest = target.newest() & kept;
    engine::loaded(site, value, newest);
    value
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_store(
    addr: usize,
    size: u32,
    value: u64,
    order: u32,
    site: &'static Site,
) {
    let strength = strength(order, site);
    let size = match strength.change {
        Some(Change::Narrow) => 1,
        _ => size,
    };
    let target = engine::target(addr, size, false, site);
    if strength.change == Some(Change::Drop) {
        return;
    }
    let value = truncate(value, size);
    target.store(value, strength.order);
    engine::note(Some(site), What::Store { value });
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_rmw(
    addr: usize,
    size: u32,
    kind: u32,
    operand: u64,
    order: u32,
    site: &'static Site,
    pc: usize,
) -> u64 {
    let strength = strength(order, site);
    engine::before_load(site, addr, pc);
    let target = engine::target(addr, size, true, site);
    let operand = truncate(operand, size); // C may have extended a sign
    let new = |old: u64| {
        let value = match kind {
            XCHG => operand,
            ADD => old.wrapping_add(operand),
            OR => old | operand,
            _ => old & !operand,
        };
        truncate(value, size)
    };
    let before = match strength.change {
        Some(Change::Drop) => Found::newest(target.load(strength.order)),
        Some(Change::Split) => fenced(&strength, || {
            let before = target.load(strength.order);
            target.store(new(before), strength.order);
            Found::newest(before)
        }),
        _ => fenced(&strength, || target.update(strength.order, new)),
    };
    let Found { value, older } = before;
    if older && value == new(value) {
        engine::saw_old();
    }
    let what = What::Rmw {
        before: value,
        after: new(value),
        older,
    };
    engine::note(Some(site), what);
    value
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_cas(
    addr: usize,
    size: u32,
    old: u64,
    new: u64,
    order: u32,
    site: &'static Site,
    pc: usize,
) -> u64 {
    let strength = strength(order, site);
    engine::before_load(site, addr, pc);
    let target = engine::target(addr, size, true, site);
    let (old, new) = (truncate(old, size), truncate(new, size));
    let seen = match strength.change {
        Some(Change::Drop) => Found::newest(target.load(strength.order)),
        Some(Change::Force) => {
            fenced(&strength, || target.update(strength.order, |_| new));
            Found::newest(old)
        }
        Some(Change::Split) => fenced(&strength, || {
            let seen = target.load(strength.order);
            if seen == old {
                target.store(new, strength.order);
            }
            Found::newest(seen)
        }),
        _ if strength.fenced => target.full_cas(old, new),
        _ => target.cas(old, new, strength.order),
    };
    let Found { value, older } = seen;
    if older && value != old {
        engine::saw_old();
    }
    let what = match value == old {
        true => What::Rmw {
            before: old,
            after: new,
            older,
        },
        false => What::CasFailed {
            seen: value,
            wanted: old,
            older,
        },
    };
    engine::note(Some(site), what);
    value
}

fn truncate(value: u64, size: u32) -> u64 {
    value & u64::MAX >> (64 - size * 8)
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_fence(kind: u32, site: &'static Site) {
    engine::flush();
    engine::with(|state| *state.reached.entry(site).or_default() += 1);
    if strength(0, site).change.is_none() {
        fence(if kind == WMB { Release } else { SeqCst });
        engine::note(Some(site), What::Fence);
    }
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_round(site: &'static Site) {
    engine::round(site);
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_wait_over() -> bool {
    engine::wait_over();
    true
}

#[no_mangle]
extern "C-unwind" fn lwc_skip_wait(site: &'static Site) -> bool {
    engine::change_at(site) == Some(Change::NoWait)
}

#[no_mangle]
extern "C-unwind" fn lwc_left_out(site: &'static Site) -> bool {
    engine::with(|state| *state.reached.entry(site).or_default() += 1);
    engine::change_at(site) == Some(Change::Drop)
}

/// `-ETIMEDOUT`; Linux's number.
const TIMED_OUT: i32 = -110;

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_sleep(
    addr: usize,
    value: u32,
    timed: bool,
    naps: bool,
    site: &'static Site,
) -> i32 {
    match engine::sleep(addr, value, (timed, naps), site) {
        true => 0,
        false => TIMED_OUT,
    }
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_wake(addr: usize, site: &'static Site) -> bool {
    engine::change_at(site) == Some(Change::Drop) || engine::wake(addr, site)
}

#[no_mangle]
extern "C-unwind" fn lwc_thread() -> u32 {
    engine::current() as u32
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_plain(addr: usize, size: usize, write: bool, pc: usize) {
    engine::plain(addr, size, write, pc);
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_call_begins(pc: usize) {
    engine::call_begins(pc);
}

#[no_mangle]
pub(crate) extern "C-unwind" fn lwc_call_ends() {
    engine::call_ends();
}

/// A client's check failed; `text` says which.
#[no_mangle]
extern "C-unwind" fn lwc_broken(text: *const c_char) -> ! {
    // SAFETY: a string literal of the client.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    engine::fail(Kind::Broken, text.into_owned())
}

/// A section of `object` begins that excludes others.
#[no_mangle]
extern "C-unwind" fn lwc_enter_section(object: usize) {
    engine::enter_section(object);
}

/// The section that was begun last ends.
#[no_mangle]
extern "C-unwind" fn lwc_leave_section() {
    engine::leave_section();
}

/// A client makes its next acquisition.
#[no_mangle]
extern "C-unwind" fn lwc_begin_anew() {
    engine::begin_anew();
}

/// A place where others may run, for clients; nothing to loom, whose threads
/// race wherever they can.
#[no_mangle]
extern "C-unwind" fn lwc_others_may_run() {
    if engine::with(|state| state.mode) == engine::Mode::Fuzz {
        engine::scheduled(|| shuttle::thread::sleep(std::time::Duration::ZERO));
    }
}
