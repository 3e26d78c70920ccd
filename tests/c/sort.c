// run: sort(n=25, a=int32[25]%500, order=uint16[25]=0)
// run: sort(n=1, a=int32[1]%500, order=uint16[1]=0)
#include <stdint.h>
#include <stddef.h>
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static void sift(int *a, size_t from, size_t n)
{
    for (size_t child; (child = 2 * from + 1) < n; from = child) {
        if (child + 1 < n && a[child + 1] > a[child]) child++;
        if (a[from] >= a[child]) return;
        swap(a + from, &a[child]);
    }
}
ptrdiff_t sort(size_t n, int a[n], uint16_t order[n])
{
    for (size_t i = n / 2; i-- > 0;) sift(a, i, n);
    for (size_t i = n; i-- > 1;) { swap(a, a + i); sift(a, 0, i); }
    for (size_t i = 0; i < n; i++) {
        const int *low = a, *high = a + n;
        while (low < high) {
            const int *mid = low + (high - low) / 2;
            if (*mid < (int)i * 37 - 400) low = mid + 1; else high = mid;
        }
        order[i] = low - a;
    }
    return &a[n - 1] - &a[0];
}
