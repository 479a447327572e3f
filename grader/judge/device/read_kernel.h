#pragma once
// PTX of the kernel that measures read bandwidth, so that the judge needs no compiler for it. Made by
// `nvcc -arch=compute_75 -ptx` from:
//
// extern "C" __global__ void read_kernel(const uint4* data, unsigned long long count, unsigned* sink) {
//     unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x * 8 + threadIdx.x;
//     const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x * 8;
//     unsigned x = 0;
//     for (; i + 7ull * blockDim.x < count; i += step) {
//         uint4 v[8];
// #pragma unroll
//         for (int k = 0; k < 8; ++k) v[k] = __ldcs(data + i + k * blockDim.x);
// #pragma unroll
//         for (int k = 0; k < 8; ++k) x ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
//     }
//     if (x == 0x9e3779b9u) *sink = x;
// }

namespace warplab {
inline constexpr char read_kernel_ptx[] = R"ptx(
.version 6.4
.target sm_75
.address_size 64
.visible .entry read_kernel(
	.param .u64 read_kernel_param_0,
	.param .u64 read_kernel_param_1,
	.param .u64 read_kernel_param_2
)
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<80>;
	.reg .b64 	%rd<41>;
	ld.param.u64 	%rd15, [read_kernel_param_0];
	ld.param.u64 	%rd16, [read_kernel_param_1];
	ld.param.u64 	%rd17, [read_kernel_param_2];
	mov.u32 	%r3, %ctaid.x;
	cvt.u64.u32 	%rd18, %r3;
	mov.u32 	%r4, %ntid.x;
	cvt.u64.u32 	%rd1, %r4;
	mul.wide.u32 	%rd2, %r4, 8;
	mul.lo.s64 	%rd19, %rd2, %rd18;
	mov.u32 	%r5, %tid.x;
	cvt.u64.u32 	%rd20, %r5;
	add.s64 	%rd40, %rd19, %rd20;
	mul.wide.u32 	%rd4, %r4, 7;
	add.s64 	%rd21, %rd40, %rd4;
	setp.ge.u64 	%p1, %rd21, %rd16;
	@%p1 bra 	$L__BB0_5;
	cvt.u32.u64 	%r7, %rd1;
	shl.b32 	%r8, %r7, 1;
	cvt.u64.u32 	%rd5, %r8;
	mul.lo.s32 	%r9, %r7, 3;
	cvt.u64.u32 	%rd6, %r9;
	shl.b32 	%r10, %r7, 2;
	cvt.u64.u32 	%rd7, %r10;
	mul.lo.s32 	%r11, %r7, 5;
	cvt.u64.u32 	%rd8, %r11;
	mul.lo.s32 	%r12, %r7, 6;
	cvt.u64.u32 	%rd9, %r12;
	mul.lo.s32 	%r13, %r7, 7;
	cvt.u64.u32 	%rd10, %r13;
	mov.u32 	%r14, %nctaid.x;
	cvt.u64.u32 	%rd22, %r14;
	mul.lo.s64 	%rd11, %rd2, %rd22;
	cvta.to.global.u64 	%rd12, %rd17;
	mov.u32 	%r79, 0;
	shl.b64 	%rd33, %rd5, 4;
	shl.b64 	%rd34, %rd6, 4;
	shl.b64 	%rd35, %rd7, 4;
	shl.b64 	%rd36, %rd8, 4;
	shl.b64 	%rd37, %rd9, 4;
	shl.b64 	%rd38, %rd10, 4;
$L__BB0_2:
	shl.b64 	%rd31, %rd40, 4;
	add.s64 	%rd23, %rd15, %rd31;
	ld.global.cs.v4.u32 {%r15,%r16,%r17,%r18}, [%rd23];
	shl.b64 	%rd32, %rd1, 4;
	add.s64 	%rd24, %rd23, %rd32;
	ld.global.cs.v4.u32 {%r19,%r20,%r21,%r22}, [%rd24];
	add.s64 	%rd25, %rd23, %rd33;
	ld.global.cs.v4.u32 {%r23,%r24,%r25,%r26}, [%rd25];
	add.s64 	%rd26, %rd23, %rd34;
	ld.global.cs.v4.u32 {%r27,%r28,%r29,%r30}, [%rd26];
	add.s64 	%rd27, %rd23, %rd35;
	ld.global.cs.v4.u32 {%r31,%r32,%r33,%r34}, [%rd27];
	add.s64 	%rd28, %rd23, %rd36;
	ld.global.cs.v4.u32 {%r35,%r36,%r37,%r38}, [%rd28];
	add.s64 	%rd29, %rd23, %rd37;
	ld.global.cs.v4.u32 {%r39,%r40,%r41,%r42}, [%rd29];
	add.s64 	%rd30, %rd23, %rd38;
	ld.global.cs.v4.u32 {%r43,%r44,%r45,%r46}, [%rd30];
	xor.b32  	%r47, %r15, %r79;
	xor.b32  	%r48, %r47, %r16;
	xor.b32  	%r49, %r48, %r17;
	xor.b32  	%r50, %r49, %r18;
	xor.b32  	%r51, %r19, %r50;
	xor.b32  	%r52, %r51, %r20;
	xor.b32  	%r53, %r52, %r21;
	xor.b32  	%r54, %r53, %r22;
	xor.b32  	%r55, %r23, %r54;
	xor.b32  	%r56, %r55, %r24;
	xor.b32  	%r57, %r56, %r25;
	xor.b32  	%r58, %r57, %r26;
	xor.b32  	%r59, %r27, %r58;
	xor.b32  	%r60, %r59, %r28;
	xor.b32  	%r61, %r60, %r29;
	xor.b32  	%r62, %r61, %r30;
	xor.b32  	%r63, %r31, %r62;
	xor.b32  	%r64, %r63, %r32;
	xor.b32  	%r65, %r64, %r33;
	xor.b32  	%r66, %r65, %r34;
	xor.b32  	%r67, %r35, %r66;
	xor.b32  	%r68, %r67, %r36;
	xor.b32  	%r69, %r68, %r37;
	xor.b32  	%r70, %r69, %r38;
	xor.b32  	%r71, %r39, %r70;
	xor.b32  	%r72, %r71, %r40;
	xor.b32  	%r73, %r72, %r41;
	xor.b32  	%r74, %r73, %r42;
	xor.b32  	%r75, %r43, %r74;
	xor.b32  	%r76, %r75, %r44;
	xor.b32  	%r77, %r76, %r45;
	xor.b32  	%r79, %r77, %r46;
	add.s64 	%rd40, %rd40, %rd11;
	add.s64 	%rd39, %rd40, %rd4;
	setp.lt.u64 	%p2, %rd39, %rd16;
	@%p2 bra 	$L__BB0_2;
	setp.ne.s32 	%p3, %r79, -1640531527;
	@%p3 bra 	$L__BB0_5;
	mov.u32 	%r78, -1640531527;
	st.global.u32 	[%rd12], %r78;
$L__BB0_5:
	ret;
}
)ptx";
}  // namespace warplab
