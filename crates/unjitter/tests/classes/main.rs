//! Events of several classes: from model to alignment.

mod drawn;
mod gradient;
mod learned;
