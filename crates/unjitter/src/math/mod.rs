//! Scalar functions that stay exact in the tails, special functions and seeded random numbers.

mod exact;
mod lanes;
mod quantile;
mod random;
mod scalar;
mod special;
mod symmetric;
mod tanh;
mod vector;

pub use exact::Exact;
pub(crate) use lanes::{LANES, Lanes, sum_in_lanes};
pub(crate) use quantile::between;
pub use quantile::{lower_median, median, quantile};
pub use random::Random;
pub use scalar::{
    correlation, log_add, log_sigmoid, log_softplus, log_sum, logit, sigmoid, softplus,
};
pub use special::{digamma, ln_gamma, normal_quantile, student_t_cdf, student_t_quantile};
pub(crate) use symmetric::{eigen, factorise, inverse, solve, solve_lower, solve_upper};
pub use tanh::tanh_in_place;
pub(crate) use vector::{exp, ln, ln_1p};
pub use vector::{exp_in_place, ln_in_place, sigmoid_in_place};
