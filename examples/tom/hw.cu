// Tracking points of a heart wall over frames by normalised correlation with templates. Rodinia's algorithm and layout: arrays of
// each point in global memory, by columns; sums of all parts of a window by cumulative sums of its columns and rows.
// targets: 12.9:compute_75
// options: --fmad=false
#define THREADS 256
#define MAX_SIDE 32  // of a template
#define MAX_SUMS 128 // rows and columns of correlations

// Sums of all parts of `side` x `side` of a window of `size` x `size` with zeros around it: differences of cumulative sums.
__device__ void part_sums(const float* window, int size, int side, float* padded, float* later, float* between, float* sums) {
    int t = threadIdx.x, all = size + 2 * side, count = size + side - 1;
    for (int k = t; k < all * all; k += THREADS) {
        int row = k % all - side, column = k / all - side;
        bool inside = row >= 0 && row < size && column >= 0 && column < size;
        padded[k] = inside ? window[column * size + row] : 0.0f;
    }
    __syncthreads();
    for (int column = t; column < all; column += THREADS) {
        float sum = 0.0f;
        for (int at = column * all; at < (column + 1) * all; at++) {
            sum += padded[at];
            padded[at] = sum;
        }
    }
    __syncthreads();
    for (int k = t; k < count * all; k += THREADS) later[k] = padded[k / count * all + k % count + side];
    for (int k = t; k < count * all; k += THREADS) between[k] = padded[k / count * all + k % count];
    __syncthreads();
    for (int k = t; k < count * all; k += THREADS) between[k] = later[k] - between[k];
    __syncthreads();
    for (int row = t; row < count; row += THREADS) {
        float sum = 0.0f;
        for (int at = row; at < count * all; at += count) {
            sum += between[at];
            between[at] = sum;
        }
    }
    __syncthreads();
    for (int k = t; k < count * count; k += THREADS) later[k] = between[k + side * count];
    for (int k = t; k < count * count; k += THREADS) sums[k] = between[k];
    __syncthreads();
    for (int k = t; k < count * count; k += THREADS) sums[k] = later[k] - sums[k];
    __syncthreads();
}

// Block p tracks point p: of all places within reach of the last one, that where frame and template correlate best. The template
// follows what was found. Places are the upper left corners of templates, column then row. `work` has room for each point's arrays.
extern "C" __global__ void track(const float* frame, int width, int height, int side, int reach, int* places, float* templates,
                                 float* work, float* found) {
    __shared__ float turned[MAX_SIDE * MAX_SIDE];
    __shared__ float part[MAX_SIDE], part2[MAX_SIDE], total, spread;
    __shared__ float best[MAX_SUMS];
    __shared__ int where[MAX_SUMS];
    int t = threadIdx.x, point = blockIdx.x;
    int area = side * side, size = side + 2 * reach, all = size + 2 * side, count = size + side - 1;
    float* own = templates + point * area;
    float* window = work + point * (2 * size * size + all * all + 2 * count * all + 3 * count * count + area);
    float* square = window + size * size;
    float* padded = square + size * size;
    float* later = padded + all * all;
    float* between = later + count * all;
    float* product = between + count * all;
    float* sums = product + count * count;
    float* squares = sums + count * count;
    float* own2 = squares + count * count;

    int left = places[2 * point] - reach, top = places[2 * point + 1] - reach;
    for (int k = t; k < size * size; k += THREADS) window[k] = frame[(left + k / size) * height + top + k % size];
    for (int k = t; k < area; k += THREADS) turned[k] = own[area - 1 - k];
    __syncthreads();

    // Convolution of the window with the turned template.
    for (int k = t; k < count * count; k += THREADS) {
        int row = k % count, column = k / count;
        int first_row = max(0, row - size + 1), last_row = min(side - 1, row);
        int first_column = max(0, column - size + 1), last_column = min(side - 1, column);
        float sum = 0.0f;
        for (int c = first_column; c <= last_column; c++)
            for (int r = first_row; r <= last_row; r++) sum += turned[c * side + r] * window[(column - c) * size + row - r];
        product[k] = sum;
    }
    __syncthreads();

    part_sums(window, size, side, padded, later, between, sums);
    for (int k = t; k < size * size; k += THREADS) square[k] = window[k] * window[k];
    __syncthreads();
    part_sums(square, size, side, padded, later, between, squares);

    for (int k = t; k < count * count; k += THREADS) squares[k] = sqrtf(fmaxf(squares[k] - sums[k] * sums[k] / (float)area, 0.0f));
    for (int k = t; k < area; k += THREADS) own2[k] = own[k] * own[k];
    __syncthreads();
    for (int column = t; column < side; column += THREADS) {
        float sum = 0.0f, sum2 = 0.0f;
        for (int row = 0; row < side; row++) {
            sum += own[column * side + row];
            sum2 += own2[column * side + row];
        }
        part[column] = sum;
        part2[column] = sum2;
    }
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f, sum2 = 0.0f;
        for (int column = 0; column < side; column++) {
            sum += part[column];
            sum2 += part2[column];
        }
        float mean = sum / (float)area;
        total = sum;
        spread = sqrtf((float)(area - 1)) * sqrtf(fmaxf(sum2 / (float)area - mean * mean, 0.0f));
    }
    __syncthreads();
    for (int k = t; k < count * count; k += THREADS) squares[k] = squares[k] * spread;
    for (int k = t; k < count * count; k += THREADS) product[k] = product[k] - sums[k] * total / (float)area;
    __syncthreads();
    for (int k = t; k < count * count; k += THREADS) squares[k] = squares[k] > 0.0f ? product[k] / squares[k] : -1.0f;
    __syncthreads();

    // The largest of those whose part lies within the window: of equal ones the first.
    for (int column = side - 1 + t; column < size; column += THREADS) {
        float most = -2.0f;
        int at = 0;
        for (int row = side - 1; row < size; row++) {
            float value = squares[column * count + row];
            if (value > most) {
                most = value;
                at = row;
            }
        }
        best[column] = most;
        where[column] = at;
    }
    __syncthreads();
    if (t == 0) {
        int column = side - 1;
        for (int other = side; other < size; other++)
            if (best[other] > best[column]) column = other;
        found[point] = best[column];
        // Windows stay within the frame.
        places[2 * point] = min(max(left + column - side + 1, reach), width - side - reach);
        places[2 * point + 1] = min(max(top + where[column] - side + 1, reach), height - side - reach);
    }
    __syncthreads();
    left = places[2 * point];
    top = places[2 * point + 1];
    for (int k = t; k < area; k += THREADS) own[k] = 0.87f * own[k] + 0.13f * frame[(left + k / side) * height + top + k % side];
}
