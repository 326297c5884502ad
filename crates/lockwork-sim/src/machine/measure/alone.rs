// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a CPU's own steps cost, and memory.

use std::alloc::{alloc, dealloc, Layout};
use std::hint::{black_box, spin_loop};
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::thread::futex;

use super::pairs::spread;
use super::runner::{pin, Stop};

/// ns of one step each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Alone {
    /// A load from the first cache.
    pub(super) load: f64,
    /// A store to it.
    pub(super) store: f64,
    /// A locked read-modify-write.
    pub(super) rmw: f64,
    /// A full fence.
    pub(super) fence: f64,
    /// `pause` or its like.
    pub(super) relax: f64,
    /// A futex wait whose word has changed.
    pub(super) wait_call: f64,
    /// A futex wake-up of nobody.
    pub(super) wake_call: f64,
}

const STEPS: u32 = 2000;

/// Measures on CPU `cpu`.
pub(super) fn alone(cpu: usize, stop: &Stop) -> Result<Option<Alone>> {
    pin(cpu)?;
    let cell = AtomicU64::new(0);
    let order = Ordering::Relaxed;
    // A pointer to itself: each load waits for the last one's value.
    let mut cells = [std::ptr::null::<*const ()>()];
    cells[0] = cells.as_ptr().cast();
    let mut at = black_box(cells.as_ptr());
    // SAFETY: it points to the only cell, which points to itself.
    let load = per_step(stop, || at = unsafe { at.read_volatile().cast() });
    black_box(at);
    let store = per_step(stop, || black_box(&cell).store(1, order));
    let rmw = per_step(stop, || {
        black_box(&cell).fetch_add(1, order);
    });
    let full = per_step(stop, || {
        fence(Ordering::SeqCst);
        // Fences with nothing between them become one.
        black_box(&cell);
    });
    let relax = per_step(stop, spin_loop);
    let word = AtomicU32::new(1);
    let wait_call = per_step(stop, || {
        // It is 1: the kernel looks, and says so.
        let again = futex::wait(&word, futex::Flags::PRIVATE, 0, None);
        debug_assert_eq!(again, Err(rustix::io::Errno::AGAIN));
    });
    let wake_call = per_step(stop, || {
        let woken = futex::wake(&word, futex::Flags::PRIVATE, 1);
        debug_assert_eq!(woken, Ok(0));
    });
    if stop.now() {
        return Ok(None);
    }
    Ok(Some(Alone {
        load,
        store,
        rmw,
        fence: full,
        relax,
        wait_call,
        wake_call,
    }))
}

/// The median of batches, ns; 0 if it is to stop.
fn per_step(stop: &Stop, mut step: impl FnMut()) -> f64 {
    let mut samples = Vec::new();
    for _ in 0..101 {
        if stop.now() {
            break;
        }
        let begin = Instant::now();
        for _ in 0..STEPS {
            step();
        }
        samples.push(begin.elapsed().as_nanos() as f64 / f64::from(STEPS));
    }
    spread(&mut samples).map_or(0.0, |spread| spread.median)
}

/// Bytes of a line.
const LINE: usize = 64;
/// So that huge pages fit.
const ALIGN: usize = 2 << 20;

/// Memory, zeroed and so placed by the thread that asks for it.
struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is memory, and owned.
unsafe impl Send for Buffer {}

impl Buffer {
    fn new(bytes: usize) -> Result<Buffer> {
        let layout = Layout::from_size_align(bytes, ALIGN).context("a buffer of that size")?;
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { alloc(layout) })
            .with_context(|| format!("there is no memory for {bytes} bytes"))?;
        let buffer = Buffer { start, layout };
        // Address translation is not what is measured. Where huge pages are refused, it is. They
        // are asked for before the memory is touched: later, small pages are there already.
        // SAFETY: the range is the buffer's.
        let _ = unsafe {
            rustix::mm::madvise(
                start.as_ptr().cast(),
                bytes,
                rustix::mm::Advice::LinuxHugepage,
            )
        };
        // SAFETY: it is the buffer, and nobody else has it.
        unsafe { start.as_ptr().write_bytes(0, bytes) };
        Ok(buffer)
    }

    /// The first word of each line: the number of the next line.
    fn word(&self, line: u32) -> *mut u32 {
        // SAFETY: callers give numbers below the buffer's lines.
        unsafe { self.start.as_ptr().add(line as usize * LINE).cast() }
    }

    /// Makes one random cycle of all lines.
    fn link(&self) {
        let lines = (self.layout.size() / LINE) as u32;
        let mut order: Vec<u32> = (0..lines).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut order);
        for (i, &line) in order.iter().enumerate() {
            let next = order[(i + 1) % order.len()];
            // SAFETY: `line` is below the buffer's lines; nobody else has it.
            unsafe { *self.word(line) = next };
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and not used any more.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// A load by CPU `cpu` that no cache can answer, ns, from `bytes` of memory that
/// CPU `home` has placed.
pub(super) fn memory(
    cpu: usize,
    home: usize,
    bytes: usize,
    budget: Duration,
    stop: &Stop,
) -> Result<Option<f64>> {
    let placed = thread::spawn(move || -> Result<Buffer> {
        pin(home)?;
        let buffer = Buffer::new(bytes.div_ceil(ALIGN) * ALIGN)?;
        buffer.link();
        Ok(buffer)
    });
    let panicked = |_| anyhow::anyhow!("a measuring thread failed");
    let buffer = placed.join().map_err(panicked)??;
    pin(cpu)?;
    let mut samples = Vec::new();
    let (start, mut at) = (Instant::now(), 0_u32);
    while !stop.now() && (samples.len() < 5 || start.elapsed() < budget) {
        let begin = Instant::now();
        for _ in 0..STEPS {
            // SAFETY: all words are numbers of lines of the buffer.
            at = unsafe { buffer.word(at).read_volatile() };
        }
        samples.push(begin.elapsed().as_nanos() as f64 / f64::from(STEPS));
    }
    Ok(spread(&mut samples)
        .filter(|_| !stop.now())
        .map(|spread| spread.median))
}
