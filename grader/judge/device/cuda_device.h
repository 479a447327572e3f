#pragma once
// The judge's own access to the GPU. It opens the driver's library at run time, so that the judge also builds and runs
// without CUDA.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/device/buffer_memory.h"
#include "grader/model/report.h"

namespace warplab {

struct DeviceLimits {
    std::string name;
    int major = 0, minor = 0;
    int multiprocessors = 0, threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0, threads_per_block = 0;
    int registers_per_multiprocessor = 0, shared_per_multiprocessor = 0, shared_per_block = 0, shared_opt_in = 0;
    int warp = 0, clock_khz = 0;
    std::size_t l2_bytes = 0, memory_bytes = 0;
    int driver_version = 0;  // the CUDA version that the driver supports, e.g. 13000
};

/// Return the reason why no GPU can be used ("the NVIDIA driver's library libcuda.so.1 is not on this machine", …);
/// empty if a GPU can be used.
std::string why_no_device();

/// Return the GPU's address on the PCI bus, e.g. "0000:05:00.0"; empty if the driver does not report it.
std::string gpu_address();

class CudaDevice : public BufferMemory {
  public:
    /// Throw std::runtime_error with why_no_device(), and OutOfMemory if other programs use all memory of the GPU.
    static CudaDevice& get();

    std::unique_ptr<Region> allocate(std::size_t bytes) override;
    void synchronise() override;
    std::size_t free_bytes() const override;

    const DeviceLimits& limits() const;
    std::string driver_version() const;  // the kernel driver's version, for example "580.159.04"
    std::optional<int> node() const;     // N of /dev/nvidiaN; none if the driver does not report it

    /// Return the bytes per second that a copy of `bytes` reads plus writes: the median of nine measurements.
    double copy_bandwidth(std::size_t bytes);
    /// Return the bytes per second of a kernel that only reads `bytes`.
    double read_bandwidth(std::size_t bytes);
    /// Keep the GPU busy for this time, so that clocks settle.
    void warm_up(double seconds);
    SampleConditions conditions() const;
    /// Clear the effects of an earlier persisting-L2 setting.
    void reset_persisting_l2();

  private:
    CudaDevice();
};

/// While an object of this type exists, copies between host and GPU use no pinned memory, so they are as slow as a
/// student's.
struct PlainCopies {
    PlainCopies();
    ~PlainCopies();
    PlainCopies(const PlainCopies&) = delete;
    PlainCopies& operator=(const PlainCopies&) = delete;
};

/// A copy of fixed size between two separate regions, which shows the device's speed after each round.
class CalibrationCopy {
  public:
    CalibrationCopy();
    /// Return the bytes per second read plus written, measured by as many copies as fit into `budget_s`, but at least 2
    /// and at most 101. The first copy is not timed.
    double measure(double budget_s);

  private:
    std::unique_ptr<Region> from_, to_;
    double copy_s_ = 0;
};

}  // namespace warplab
