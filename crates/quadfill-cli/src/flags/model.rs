//! `--model`, `--kernel`: how the rows of a cell make its prediction.

use anyhow::Result;
use clap::Args;
use quadfill::model::{Kernel, ModelKind};

/// Which model.
#[derive(Debug, Args)]
pub(crate) struct ModelFlags {
    /// pairwise, transe, norms, matrix, cp, learned to fit the kernel too, or pairs:1-2,1-3 for some
    /// pairs of modes only
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Any symmetric kernel, one row per mode: "0 .5 .5; .5 0 .5; .5 .5 0"; overrides --model
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) kernel: Option<String>,
}

impl ModelFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.model.is_some() || self.kernel.is_some()
    }

    /// The model asked for, pairwise by default.
    pub(crate) fn resolve(&self) -> Result<ModelKind> {
        Ok(match (&self.kernel, &self.model) {
            (Some(text), _) => ModelKind::Kernel(Kernel::parse(text)?),
            (None, Some(name)) => name.parse()?,
            (None, None) => ModelKind::default(),
        })
    }
}
