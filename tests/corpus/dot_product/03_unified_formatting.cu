// dot product: Σ a[i]·b[i], i = 0 … n−1
// Author: Jürgen Müller-Ångström, group №3
#include "labs/dot_product/lab.h"

#define TID ( threadIdx.x )
#define GID ( blockIdx.x * ( size_t ) blockDim.x + threadIdx.x )

__global__
void
dotKernel
(
	const int *	a,
	const int *	b,
	int *		result,
	size_t		n
)
{
	__shared__ int	sh[ 1 << 8 ];

	sh[ TID ] = 0;
	if( GID < n )	sh[ TID ] = a[ GID ] * b[ GID ];
	__syncthreads( );

	// log₂(256) = 8 steps: 128 → 64 → … → 1
	for( int k = 7 ; k >= 0 ; k-- )
	{
		if( TID < ( 1u << k ) )
			sh[ TID ] += sh[ TID + ( 1 << k ) ];
		__syncthreads( );
	}

	if( !TID )	atomicAdd( result, *sh );
}

void dot_product( const int * a, const int * b, int * out, size_t n, void * scratch )
{
	cudaMemset( out, 0, sizeof( int ) );
	if( n == 0 )	return;
	dotKernel
	<<<
		( unsigned ) ( ( n + 255 ) / 256 ),
		256
	>>>
	( a, b, out, n );
	CUDA_CHECK( cudaGetLastError( ) );
}
