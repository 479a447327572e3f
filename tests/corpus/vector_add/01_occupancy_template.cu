// The launch configuration comes from the occupancy API.
#include "labs/vector_add/lab.h"

inline cudaError_t checkCuda(cudaError_t result)
{
  if (result != cudaSuccess) {
    fprintf(stderr, "CUDA Runtime Error: %s\n", cudaGetErrorString(result));
    exit(1);
  }
  return result;
}

template <typename T>
static __global__ void add_kernel(const T *__restrict__ x, const T *__restrict__ y, T *__restrict__ z, size_t count)
{
  size_t idx = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
  if (idx < count) z[idx] = x[idx] + y[idx];
}

void vector_add(const float *a, const float *b, float *out, size_t arrayCount, void *)
{
  if (arrayCount == 0) return;
  int blockSize;    // The launch configurator returned block size
  int minGridSize;  // The minimum grid size needed to achieve the maximum occupancy for a full device launch

  checkCuda( cudaOccupancyMaxPotentialBlockSize(&minGridSize, &blockSize, add_kernel<float>, 0, 0) );
  // Round up according to array size
  size_t gridSize = (arrayCount + blockSize - 1) / blockSize;

  add_kernel<float><<<(unsigned)gridSize, blockSize>>>(a, b, out, arrayCount);
  checkCuda( cudaGetLastError() );
}

namespace {
// Owns an array on the device.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    if (count_ > 0) checkCuda( cudaMalloc(&data_, count_ * sizeof(T)) );
  }
  DeviceArray(size_t count, const T *from) : DeviceArray(count) {
    if (count_ > 0) checkCuda( cudaMemcpy(data_, from, count_ * sizeof(T), cudaMemcpyDefault) );
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  T *get() { return data_; }

 private:
  T *data_ = nullptr;
  size_t count_;
};
}  // namespace

void vector_add_host(const float *a, const float *b, float *out, size_t n)
{
  DeviceArray<float> d_a(n, a), d_b(n, b), d_out(n);
  vector_add(d_a.get(), d_b.get(), d_out.get(), n, nullptr);
  if (n > 0) checkCuda( cudaMemcpy(out, d_out.get(), n * sizeof(float), cudaMemcpyDeviceToHost) );
}
