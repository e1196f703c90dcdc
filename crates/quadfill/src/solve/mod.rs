//! From an objective to a fitted model.
//!
//! [`fit`] owns the loop, the limits and the clock; solvers own a [`Step`]; observers watch from
//! outside and keep checkpoints.

pub mod als;
mod automatic;
mod climb;
mod config;
mod conjugate_gradients;
mod damping;
mod events;
mod exact;
mod exact_rank;
mod fit;
mod gauss_newton;
pub mod gibbs;
mod gradient;
mod lbfgs;
mod learned;
mod line;
mod path;
mod progress;
mod ranks;
mod row_newton;
mod row_systems;
mod runner;
mod sdp;
mod settling;
mod single;
pub mod start;
mod step;
mod theory;
mod vector;

pub use config::{FitConfig, KernelChoice, RankChoice, Solver};
pub(crate) use events::null_is_infinite;
pub use events::{Event, Fit, Observer, PathPoint, Silent, Stage, Status};
#[doc(hidden)]
pub use fit::COMPILED;
pub use fit::{fit, resume};
pub use gauss_newton::GaussNewton;
pub use gibbs::{SamplerDraws, SamplerNotes, Sampling};
pub use gradient::GradientDescent;
pub use lbfgs::Lbfgs;
pub use learned::{kernel_step, learned_sweep};
pub use progress::{Candidate, Progress, ProgressNotes, RankTrial, Settling, TrialResult};
pub use sdp::{SdpForm, SdpReport};
pub use step::{Als, Step, StepReport};
pub use theory::Theory;
