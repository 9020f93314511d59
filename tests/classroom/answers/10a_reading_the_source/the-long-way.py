# %% wrong, each line
"a + b"  # says It enters
"Tensor.rand(3).sort()[0] + Tensor.rand(3)"  # says At most 30 are allowed
"a + c"  # says goes nowhere: NameError
59  # says has to be an expression
"m.sum()"  # hardly longer than a + b
"Tensor.rand(3).sort()[0].sum( )"  # 31 characters
"print(a)"  # there's nothing to compute

# %% right, each line
" Tensor.rand(3).sort()[0] "
"Tensor.randn(9).topk(2)[0]"  # normal numbers, and the largest
