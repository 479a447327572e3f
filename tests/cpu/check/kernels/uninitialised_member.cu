// The kernel that creates particles does not set their mass.
#include <cuda_runtime.h>

struct Particle {
    float x, y, z, mass;
};

__global__ void make_kernel(Particle* particles) {
    Particle* p = particles + threadIdx.x;
    p->x = p->y = p->z = threadIdx.x;
}

__global__ void weigh_kernel(const Particle* particles, float* out) {
    float x = particles[threadIdx.x].x;
    float mass = particles[threadIdx.x].mass;  //! uninitialised
    out[threadIdx.x] = x * mass;
}

int main() {
    Particle* particles;
    float* out;
    cudaMalloc(&particles, 32 * sizeof(Particle));
    cudaMalloc(&out, 32 * sizeof(float));
    make_kernel<<<1, 32>>>(particles);
    weigh_kernel<<<1, 32>>>(particles, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
