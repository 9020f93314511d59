"""Methods of Tensor with mathematics of their own, which a first reading can leave out."""
