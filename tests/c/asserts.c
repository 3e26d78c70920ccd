// run: asserts(n=5, a=int32[5])
#include <assert.h>
#include <stddef.h>
struct s { char c; int i; short h; long l; };
static_assert(offsetof(struct s, l) == 16, "layout");
_Static_assert(sizeof(struct s) == 24 && _Alignof(struct s) == 8, "size");
int asserts(int n, const int a[n])
{
    assert(n > 0);
    int most = a[0];
    for (int i = 1; i < n; i++) { most = a[i] > most ? a[i] : most; assert(most >= a[i] && "the most"); }
#define NDEBUG
#include <assert.h>
    assert(most == 12345);
    return most;
}
