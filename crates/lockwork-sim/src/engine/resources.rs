// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What threads share beside locks: devices and links that serve one use after the other.

use super::tree::Ps;
use crate::outcome::OfResource;
use crate::setup::Setup;
use crate::workload::Program;

/// One resource: a copy for the machine, or one for each NUMA node.
struct Resource {
    name: String,
    per_node: bool,
    /// By copy, and by server of the copy: when it has served all that came so far.
    free: Vec<Vec<Ps>>,
    /// For how long the servers are busy with what came so far.
    busy: Ps,
    /// What of it was over when measuring began.
    before: Ps,
    uses: u64,
    waited: Ps,
}

/// All resources of a workload.
pub(crate) struct Resources {
    all: Vec<Resource>,
}

impl Resource {
    /// What the servers have done until `time`.
    fn done(&self, time: Ps) -> Ps {
        let all = self.free.iter().flatten();
        self.busy - all.map(|free| free.saturating_sub(time)).sum::<Ps>()
    }

    /// A use that comes at `now` to a copy and takes a server for `time`: its end. First come,
    /// first served.
    fn serve(&mut self, copy: usize, now: Ps, time: Ps) -> Ps {
        let servers = self.free[copy].iter_mut();
        let first = servers.min().expect("a resource has servers");
        let start = now.max(*first);
        *first = start + time;
        self.busy += time;
        self.uses += 1;
        self.waited += start - now;
        start + time
    }
}

impl Resources {
    /// Those of the workload, on a machine with so many nodes.
    pub(super) fn new(setup: &Setup, nodes: usize) -> Self {
        let program = setup.workload.program.as_ref();
        let all = program.map_or(&[][..], |program: &Program| &program.resources);
        let resource = |of: &crate::workload::Resource| Resource {
            name: of.name.clone(),
            per_node: of.per_node,
            free: vec![vec![0; of.servers]; if of.per_node { nodes } else { 1 }],
            busy: 0,
            before: 0,
            uses: 0,
            waited: 0,
        };
        Resources {
            all: all.iter().map(resource).collect(),
        }
    }

    /// What was so far was warm-up.
    pub(super) fn restart(&mut self, time: Ps) {
        for one in &mut self.all {
            (one.before, one.uses, one.waited) = (one.done(time), 0, 0);
        }
    }

    /// A use that comes at `now`, from a CPU of `node`, and takes a server for `time`: its end.
    pub(super) fn serve(&mut self, resource: usize, node: usize, now: Ps, time: Ps) -> Ps {
        let one = &mut self.all[resource];
        one.serve(node * usize::from(one.per_node), now, time)
    }

    /// What was measured until `end`, resource by resource.
    pub fn used(&self, end: Ps) -> Vec<OfResource> {
        let ns = |time: Ps| time as f64 / 1000.0;
        let used = |one: &Resource| OfResource {
            name: one.name.clone(),
            uses: one.uses,
            servers: one.free.iter().map(Vec::len).sum::<usize>() as u64,
            ns_busy: ns(one.done(end) - one.before),
            ns_waited: ns(one.waited),
        };
        self.all.iter().map(used).collect()
    }
}
