"""What `from classroom import use_mini` finds in the sandbox: there is only the reference."""


def use_mini(stage: int | str, upto: str = "") -> None:
    """Nothing to choose: `import mini.part5` finds the reference beside the submission."""
