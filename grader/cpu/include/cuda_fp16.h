#error "the CPU backend has no half-precision numbers: use float, or check on a GPU (BACKEND=cuda)"
