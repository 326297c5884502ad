// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From `[topology]` to the places of CPUs and the distances of sockets.

use toml::Spanned;

use super::fault::Fault;
use super::file::{Links, Numa, Topology};
use super::model::{Distance, Place};

/// The most CPUs that a machine may have: a lock's word names them.
pub const MAX_CPUS: usize = 2047;

/// How many of each there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Sockets.
    pub sockets: usize,
    /// Dies in each.
    pub dies: usize,
    /// Clusters in each.
    pub clusters: usize,
    /// Cores in each.
    pub cores: usize,
    /// Threads of each.
    pub threads: usize,
}

impl Shape {
    /// Reads it, and refuses what no machine has.
    pub(super) fn of(topology: &Topology) -> Result<Shape, Fault> {
        let shape = Shape {
            sockets: positive("sockets", &topology.sockets)?,
            dies: positive("dies_per_socket", &topology.dies_per_socket)?,
            clusters: positive("clusters_per_die", &topology.clusters_per_die)?,
            cores: positive("cores_per_cluster", &topology.cores_per_cluster)?,
            threads: positive("threads_per_core", &topology.threads_per_core)?,
        };
        // Each is 2047 at most: the product of five fits.
        let cpus = shape.all_cores() * shape.threads;
        if cpus > MAX_CPUS {
            return Err(Fault::at(
                topology.sockets.span(),
                format!("this makes {cpus} CPUs; make it {MAX_CPUS} at most"),
            ));
        }
        Ok(shape)
    }

    /// Cores of the whole machine.
    pub fn all_cores(&self) -> usize {
        self.sockets * self.dies * self.clusters * self.cores
    }

    /// Where the CPUs are: first the first thread of each core, socket by
    /// socket, then the second ones, as Linux numbers them on most servers.
    pub(super) fn places(&self, numa: Numa) -> Vec<Place> {
        let core = |core: usize| {
            let cluster = core / self.cores;
            let die = cluster / self.clusters;
            let socket = die / self.dies;
            let node = match numa {
                Numa::Die => die,
                Numa::Socket => socket,
            };
            let [core, cluster, die, socket, node] =
                [core, cluster, die, socket, node].map(|number| number as u16);
            Place {
                core,
                cluster,
                die,
                socket,
                node,
            }
        };
        let cores = self.all_cores();
        (0..cores * self.threads)
            .map(|cpu| core(cpu % cores))
            .collect()
    }
}

fn positive(name: &str, count: &Spanned<i64>) -> Result<usize, Fault> {
    match usize::try_from(*count.get_ref()) {
        Ok(n) if (1..=MAX_CPUS).contains(&n) => Ok(n),
        _ => Err(Fault::at(
            count.span(),
            format!(
                "{name} is {}; give a number from 1 to {MAX_CPUS}",
                count.get_ref()
            ),
        )),
    }
}

/// By socket, row after row: how far apart two are.
pub(super) fn sockets(topology: &Topology, sockets: usize) -> Result<Vec<Distance>, Fault> {
    let one_of = |span| {
        let why = "links, hops and island_sockets exclude one another; keep one of them";
        Err(Fault::at(span, why))
    };
    match (&topology.links, &topology.hops, &topology.island_sockets) {
        (Some(links), Some(_), _) | (Some(links), _, Some(_)) => one_of(links.span()),
        (_, Some(hops), Some(_)) => one_of(hops.span()),
        (_, Some(hops), _) => by_hops(hops, sockets),
        (_, _, Some(size)) => islands(size, sockets),
        (Some(links), _, _) if *links.get_ref() == Links::Ring => ring(links, sockets),
        _ => Ok(matrix(sockets, |_, _| Distance::Hop1)),
    }
}

fn matrix(sockets: usize, distance: impl Fn(usize, usize) -> Distance) -> Vec<Distance> {
    let mut all = Vec::with_capacity(sockets * sockets);
    for a in 0..sockets {
        for b in 0..sockets {
            all.push(if a == b {
                Distance::Socket
            } else {
                distance(a, b)
            });
        }
    }
    all
}

fn ring(links: &Spanned<Links>, sockets: usize) -> Result<Vec<Distance>, Fault> {
    if sockets / 2 > 2 {
        return Err(Fault::at(
            links.span(),
            format!(
                "a ring of {sockets} sockets has some more than two links apart; \
                 give a machine with 5 sockets at most, or hops"
            ),
        ));
    }
    Ok(matrix(sockets, |a, b| {
        let way = a.abs_diff(b);
        hop(way.min(sockets - way))
    }))
}

fn hop(links: usize) -> Distance {
    match links {
        1 => Distance::Hop1,
        _ => Distance::Hop2,
    }
}

fn islands(size: &Spanned<i64>, sockets: usize) -> Result<Vec<Distance>, Fault> {
    let island = positive("island_sockets", size)?;
    if sockets % island != 0 {
        return Err(Fault::at(
            size.span(),
            format!("islands of {island} sockets do not divide {sockets}; give a divisor of it"),
        ));
    }
    Ok(matrix(sockets, |a, b| {
        if a / island == b / island {
            Distance::Hop1
        } else {
            Distance::Controller
        }
    }))
}

fn by_hops(hops: &Spanned<Vec<Spanned<Vec<i64>>>>, sockets: usize) -> Result<Vec<Distance>, Fault> {
    let rows = hops.get_ref();
    let size = |span, what: &str, found: usize| {
        Err(Fault::at(
            span,
            format!("{what} of hops has {found} entries; give {sockets}, one for each socket"),
        ))
    };
    if rows.len() != sockets {
        return size(hops.span(), "the matrix", rows.len());
    }
    for (a, row) in rows.iter().enumerate() {
        let entries = row.get_ref();
        if entries.len() != sockets {
            return size(row.span(), &format!("row {a}"), entries.len());
        }
        for (b, &links) in entries.iter().enumerate() {
            let sound = if a == b {
                links == 0
            } else {
                links == 1 || links == 2
            };
            if !sound {
                return Err(Fault::at(
                    row.span(),
                    format!(
                        "sockets {a} and {b} are {links} links apart; \
                         give 0 for a socket itself, and 1 or 2 for others"
                    ),
                ));
            }
            let back = rows[b].get_ref().get(a);
            if back.is_some_and(|&back| back != links) {
                return Err(Fault::at(
                    row.span(),
                    format!("hops are not the same from socket {a} to {b} and back; make them so"),
                ));
            }
        }
    }
    Ok(matrix(sockets, |a, b| {
        hop(rows[a].get_ref()[b].unsigned_abs() as usize)
    }))
}
