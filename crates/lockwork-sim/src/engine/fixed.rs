// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Costs that are not of caches, as the machine's file has them.

use super::caches::ps;
use super::tree::Ps;
use crate::machine::{DirectedYield, Machine};

/// Costs that are not of caches, in ps.
pub(super) struct Fixed {
    pub(super) relax: Ps,
    pub(super) fence: Ps,
    pub(super) store_buffer: usize,
    /// By number of other threads of the core that compute.
    pub(super) smt: Vec<f64>,
    pub(super) slice: Ps,
    pub(super) wake: Ps,
    pub(super) waker: Ps,
    pub(super) switch: Ps,
    /// The way into a call that is to sleep, and as much back.
    pub(super) wait_enter: Ps,
    pub(super) wake_call: Ps,
    pub(super) guest_slice: Ps,
    pub(super) kick: Ps,
    pub(super) kicker: Ps,
    pub(super) guest_switch: Ps,
    pub(super) directed_yield: DirectedYield,
    pub(super) hold: f64,
    pub(super) hold_min: Ps,
    pub(super) store_hold: f64,
    pub(super) occupancy: f64,
    pub(super) request: f64,
    pub(super) near_bias: f64,
    pub(super) respin: Ps,
    /// The share by which prices vary at random, up and down, and the hold of a
    /// read-modify-write.
    pub(super) price_varies: f64,
    pub(super) hold_varies: f64,
}

impl Fixed {
    pub(super) fn new(machine: &Machine) -> Self {
        let us = |us: f64| ps(us * 1000.0);
        let (scheduler, guests) = (&machine.scheduler, &machine.hypervisor);
        Fixed {
            relax: ps(machine.cpu.relax).max(1),
            fence: ps(machine.cpu.fence),
            store_buffer: (machine.cpu.store_buffer as usize).max(1),
            smt: machine.smt.clone(),
            slice: us(scheduler.slice_us).max(1),
            wake: us(scheduler.wake_us),
            waker: us(scheduler.waker_us),
            switch: us(scheduler.switch_us),
            wait_enter: ps(scheduler.wait_call / 2.0),
            wake_call: ps(scheduler.wake_call),
            guest_slice: us(guests.slice_us).max(1),
            kick: us(guests.kick_us),
            kicker: us(guests.kicker_us),
            guest_switch: us(guests.switch_us),
            directed_yield: guests.directed_yield,
            hold: machine.line.hold,
            hold_min: ps(machine.line.hold_min),
            store_hold: machine.line.store_hold,
            occupancy: machine.line.occupancy,
            request: machine.line.request,
            near_bias: machine.line.near_bias,
            respin: ps(machine.line.respin),
            price_varies: 0.05,
            hold_varies: 0.5,
        }
    }
}
