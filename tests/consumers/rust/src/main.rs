// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Four threads count under each lock of the crate; one waits for them.
use lockwork::{Condvar, Mutex, RwLock, SpinLock, SpinRwLock};
use std::process::ExitCode;
use std::time::Duration;

const THREADS: u64 = 4;
const ROUNDS: u64 = 10_000;

static MUTEX: Mutex<u64> = Mutex::new(0);
static DONE: Condvar = Condvar::new();
static SPIN: SpinLock<u64> = SpinLock::new(0);
static RW: RwLock<u64> = RwLock::new(0);
static SPIN_RW: SpinRwLock<u64> = SpinRwLock::new(0);

fn main() -> ExitCode {
    for _ in 0..THREADS {
        std::thread::spawn(|| {
            for _ in 0..ROUNDS {
                *SPIN.lock() += 1;
                *RW.write() += 1;
                let _ = *RW.read();
                *SPIN_RW.write() += 1;
                let _ = *SPIN_RW.read();
                *MUTEX.lock() += 1;
            }
            DONE.notify_one();
        });
    }
    let mut held = MUTEX.lock();
    DONE.wait_while(&mut held, |count| *count < THREADS * ROUNDS);
    let late = MUTEX.try_lock_for(Duration::from_millis(1)).is_none();
    let counts = [*held, *SPIN.lock(), *RW.read(), *SPIN_RW.read()];
    println!("{counts:?} {late}");
    if counts == [THREADS * ROUNDS; 4] && late {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
