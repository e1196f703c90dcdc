//! Errors about user input. Broken internal contracts panic instead.

use std::fmt;
use std::path::PathBuf;

/// The result of anything that checks user input.
pub type Result<T> = std::result::Result<T, Error>;

/// An input that cannot be used, with the numbers that say why.
///
/// Messages name settings by the names they have here, in backticks; a program or a binding replaces
/// them by its own names for the [settings](Error::settings) that a message mentions.
///
/// ```
/// use quadfill::{Error, FitConfig, Setting};
/// let error = FitConfig { tolerance: -1.0, ..FitConfig::default() }.check().unwrap_err();
/// assert_eq!(error.to_string(), "`tolerance` is -1: it must be a number not below 0");
/// assert_eq!(error.settings(), [Setting::Tolerance]);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No observation at all.
    #[error("there are no observations: give at least one row with a value")]
    Empty,
    /// Fewer than 2 or more than 8 modes.
    #[error("the data have {got} modes: Quadfill works with 2 to 8")]
    ModeCount {
        /// How many modes there were.
        got: usize,
    },
    /// More observations than 32-bit indices can count.
    #[error("the data have {got} observations: Quadfill works with at most 4,294,967,295")]
    TooMany {
        /// How many observations there were.
        got: usize,
    },
    /// Columns of different lengths.
    #[error("column {column} has {got} entries where {expected} were expected")]
    ColumnLength {
        /// Which column.
        column: String,
        /// The length of the values column.
        expected: usize,
        /// Its own length.
        got: usize,
    },
    /// An index that is not below the number of labels.
    #[error("row {row}: index {index} of mode `{mode}` is out of range for its {labels} labels")]
    IndexOutOfRange {
        /// 0-based observation.
        row: usize,
        /// Name of the mode.
        mode: String,
        /// The offending index.
        index: u32,
        /// How many labels the mode has.
        labels: usize,
    },
    /// A value that is not a finite number.
    #[error("row {row}: the value is {value}: values must be finite numbers")]
    NotFinite {
        /// 0-based observation.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A weight that is negative or not finite.
    #[error("row {row}: the weight is {weight}: weights must be finite and not negative")]
    BadWeight {
        /// 0-based observation.
        row: usize,
        /// The weight.
        weight: f64,
    },
    /// A value or weight beyond the range of single precision.
    #[error("the number {number} is beyond the range of f32: set `precision` to f64")]
    BeyondSingle {
        /// The number.
        number: f64,
    },
    /// The same cell twice while duplicates are errors.
    #[error("cell ({cell}) is given more than once: set `on_duplicate` to mean, last or sum")]
    DuplicateCell {
        /// The labels of the cell, separated by commas.
        cell: String,
        /// 0-based observation where it is first.
        first: usize,
        /// 0-based observation that repeats it.
        second: usize,
    },
    /// Data that cannot be split as asked.
    #[error("{0}")]
    Split(String),
    /// A name that is not one of the modes.
    #[error("there is no mode `{name}`: the modes are {}", modes.join(", "))]
    UnknownMode {
        /// The name.
        name: String,
        /// The names of all modes.
        modes: Vec<String>,
    },
    /// A label that a model does not know.
    #[error(
        "`{label}` is not a label of mode `{mode}` in this model: check the spelling, or fold it in"
    )]
    UnknownLabel {
        /// The mode.
        mode: String,
        /// The label.
        label: String,
    },
    /// A time for which a model has no bin.
    #[error(
        "`{time}` is not among the times of mode `{mode}` in this model: give a time with data from \
         {} to {}",
        range.0,
        range.1
    )]
    UnknownTime {
        /// The mode.
        mode: String,
        /// The time.
        time: String,
        /// The first time of the model, and the last one.
        range: Box<(String, String)>,
    },
    /// A cell without a label in some mode.
    #[error("mode `{mode}` is missing: give a label for it")]
    MissingLabel {
        /// The mode.
        mode: String,
    },
    /// A mode for which a cell has more than one label.
    #[error("mode `{mode}` is given more than once: give it once")]
    RepeatedMode {
        /// The mode.
        mode: String,
    },
    /// Data with other modes than the model.
    #[error(
        "the model has {expected} modes but the data have {got}: name one column for each with `modes`"
    )]
    OtherModes {
        /// The modes of the model.
        expected: usize,
        /// The modes of the data.
        got: usize,
    },
    /// Data without a row whose labels the model knows.
    #[error(
        "the data and the model have no label in common in every mode: give the data that the model \
         was fitted to"
    )]
    NothingInCommon,
    /// An operation that this model does not support.
    #[error("{0}")]
    Unsupported(String),
    /// A setting that is out of range, excludes another one, or does not suit the data.
    #[error("{0}")]
    Setting(SettingError),
    /// A model file or checkpoint that cannot be read.
    #[error("{}: {reason}", path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Temporary files that cannot be written.
    #[error(
        "temporary files in {}: {source}: make room there, or name another folder in the environment \
         variable TMPDIR",
        folder.display()
    )]
    TemporaryFiles {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An error of the operating system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Error {
    /// A setting that cannot be used. `message` names settings in backticks.
    pub(crate) fn setting(message: impl Into<String>) -> Self {
        Self::Setting(SettingError::new(message.into()))
    }

    /// Temporary files that cannot be written to the folder of the system.
    pub(crate) fn temporary_files(source: std::io::Error) -> Self {
        Self::TemporaryFiles { folder: std::env::temp_dir(), source }
    }

    /// The settings that the message mentions.
    pub fn settings(&self) -> Vec<Setting> {
        match self {
            Self::Setting(error) => error.settings.clone(),
            Self::DuplicateCell { .. } => vec![Setting::OnDuplicate],
            Self::OtherModes { .. } => vec![Setting::Modes],
            Self::BeyondSingle { .. } => vec![Setting::Precision],
            Self::Unsupported(message) => SettingError::new(message.clone()).settings,
            Self::ModelFile { reason, .. } => {
                let resume = reason.contains(&Setting::Resume.to_string());
                if resume { vec![Setting::Resume] } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }
}

/// Settings that cannot be used, alone or together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError {
    /// The settings that the message mentions.
    pub settings: Vec<Setting>,
    /// What is wrong and what to do; settings are in backticks.
    pub message: String,
}

impl SettingError {
    fn new(message: String) -> Self {
        let named = message.split('`').skip(1).step_by(2);
        let mut settings: Vec<Setting> = named.filter_map(Setting::from_name).collect();
        settings.dedup();
        Self { settings, message }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

macro_rules! settings {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Everything that can be set about reading data and fitting a model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Setting {
            $($(#[$doc])* $variant,)*
        }

        impl Setting {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its name: that of the field where it is set.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

settings! {
    /// How rows make predictions.
    Model = "model",
    /// The number of columns.
    Rank = "rank",
    /// Modes that share their factors.
    Ties = "ties",
    /// The mean and the biases.
    Biases = "biases",
    /// Whether rows are drawn to a centre.
    Centre = "centre",
    /// The penalty on squared factors.
    Penalty = "penalty",
    /// How the penalty is scaled for each row.
    PenaltyScale = "penalty_scale",
    /// The quartic penalty on long rows.
    RowNormPenalty = "row_norm_penalty",
    /// The random perturbation.
    Perturb = "perturb",
    /// The weight of unobserved cells.
    Implicit = "implicit",
    /// Unobserved cells drawn as negative examples.
    Negatives = "negatives",
    /// The settings of the recovery theorem.
    Theory = "theory",
    /// The solver.
    Solver = "solver",
    /// The convex program.
    SdpForm = "sdp_form",
    /// The held-out share of the data.
    Validation = "validation",
    /// Steps of a path.
    PathSteps = "path_steps",
    /// The maximum number of iterations.
    Sweeps = "sweeps",
    /// When a solver stops.
    Tolerance = "tolerance",
    /// The fixed step of gradient descent.
    Step = "step",
    /// Seconds after which a fit ends.
    TimeLimit = "time_limit",
    /// Single or double precision.
    Precision = "precision",
    /// How data are kept during a fit.
    Views = "views",
    /// Sweeps before the first draw.
    BurnIn = "burn_in",
    /// The number of draws.
    Samples = "samples",
    /// The number of chains.
    Chains = "chains",
    /// The thinning interval of the draws.
    Thin = "thin",
    /// The prior of rows.
    Prior = "prior",
    /// What is known about the noise beforehand.
    NoisePrior = "noise_prior",
    /// How much is computed to choose a model.
    Effort = "effort",
    /// Whether draws are kept.
    KeepDraws = "keep_draws",
    /// Whether a fit resumes from a checkpoint.
    Resume = "resume",
    /// Test data.
    Test = "test",
    /// The columns that are modes.
    Modes = "modes",
    /// The column of values.
    Value = "value",
    /// The column of weights.
    Weight = "weight",
    /// What separates fields.
    Delimiter = "delimiter",
    /// The format of a file.
    Format = "format",
    /// The variable to read from a file with several.
    Variable = "variable",
    /// Columns of times that are cut into bins.
    Bins = "bins",
    /// What to do with repeated cells.
    OnDuplicate = "on_duplicate",
    /// The number of distinct words.
    Vocabulary = "vocabulary",
}

impl Setting {
    /// The setting of this name.
    ///
    /// ```
    /// use quadfill::Setting;
    /// assert_eq!(Setting::from_name("path_steps"), Some(Setting::PathSteps));
    /// assert_eq!(Setting::from_name("speed"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|setting| setting.name() == name)
    }
}

impl fmt::Display for Setting {
    /// The name in backticks, as it stands in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name())
    }
}
