// Operators of a struct on host and device; an image made pixel by pixel.
#define DIM 64

struct cuComplex {
    float r;
    float i;
    __host__ __device__ cuComplex(float a, float b) : r(a), i(b) {}
    __host__ __device__ float magnitude2(void) { return r * r + i * i; }
    __host__ __device__ cuComplex operator*(const cuComplex& a) {
        return cuComplex(r * a.r - i * a.i, i * a.r + r * a.i);
    }
    __host__ __device__ cuComplex operator+(const cuComplex& a) { return cuComplex(r + a.r, i + a.i); }
};

__host__ __device__ int julia(int x, int y) {
    const float scale = 1.5;
    float jx = scale * (float)(DIM / 2 - x) / (DIM / 2);
    float jy = scale * (float)(DIM / 2 - y) / (DIM / 2);
    cuComplex c(-0.8, 0.156);
    cuComplex a(jx, jy);
    int i = 0;
    for (i = 0; i < 200; i++) {
        a = a * a + c;
        if (a.magnitude2() > 1000) return 0;
    }
    return 1;
}

__global__ void kernel(unsigned char* ptr) {
    int x = blockIdx.x;
    int y = blockIdx.y;
    int offset = x + y * gridDim.x;
    int juliaValue = julia(x, y);
    ptr[offset * 4 + 0] = 255 * juliaValue;
    ptr[offset * 4 + 1] = 0;
    ptr[offset * 4 + 2] = 0;
    ptr[offset * 4 + 3] = 255;
}

int main(void) {
    unsigned char* dev_bitmap;
    static unsigned char bitmap[DIM * DIM * 4];
    cudaMalloc((void**)&dev_bitmap, sizeof bitmap);
    dim3 grid(DIM, DIM);
    kernel<<<grid,1>>>( dev_bitmap );
    cudaMemcpy(bitmap, dev_bitmap, sizeof bitmap, cudaMemcpyDeviceToHost);
    int set = 0;
    for (int y = 0; y < DIM; ++y)
        for (int x = 0; x < DIM; ++x) {
            const int at = (x + y * DIM) * 4;
            if (bitmap[at] != 255 * julia(x, y) || bitmap[at + 3] != 255) return 1;
            set += bitmap[at] / 255;
        }
    return set > 0 ? 0 : 1;
}
