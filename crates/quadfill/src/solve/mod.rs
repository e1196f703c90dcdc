//! From a problem to a fitted model.
//!
//! [`fit`](fn@fit) runs the parts of a fit, one file each; every solver implements [`Step`]; observers see
//! events, save checkpoints, and may end a fit.

pub mod als;
mod centred;
mod checked;
mod checkpoint;
mod config;
mod conjugate_gradients;
mod cp_path;
mod cp_search;
mod damping;
mod early_stopping;
mod events;
mod exact;
mod exact_rank;
mod fit;
mod fixed_penalty;
mod gauss_newton;
pub mod gibbs;
mod gradient;
mod hold_out;
mod hold_out_ranks;
mod lbfgs;
mod learned;
mod line;
mod path;
mod race;
mod refit;
mod row_newton;
mod row_systems;
mod sdp;
mod session;
mod staircase;
pub mod start;
mod state;
mod step;
mod theory;
mod vector;

pub use checkpoint::Checkpoint;
pub use config::{Choice, Effort, FitConfig, Precision, Rank, Solver};
pub(crate) use events::null_is_infinite;
pub use events::{Event, NoObserver, Observer, PathPoint, Stage, Status};
#[doc(hidden)]
pub use fit::COMPILED;
pub(crate) use fit::fit_from;
pub use fit::{Fit, fit, resume};
pub use gauss_newton::GaussNewton;
pub use gibbs::{NoisePrior, RowPriorKind, Sampling};
pub use gradient::GradientDescent;
pub use lbfgs::Lbfgs;
pub use learned::{kernel_step, learned_sweep};
pub use race::{Baselines, Contender, Heat, HeldOutError, Method, RaceReport};
pub use sdp::{SdpForm, SdpReport};
pub use step::{Als, Step, StepReport};
pub use theory::Theory;
