//! Study E's rule taken literally, as a bug to be found: a stolen strand's node is inserted
//! after the victim's current node at the time of the steal, and every strand writes to its
//! current one.
//!
//! Steals are simulated, one strand at a time, so that only the rule is tested.

use crate::append_trees::program::{Random, Spawned, Step, Stop, bytes_of};

/// Which rule decides where a stolen strand's bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// After the victim's node; the victim continues in its own, also after the join.
    Literal,
    /// The same, but the victim takes a new node after the thief's after the join.
    NewNodeAfterJoin,
}

/// The list of nodes, as in PLIO: indices in serial order, and the bytes of each.
pub(crate) struct Nodes {
    order: Vec<usize>,
    bytes: Vec<Vec<u8>>,
    random: Random,
    rule: Rule,
}

impl Nodes {
    pub(crate) fn new(rule: Rule, seed: u64) -> Self {
        Self { order: vec![0], bytes: vec![Vec::new()], random: Random::new(seed), rule }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.order.iter().flat_map(|&node| self.bytes[node].iter().copied()).collect()
    }

    fn insert_behind(&mut self, node: usize) -> usize {
        let new = self.bytes.len();
        self.bytes.push(Vec::new());
        let at = self.order.iter().position(|&it| it == node).expect("it is in the list");
        self.order.insert(at + 1, new);
        new
    }

    /// Runs steps on the node `current` and returns the node it ends on.
    pub(crate) fn run(&mut self, steps: &[Step], mut current: usize) -> Result<usize, Stop> {
        for step in steps {
            current = match step {
                Step::Write { id, len } => {
                    self.bytes[current].extend(bytes_of(*id, *len));
                    current
                }
                Step::Join(a, b) if self.random.below(2) == 0 => self.steal(a, b, current)?,
                Step::Join(a, b) => {
                    let current = self.run(a, current)?;
                    self.run(b, current)?
                }
                Step::Scope(spawned) => {
                    for it in spawned {
                        current = match it {
                            Spawned::Task(steps) => self.run(steps, current)?,
                            Spawned::Here(step) => {
                                self.run(std::slice::from_ref(step), current)?
                            }
                        };
                    }
                    current
                }
                Step::Loop(items) => {
                    for item in items {
                        current = self.run(item, current)?;
                    }
                    current
                }
                Step::OtherPool(steps) => self.run(steps, current)?,
                // Failures are left out of these programs: the rule says nothing about them.
                Step::Yield | Step::Catch(_) | Step::Fail | Step::Panic => current,
            };
        }
        Ok(current)
    }

    fn steal(&mut self, a: &[Step], b: &[Step], current: usize) -> Result<usize, Stop> {
        let thief = self.insert_behind(current);
        let end_of_a = self.run(a, current)?;
        let end_of_b = self.run(b, thief)?;
        Ok(match self.rule {
            Rule::Literal => end_of_a,
            Rule::NewNodeAfterJoin => self.insert_behind(end_of_b),
        })
    }
}

/// The same program without failures.
pub(crate) fn without_failures(steps: Vec<Step>) -> Vec<Step> {
    let clean = without_failures;
    let keep = |step| match step {
        Step::Join(a, b) => Some(Step::Join(clean(a), clean(b))),
        Step::Scope(spawned) => Some(Step::Scope(
            spawned
                .into_iter()
                .filter_map(|it| match it {
                    Spawned::Task(steps) => Some(Spawned::Task(clean(steps))),
                    Spawned::Here(step) => clean(vec![step]).pop().map(Spawned::Here),
                })
                .collect(),
        )),
        Step::Loop(items) => Some(Step::Loop(items.into_iter().map(clean).collect())),
        Step::OtherPool(steps) => Some(Step::OtherPool(clean(steps))),
        Step::Catch(_) | Step::Fail | Step::Panic => None,
        step => Some(step),
    };
    steps.into_iter().filter_map(keep).collect()
}
