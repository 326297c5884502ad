// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The primitives that a lock may use, and what each of them orders.
use serde::Serialize;
use std::fmt;

/// What a primitive orders, or what a tag's comment says that it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Nothing: an access, a wait or a wake-up without any order.
    Relaxed,
    /// Later accesses through the loaded address.
    Dependency,
    /// Everything after it.
    Acquire,
    /// Everything before it.
    Release,
    /// A read-modify-write between two full barriers.
    Full,
    /// A fence between stores and stores.
    WriteBarrier,
    /// A fence between everything and everything.
    FullBarrier,
}

/// The words by which a tag's comment says it.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Order::Relaxed => "relaxed",
            Order::Dependency => "address dependency",
            Order::Acquire => "ACQUIRE",
            Order::Release => "RELEASE",
            Order::Full => "full RMW",
            Order::WriteBarrier => "WMB",
            Order::FullBarrier => "MB",
        })
    }
}

/// The primitives that only load.
pub const LOADS: [&str; 5] = [
    "READ_ONCE",
    "READ_ONCE_DEP",
    "smp_load_acquire",
    "atomic_read",
    "atomic_read_acquire",
];

/// The primitives that only store.
pub const STORES: [&str; 4] = [
    "WRITE_ONCE",
    "smp_store_release",
    "atomic_set",
    "atomic_set_release",
];

/// What `primitive`, a name of the platform contract, orders; `None` if it is
/// no access, fence, wait or wake-up of a lock. A wait that may be given up orders as the
/// one that may not.
pub fn order_of(primitive: &str) -> Option<Order> {
    Some(match primitive.trim_end_matches("_or_stall") {
        "READ_ONCE_DEP" | "xchg_relaxed_dep" => Order::Dependency,
        "atomic_add_return_acquire"
        | "atomic_cond_read_acquire"
        | "atomic_fetch_andnot_acquire"
        | "atomic_fetch_add_acquire"
        | "atomic_read_acquire"
        | "atomic_try_cmpxchg_acquire"
        | "atomic_xchg_acquire"
        | "smp_cond_load_acquire"
        | "smp_load_acquire"
        | "try_cmpxchg_acquire"
        | "xchg_acquire" => Order::Acquire,
        "atomic_set_release"
        | "atomic_sub_return_release"
        | "atomic_try_cmpxchg_release"
        | "smp_store_release"
        | "try_cmpxchg_release" => Order::Release,
        "atomic_try_cmpxchg" | "atomic_xchg" | "try_cmpxchg" | "xchg" => Order::Full,
        "smp_wmb" => Order::WriteBarrier,
        "smp_mb" | "smp_mb_heavy" | "smp_mb_light" => Order::FullBarrier,
        "READ_ONCE"
        | "WRITE_ONCE"
        | "atomic_add"
        | "atomic_andnot"
        | "atomic_cond_read_relaxed"
        | "atomic_fetch_or_relaxed"
        | "atomic_or"
        | "atomic_read"
        | "atomic_set"
        | "atomic_sub"
        | "atomic_try_cmpxchg_relaxed"
        | "brief_pause"
        | "cluster_count"
        | "cpu_relax"
        | "cpu_relax_wait"
        | "halt_on_value"
        | "in_any_section"
        | "kick_value"
        | "knob"
        | "local_clock"
        | "look_later"
        | "need_resched"
        | "should_halt"
        | "should_leave"
        | "smp_cond_load_relaxed"
        | "try_cmpxchg_relaxed"
        | "wait_on_value"
        | "wake_value" => Order::Relaxed,
        _ => return None,
    })
}

/// What a builtin of the compiler orders, by its arguments as written; `None` if `name` is
/// none. Primitives are made of these; a file that calls one past them needs a tag as well.
pub(super) fn order_of_builtin(name: &str, arguments: &str) -> Option<Order> {
    if name.starts_with("__sync_") {
        return Some(Order::Full);
    }
    let fence = name.ends_with("_fence");
    name.starts_with("__atomic_").then(|| {
        let says = |order: &str| arguments.contains(&format!("__ATOMIC_{order}"));
        match () {
            () if says("SEQ_CST") && fence => Order::FullBarrier,
            () if says("SEQ_CST") || says("ACQ_REL") => Order::Full,
            () if says("ACQUIRE") => Order::Acquire,
            () if says("RELEASE") && fence => Order::WriteBarrier,
            () if says("RELEASE") => Order::Release,
            () if says("CONSUME") => Order::Dependency,
            () if says("RELAXED") => Order::Relaxed,
            // An order that only a running program knows may be any.
            () => Order::Full,
        }
    })
}

/// Which of its arguments, from 0, says what the primitive works on: as in the
/// kernel, arithmetic on an `atomic_t` names the amount first.
pub(super) fn operand_of(primitive: &str) -> usize {
    usize::from(matches!(
        primitive,
        "atomic_add"
            | "atomic_add_return_acquire"
            | "atomic_andnot"
            | "atomic_fetch_andnot_acquire"
            | "atomic_fetch_add_acquire"
            | "atomic_fetch_or_relaxed"
            | "atomic_or"
            | "atomic_sub"
            | "atomic_sub_return_release"
    ))
}
