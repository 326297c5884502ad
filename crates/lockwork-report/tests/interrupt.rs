// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A signal is for the whole process, so this test has one of its own.

use lockwork_report::interrupt::{Interrupt, Interrupted};
use lockwork_report::pool::Pool;
use signal_hook::consts::SIGTERM;

#[test]
fn a_signal_that_was_taken_is_still_seen() {
    let interrupt = Interrupt::listen().expect("signals");
    assert_eq!(interrupt.poll(), Ok(()));
    let mut pool = Pool::new(1);
    pool.start(|| loop {
        std::thread::park();
    })
    .expect("a thread");
    assert_eq!(pool.wait(&interrupt).expect("no signal"), None::<()>);

    signal_hook::low_level::raise(SIGTERM).expect("a signal");
    assert_eq!(interrupt.take(), Some(SIGTERM));
    assert_eq!(interrupt.take(), None);
    assert_eq!(interrupt.seen(), Some(SIGTERM));
    assert_eq!(interrupt.poll(), Err(Interrupted(SIGTERM)));
    let error = pool.wait(&interrupt).expect_err("a signal");
    assert_eq!(error.downcast_ref(), Some(&Interrupted(SIGTERM)));
    // The work cannot be stopped, and nobody waits for it.
    drop(pool);
}
