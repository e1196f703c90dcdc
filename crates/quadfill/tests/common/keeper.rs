//! An observer that keeps checkpoints.

use std::ops::ControlFlow;

use quadfill::solve::{Event, Observer, Stage};

/// Keeps every so many checkpoints, with what was being done.
#[derive(Default)]
pub(crate) struct Keeper {
    pub(crate) kept: Vec<(Stage, Vec<u8>)>,
    /// The cells whose predictions a sampler averages.
    pub(crate) cells: Vec<Vec<u32>>,
    every: usize,
    seen: usize,
    stage: Option<Stage>,
}

impl Keeper {
    /// Keeps the first of every so many.
    pub(crate) fn every(every: usize) -> Self {
        Self { every, ..Self::default() }
    }
}

impl Observer for Keeper {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Stage { stage, .. } => self.stage = Some(stage),
            Event::Checkpoint(checkpoint) => {
                assert!(!checkpoint.is_last);
                if self.seen.is_multiple_of(self.every.max(1)) {
                    let bytes = checkpoint.to_bytes().expect("it is written");
                    self.kept.push((self.stage.expect("a stage has begun"), bytes));
                }
                self.seen += 1;
            }
            Event::Step { .. } => {}
        }
        ControlFlow::Continue(())
    }

    fn tracked_cells(&self) -> &[Vec<u32>] {
        &self.cells
    }
}
