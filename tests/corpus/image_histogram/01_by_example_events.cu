#include <stdio.h>
#include "labs/image_histogram/lab.h"

#define HANDLE_ERROR( err ) CUDA_CHECK( err )

__global__ void histo_kernel( const unsigned char *buffer,
                              size_t size,
                              unsigned int *histo ) {
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    size_t stride = (size_t)blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd( &histo[buffer[i]], 1 );
        i += stride;
    }
}

void image_histogram( const unsigned char *dev_buffer, unsigned *dev_histo, size_t size, void * ) {
    cudaEvent_t     start, stop;
    HANDLE_ERROR( cudaEventCreate( &start ) );
    HANDLE_ERROR( cudaEventCreate( &stop ) );
    HANDLE_ERROR( cudaEventRecord( start, 0 ) );

    HANDLE_ERROR( cudaMemset( dev_histo, 0,
                              256 * sizeof( int ) ) );

    // kernel launch - 2x the number of mps gave best timing
    cudaDeviceProp  prop;
    HANDLE_ERROR( cudaGetDeviceProperties( &prop, 0 ) );
    int blocks = prop.multiProcessorCount;
    histo_kernel<<<blocks*2,256>>>( dev_buffer, size, dev_histo );
    HANDLE_ERROR( cudaGetLastError() );

    // get stop time, and display the timing results
    HANDLE_ERROR( cudaEventRecord( stop, 0 ) );
    HANDLE_ERROR( cudaEventSynchronize( stop ) );
    float elapsedTime;
    HANDLE_ERROR( cudaEventElapsedTime( &elapsedTime,
                                        start, stop ) );
    if (getenv( "SHOW_TIME" ))
        fprintf( stderr, "Time to generate:  %3.1f ms\n", elapsedTime );
    HANDLE_ERROR( cudaEventDestroy( start ) );
    HANDLE_ERROR( cudaEventDestroy( stop ) );
}
