//! Priors on natural values; delays and spreads are measured in the model's unit of time.
