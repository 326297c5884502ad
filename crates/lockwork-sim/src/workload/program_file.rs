// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The part of a workload's file that says what several locks are used for.

use super::file::File;
use super::place::Place;
use super::program::{Program, Queue, Resource, Role, SharedLock, Step, What};
use super::program_tables::{
    LockTable, Per, QueueTable, ResourceTable, RoleTable, StepTable, Wait,
};
use super::time::Time;
use anyhow::Result;
use toml::Spanned;

/// Locks of one name, at most.
const MOST_LOCKS: u64 = 4096;
/// Steps inside one another, at most: locks that spin keep a queue's node each.
const DEEPEST: usize = 4;

/// The names that steps may use.
struct Names<'a> {
    locks: Vec<&'a str>,
    queues: Vec<&'a str>,
    resources: &'a [Resource],
}

impl Place<'_> {
    /// The program that the file has; none if it has one lock.
    pub(super) fn program(&self, file: &File) -> Result<Option<Program>> {
        let others = [
            file.lock.first().map(Spanned::span),
            file.queue.first().map(Spanned::span),
            file.resource.first().map(Spanned::span),
        ];
        if file.role.is_empty() {
            return match others.into_iter().flatten().next() {
                Some(span) => self.wrong(span, "nobody uses this: a workload with [[lock]], [[queue]] or [[resource]] needs a [[role]]"),
                None => Ok(None),
            };
        }
        self.names_differ(file)?;
        let locks = file.lock.iter().map(|lock| self.shared_lock(lock));
        let queues = file.queue.iter().map(|queue| self.queue(queue));
        let resources = file.resource.iter().map(|one| self.resource(one));
        let (locks, queues) = (collect(locks)?, collect(queues)?);
        let resources = collect(resources)?;
        let names = Names {
            locks: locks.iter().map(|lock| lock.name.as_str()).collect(),
            queues: queues.iter().map(|queue| queue.name.as_str()).collect(),
            resources: &resources,
        };
        let roles = collect(file.role.iter().map(|role| self.role(role, &names)))?;
        if locks.is_empty() && queues.is_empty() {
            let span = file.role[0].span();
            return self.wrong(
                span,
                "a workload with roles needs a [[lock]] or a [[queue]]",
            );
        }
        Ok(Some(Program {
            locks,
            queues,
            resources,
            roles,
        }))
    }

    /// Locks, queues and resources have different names, and so have roles.
    fn names_differ(&self, file: &File) -> Result<()> {
        let locks = file.lock.iter().map(|t| (&t.get_ref().name, t.span()));
        let queues = file.queue.iter().map(|t| (&t.get_ref().name, t.span()));
        let resources = file.resource.iter().map(|t| (&t.get_ref().name, t.span()));
        let shared: Vec<_> = locks.chain(queues).chain(resources).collect();
        let roles = file.role.iter().map(|t| (&t.get_ref().name, t.span()));
        for all in [shared, roles.collect()] {
            for (at, (name, span)) in all.iter().enumerate() {
                if name.trim().is_empty() {
                    return self.wrong(span.clone(), "the name must not be empty");
                }
                if all[..at].iter().any(|(other, _)| other == name) {
                    let reason = format!("there are two of the name '{name}': rename one");
                    return self.wrong(span.clone(), &reason);
                }
            }
        }
        Ok(())
    }

    fn shared_lock(&self, table: &Spanned<LockTable>) -> Result<SharedLock> {
        let lock = table.get_ref();
        Ok(SharedLock {
            name: lock.name.clone(),
            kind: lock.kind.clone(),
            count: self.number("count", &lock.count, 1, 1..=MOST_LOCKS)? as usize,
            lines: self.number("lines", &lock.lines, 0, 0..=4096)? as u32,
            packed: lock.packed,
        })
    }

    fn queue(&self, table: &Spanned<QueueTable>) -> Result<Queue> {
        let queue = table.get_ref();
        Ok(Queue {
            name: queue.name.clone(),
            kind: queue.kind.clone(),
            capacity: self.count("capacity", &queue.capacity, 1..=1_000_000)?,
        })
    }

    fn resource(&self, table: &Spanned<ResourceTable>) -> Result<Resource> {
        let resource = table.get_ref();
        let rate = match &resource.rate {
            None => None,
            Some(field) => {
                let rate = field.get_ref();
                self.sourced("rate", field.span(), &rate.source)?;
                if !(1e-3..=1e6).contains(&rate.gb_per_s) {
                    let reason = format!(
                        "rate.gb_per_s must be 0.001 to 1000000, not {}",
                        rate.gb_per_s
                    );
                    return self.wrong(field.span(), &reason);
                }
                Some(rate.gb_per_s)
            }
        };
        Ok(Resource {
            name: resource.name.clone(),
            per_node: resource.per == Per::Node,
            servers: self.number("servers", &resource.servers, 1, 1..=4096)? as usize,
            busy: resource.wait == Wait::Busy,
            rate,
        })
    }

    fn role(&self, table: &Spanned<RoleTable>, names: &Names) -> Result<Role> {
        let role = table.get_ref();
        if role.steps.is_empty() {
            return self.wrong(table.span(), "a role needs steps");
        }
        Ok(Role {
            name: role.name.clone(),
            parts: self.number("parts", &role.parts, 1, 1..=1024)? as usize,
            steps: self.steps(&role.steps, names, 0)?,
        })
    }

    fn steps(
        &self,
        steps: &[Spanned<StepTable>],
        names: &Names,
        depth: usize,
    ) -> Result<Vec<Step>> {
        collect(steps.iter().map(|step| self.step(step, names, depth)))
    }

    fn step(&self, field: &Spanned<StepTable>, names: &Names, depth: usize) -> Result<Step> {
        let step = field.get_ref();
        let chance = match &step.chance {
            Some(chance) => self.share("chance", chance)?,
            None => 1.0,
        };
        let what = self.what(field, names, depth)?;
        Ok(Step { chance, what })
    }

    fn what(&self, field: &Spanned<StepTable>, names: &Names, depth: usize) -> Result<What> {
        let step = field.get_ref();
        let inside_lock =
            step.reads.is_some() || step.read_section.is_some() || step.inside.is_some();
        let of_use = step.time.is_some() || step.bytes.is_some();
        let plain = !inside_lock && !of_use && step.section.is_none();
        match (
            &step.think,
            &step.sleep,
            &step.lock,
            &step.put,
            &step.get,
            &step.uses,
        ) {
            (Some(time), None, None, None, None, None) if plain => {
                Ok(What::Think(self.time("think", time)?))
            }
            (None, Some(time), None, None, None, None) if plain => {
                Ok(What::Sleep(self.time("sleep", time)?))
            }
            (None, None, Some(lock), None, None, None) if !of_use => {
                self.lock_step(field, lock, names, depth)
            }
            (None, None, None, Some(queue), None, None) if !inside_lock && !of_use => {
                let (queue, section) = self.queue_step(field, queue, names, depth)?;
                Ok(What::Put { queue, section })
            }
            (None, None, None, None, Some(queue), None) if !inside_lock && !of_use => {
                let (queue, section) = self.queue_step(field, queue, names, depth)?;
                Ok(What::Get { queue, section })
            }
            (None, None, None, None, None, Some(resource))
                if !inside_lock && step.section.is_none() =>
            {
                self.use_step(field, resource, names)
            }
            _ => self.wrong(
                field.span(),
                "a step is one of: think; sleep; lock with section, read_section, reads and \
                 inside; put or get with section; use with time or bytes; each with chance",
            ),
        }
    }

    fn lock_step(
        &self,
        field: &Spanned<StepTable>,
        lock: &Spanned<String>,
        names: &Names,
        depth: usize,
    ) -> Result<What> {
        let step = field.get_ref();
        let lock = self.place("lock", lock, &names.locks)?;
        self.not_too_deep(field, depth)?;
        let section = self.maybe_time("section", &step.section)?;
        let section = section.unwrap_or(Time::Fixed(0.0));
        let read_section = self.maybe_time("read_section", &step.read_section)?;
        let reads = match &step.reads {
            Some(reads) => self.share("reads", reads)?,
            None => 0.0,
        };
        let inside = match &step.inside {
            Some(inside) => self.steps(inside.get_ref(), names, depth + 1)?,
            None => Vec::new(),
        };
        Ok(What::Lock {
            lock,
            reads,
            read_section: read_section.unwrap_or_else(|| section.clone()),
            section,
            inside,
        })
    }

    fn not_too_deep(&self, field: &Spanned<StepTable>, depth: usize) -> Result<()> {
        match depth {
            0..DEEPEST => Ok(()),
            _ => self.wrong(field.span(), &format!("locks nest {DEEPEST} deep at most")),
        }
    }

    fn queue_step(
        &self,
        field: &Spanned<StepTable>,
        queue: &Spanned<String>,
        names: &Names,
        depth: usize,
    ) -> Result<(usize, Time)> {
        let queue = self.place("queue", queue, &names.queues)?;
        self.not_too_deep(field, depth)?;
        let section = self.maybe_time("section", &field.get_ref().section)?;
        Ok((queue, section.unwrap_or(Time::Fixed(0.0))))
    }

    fn use_step(
        &self,
        field: &Spanned<StepTable>,
        resource: &Spanned<String>,
        names: &Names,
    ) -> Result<What> {
        let step = field.get_ref();
        let known: Vec<&str> = names
            .resources
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let resource = self.place("resource", resource, &known)?;
        let time = match (&step.time, &step.bytes, names.resources[resource].rate) {
            (Some(time), None, None) => self.time("time", time)?,
            (None, Some(bytes), Some(rate)) => {
                self.sourced("bytes", bytes.span(), &bytes.get_ref().source)?;
                Time::Fixed(bytes.get_ref().bytes as f64 / rate)
            }
            (_, _, None) => {
                return self.wrong(
                    field.span(),
                    "this use needs a time: the resource has no rate",
                );
            }
            (_, _, Some(_)) => {
                return self.wrong(
                    field.span(),
                    "this use needs bytes: the resource has a rate",
                );
            }
        };
        Ok(What::Use { resource, time })
    }

    /// The place of a name in a list.
    fn place(&self, what: &str, name: &Spanned<String>, known: &[&str]) -> Result<usize> {
        match known.iter().position(|known| known == name.get_ref()) {
            Some(at) => Ok(at),
            None => {
                let known = match known.is_empty() {
                    true => "there is none".to_owned(),
                    false => format!("there are: {}", known.join(", ")),
                };
                let reason = format!("there is no {what} '{}'; {known}", name.get_ref());
                self.wrong(name.span(), &reason)
            }
        }
    }
}

fn collect<T>(all: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    all.collect()
}
