//! Sparse matrices and graphs: Matrix Market and edge lists.
