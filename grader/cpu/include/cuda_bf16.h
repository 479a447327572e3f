#error "the CPU backend has no bfloat16 numbers: use float, or check on a GPU (BACKEND=cuda)"
