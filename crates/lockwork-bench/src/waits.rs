// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How long threads waited: a histogram of nanoseconds.
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Two digits: a quantile is right to 1 %, and a thread's histogram small
/// enough to stay in its cache.
const DIGITS: u8 = 2;
/// An hour; a longer wait counts as one.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Waits in nanoseconds. In JSON: text that any HdrHistogram library reads (V2,
/// deflated, base64).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Waits(Histogram<u64>);

impl Waits {
    /// None yet.
    ///
    /// # Panics
    /// Never: the bounds are constants that the library accepts.
    pub fn new() -> Waits {
        let made = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Waits(made.expect("constant bounds"))
    }

    /// One more wait.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// All of another one's as well.
    ///
    /// # Panics
    /// Never: both have the same bounds.
    pub fn add(&mut self, other: &Waits) {
        self.0.add(&other.0).expect("the same bounds");
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// No wait was longer than this for the share `q` (0 to 1) of them; 0 if
    /// there are none.
    pub fn quantile(&self, q: f64) -> u64 {
        self.0.value_at_quantile(q)
    }

    /// The longest; 0 if there are none.
    pub fn longest(&self) -> u64 {
        self.0.max()
    }
}

impl Default for Waits {
    fn default() -> Waits {
        Waits::new()
    }
}

impl From<Waits> for String {
    fn from(waits: Waits) -> String {
        let mut bytes = Vec::new();
        // A vector takes all that is written to it.
        let _ = V2DeflateSerializer::new().serialize(&waits.0, &mut bytes);
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Waits {
    type Error = String;

    fn try_from(text: String) -> Result<Waits, String> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|e| format!("a histogram: {e}"))?;
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|e| format!("a histogram: {e}"))?;
        let mut waits = Waits::new();
        waits
            .0
            .add(&read)
            .map_err(|e| format!("a histogram: {e}"))?;
        Ok(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survives_json() {
        let mut waits = Waits::new();
        for ns in [0, 1, 5, 70, 70, 1_000_000, 4_000_000_000_000] {
            waits.record(ns);
        }
        let text = serde_json::to_string(&waits).expect("JSON");
        let read: Waits = serde_json::from_str(&text).expect("a histogram");
        assert_eq!(read, waits);
        assert_eq!((read.count(), read.quantile(0.5)), (7, 70));
        assert!(read.longest() >= 3_600_000_000_000);
        assert!(serde_json::from_str::<Waits>("\"AAAA\"").is_err());
        assert!(serde_json::from_str::<Waits>("\"?\"").is_err());
    }

    #[test]
    fn adds_up() {
        let (mut a, mut b) = (Waits::new(), Waits::new());
        a.record(10);
        b.record(1000);
        a.add(&b);
        assert_eq!((a.count(), a.quantile(0.5)), (2, 10));
        assert_eq!(Waits::new().quantile(0.999), 0);
    }
}
