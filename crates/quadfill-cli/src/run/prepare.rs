//! Data, settings and test data for a fit.

use anyhow::Result;
use quadfill::observations::Summary;
use quadfill::solve::{FitConfig, Theory};
use quadfill::views::Data;
use quadfill::{Mode, Observations};
use quadfill_io::{ColumnRoles, ReadOptions};

use super::read::read;
use super::test_set::TestSet;
use crate::flags::{FitPlan, Negatives, TestSource};
use crate::output::Output;

/// Data, settings for them, and test data.
pub(super) struct Prepared {
    pub(super) data: Data,
    pub(super) config: FitConfig,
    pub(super) test: Option<TestSet>,
    /// The theorem's settings, where they were asked for.
    pub(super) theory: Option<Theory>,
    pub(super) summary: Summary,
    /// What the columns of the data were taken for.
    pub(super) columns: Option<ColumnRoles>,
}

impl Prepared {
    pub(super) fn read(plan: &FitPlan, output: Output) -> Result<Self> {
        let mut config = plan.config.clone();
        let (data, columns) = read(&plan.data, &plan.reading, config.views.fixed(), output)?;
        let data = config.share_labels(data)?;
        let data = match &plan.negatives {
            Some(negatives) => {
                draw_negatives(data.in_memory("`negatives`")?, &config, negatives)?.into()
            }
            None => data,
        };
        let (data, test) = match &plan.test {
            None => (data, None),
            Some(TestSource::File(path)) => {
                let positions = data.source().positions.clone();
                let reading = ReadOptions { positions, ..plan.reading.clone() };
                let test = TestSet::read(path, &reading, data.modes(), data.source())?;
                (data, Some(test))
            }
            Some(TestSource::Latest(mode, share)) => {
                let mode = Mode::position(data.modes(), mode)?;
                let data = data.in_memory("a split by the latest labels")?;
                let (data, held) = data.split_latest(mode, *share)?;
                (data.into(), Some(TestSet::of(&held)))
            }
        };
        let theory = plan.theory.map(|alpha| Theory::choose(alpha, &data, &config)).transpose()?;
        let summary = match &theory {
            // The theorem's rank is large by design: no warnings about too few data.
            Some(theory) => {
                theory.apply(&mut config);
                data.summary()
            }
            None => config.summarise(&data)?,
        };
        Ok(Self { data, config, test, theory, summary, columns })
    }
}

/// Adds cells that were not observed.
fn draw_negatives(
    data: Observations,
    config: &FitConfig,
    negatives: &Negatives,
) -> Result<Observations> {
    let names = &negatives.modes;
    let named = names.iter().map(|name| Mode::position(data.modes(), name));
    let modes = if names.is_empty() {
        vec![0, data.modes().len() - 1]
    } else {
        named.collect::<Result<_, _>>()?
    };
    let interaction = config.model.interaction(data.modes().len())?;
    Ok(interaction.draw_negatives(data, negatives.count, &modes, config.seed)?)
}
