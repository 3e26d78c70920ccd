// printf with every kind of argument, from one thread at a time.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug
#ifndef __CUDA_ON_HOST__
extern "C" __device__ int printf(const char*, ...);
#endif
extern "C" __global__ void printing(int n, float f, long long big) {
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        printf("hello\n");
        printf("n=%d f=%f big=%lld hex=%08x char=%c text=%s percent=%%\n", n, f, big, 0xbeefu, 'z', "inner");
        printf("%5d|%-5d|%+d|%05d|%x|%X|%o|%u\n", n, n, n, n, 255, 255, 8, 4000000000u);
        printf("%.3f|%10.2f|%e|%g|%g\n", 3.14159, 2.5, 12345.678, 0.0001, 1e20);
        printf("%llu %llx %hd %s\n", 18446744073709551615ull, 0x123456789abcdefull, (short)-5, n > 3 ? "many" : "few");
    }
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) {
        if (threadIdx.x == turn * 20) printf("thread %d of %d\n", threadIdx.x, blockDim.x);
        __syncthreads();
    }
}
