"""What the user holds: Tensor, its methods by kind, and gradients."""
