#include "grader/judge/lab/oracle.h"

#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <new>
#include <stdexcept>

namespace warplab {

namespace {

constexpr std::size_t huge_page_bytes = 2 << 20;

/// Return zeroed pages, which the system creates at the first access; large pages if possible, because they are faster
/// to fill.
std::shared_ptr<std::byte[]> map_zeros(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (bytes >= huge_page_bytes) madvise(memory, bytes, MADV_HUGEPAGE);
    return {static_cast<std::byte*>(memory), [bytes](std::byte* pages) { munmap(pages, bytes); }};
}

}  // namespace

Array::Array(ElementType type, std::size_t count) : type_(type), count_(count) {
    if (count == 0) return;
    storage_ = map_zeros(bytes());
    data_ = storage_.get();
}

Array Array::part(std::size_t first, std::size_t count) const {
    if (first > count_ || count > count_ - first) throw std::out_of_range("Array::part reaches beyond the array");
    Array view = *this;
    if (data_) view.data_ += first * element_bytes(type_);
    view.count_ = count;
    return view;
}

Array Array::clone() const {
    Array copy(type_, count_);
    if (count_) std::memcpy(copy.data_, data_, bytes());
    return copy;
}

bool Oracle::reference_part(const Problem&, std::size_t, std::size_t, std::size_t, Array&) const { return false; }

void Oracle::shorten(Problem&) const {}

Tolerance Oracle::tolerance(const Problem&, std::size_t) const { return {}; }

bool Oracle::accepts(const Problem& problem, std::size_t buffer, std::size_t, double expected, double actual) const {
    if (std::isnan(expected) || std::isnan(actual)) return false;
    if (expected == actual && std::signbit(expected) == std::signbit(actual)) return true;
    const Tolerance allowed = tolerance(problem, buffer);
    if (allowed.absolute == 0 && allowed.relative == 0) return false;
    return std::abs(actual - expected) <= allowed.absolute + allowed.relative * std::abs(expected);
}

std::vector<Hypothesis> Oracle::hypotheses(const Situation&) const { return {}; }

std::string Oracle::investigate(const Situation&, const Experiment&) const { return ""; }

}  // namespace warplab
