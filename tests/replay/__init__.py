"""Process replay: every kernel that tests generate, recorded, so that two commits can be compared.

    python -m tests.replay record                      the default tests, on the code that is here
    python -m tests.replay compare main                main beside the working tree
    python -m tests.replay compare main my-branch

See CONTRIBUTING.md, and `--help`.
"""
