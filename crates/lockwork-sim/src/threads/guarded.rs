// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A lock in a workload, with the data that it guards.

use crate::calls;
use crate::world::Ops;
use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Bytes of a line.
pub(super) const LINE: usize = 64;
/// Records of waiters lie no deeper in a thread's stack, from where it calls a lock.
const RECORDS: usize = 2048;

/// A lock and its data.
pub(super) struct Guarded {
    pub(super) ops: &'static Ops,
    pub(super) at: *mut c_void,
    /// Lines of its data, and where they begin.
    pub(super) lines: u32,
    pub(super) data: *mut c_void,
    /// Its place in the engine's tally.
    pub(super) number: usize,
    /// All from the call of lock to the end of unlock runs in the kernel, which
    /// nobody loses a CPU in; it may sleep there.
    pub(super) kernel: bool,
    /// The lock does not sleep: nor may its holder lose its CPU, not even in a workload that
    /// is preemptible. Waiters that queue on their CPU's node keep theirs, and would keep a
    /// holder that is ready from it for ever: a kernel's spinlocks forbid preemption.
    pub(super) spins: bool,
}

/// Of a thread: locks that it holds in the kernel.
#[derive(Default)]
pub(super) struct Nesting(u32);

fn call(op: unsafe extern "C" fn(*mut c_void), lock: *mut c_void) {
    // SAFETY: an operation of this lock, which is initialised.
    unsafe { op(lock) }
}

/// Calls `code` so much deeper in the stack that its frames are not where the record of a waiter
/// was. Whether a frame pays for a line that another CPU has since then would depend on how the
/// compiler lays frames out.
#[inline(never)]
pub(crate) fn beyond_records(code: impl FnOnce()) {
    let room = [MaybeUninit::<u8>::uninit(); RECORDS];
    black_box(&room);
    code();
    black_box(&room);
}

impl Guarded {
    /// One of kind `ops` at `at`, whose data begin at `data`.
    pub fn new(
        ops: &'static Ops,
        (at, data): (*mut c_void, *mut c_void),
        lines: u32,
        number: usize,
        preemptible: bool,
    ) -> Self {
        Guarded {
            ops,
            at,
            lines,
            data,
            number,
            kernel: !ops.may_leave() && !preemptible,
            spins: !ops.sleeps() && !ops.may_leave(),
        }
    }

    /// Initialises the lock.
    pub fn init(&self) {
        call(self.ops.init, self.at);
    }

    /// How it is taken and given back.
    fn operations(&self, shared: bool) -> [unsafe extern "C" fn(*mut c_void); 2] {
        let to_read = self.ops.read_lock.zip(self.ops.read_unlock);
        let to_write = (self.ops.lock, self.ops.unlock);
        let (lock, unlock) = to_read.filter(|_| shared).unwrap_or(to_write);
        [lock, unlock]
    }

    /// The running thread takes it. `price`: of the call.
    pub fn take(&self, nesting: &mut Nesting, shared: bool, price: u64) {
        self.take_unless(nesting, shared, price, || false);
    }

    /// The same, but for a thread that `has` it already once it runs.
    pub fn take_unless(
        &self,
        nesting: &mut Nesting,
        shared: bool,
        price: u64,
        has: impl FnOnce() -> bool,
    ) {
        calls::catch_up();
        nesting.0 += u32::from(self.kernel);
        calls::in_kernel(nesting.0 > 0);
        if self.spins {
            calls::may_preempt(1);
        }
        calls::with(|engine| engine.waits(self.number, shared));
        if !has() {
            calls::work(price);
            call(self.operations(shared)[0], self.at);
        }
        calls::with(|engine| engine.holds(self.number, shared));
    }

    /// It gives it back.
    pub fn give_back(&self, nesting: &mut Nesting, shared: bool) {
        calls::catch_up();
        calls::with(|engine| engine.gives_back(self.number, shared));
        let unlock = self.operations(shared)[1];
        beyond_records(|| call(unlock, self.at));
        calls::with(|engine| engine.gave_back());
        if self.spins {
            calls::may_preempt(-1);
        }
        nesting.0 -= u32::from(self.kernel);
        calls::in_kernel(nesting.0 > 0);
    }

    /// A line of its data.
    pub fn line(&self, line: u32) -> *mut c_void {
        // SAFETY: `new` was given so many lines there.
        unsafe { self.data.cast::<u8>().add(line as usize * LINE).cast() }
    }

    /// The holder uses the data: a shared one reads it, others add one to each line.
    pub fn use_data(&self, shared: bool) {
        for line in 0..self.lines {
            let value = calls::load(self.line(line), 8);
            #[cfg(test)]
            crate::tests::saw(self.number, line, value, shared);
            if !shared {
                calls::store(self.line(line), 8, value + 1);
            }
        }
    }
}
