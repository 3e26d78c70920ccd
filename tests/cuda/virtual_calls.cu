// Classes with virtual functions, made on the device in local memory.
// targets: 12.9:compute_80 11.8:compute_52 12.9:compute_80:debug
struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int scaled(int by) const { return area() * by; }
};

struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};

struct Rectangle : Shape {
    int w, h;
    __device__ Rectangle(int a, int b) : w(a), h(b) {}
    __device__ int area() const override { return w * h; }
    __device__ int scaled(int by) const override { return w * by * h * by; }
};

__device__ __noinline__ int measure(const Shape* shape, int by) { return shape->area() + shape->scaled(by); }

extern "C" __global__ void virtual_calls(const int* sizes, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Square square(sizes[i]);
    Rectangle rectangle(sizes[i], i);
    const Shape* chosen = i % 3 == 0 ? (const Shape*)&square : (const Shape*)&rectangle;
    out[i] = measure(chosen, i & 7);
}
