#pragma once

#include "block/block_histogram.cuh"
#include "block/block_load.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
