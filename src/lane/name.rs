//! Names of lanes and of their directories.
