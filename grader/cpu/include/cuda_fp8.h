#error "the CPU backend has no 8-bit numbers: use float, or check on a GPU (BACKEND=cuda)"
