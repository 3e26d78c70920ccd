// run: nested(n=7, out=int32[7]=0)
struct in { int v[3]; short k; };
struct out { struct in a[2]; struct { int p, q; }; struct in b; int last; };
static struct in make(int k) { struct in r = { { k, k + 1, k + 2 }, k * 2 }; return r; }
static int total(struct out o) { o.a[0].v[0] = -1; int s = o.p + o.q + o.last + o.b.k; for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) s += o.a[i].v[j]; return s; }
static struct out keep;
int nested(int n, int *out)
{
    struct out o = { .a[1] = { { 4, 5, 6 }, 7 }, .p = 3, .b.v[2] = 9 };
    struct in many[4] = { [2] = make(5) };
    for (int i = 0; i < n; i++) {
        o.a[i % 2] = make(i);
        o.a[1].v[i % 3] += many[i % 4].v[1];
        o.last = make(i * 3).v[i % 3];
        struct in *p = &o.b;
        p->v[0] += o.a[0].k;
        (*p).k -= i;
        out[i] = total(o);
        keep = o;
        many[i % 4] = keep.a[0];
    }
    return keep.a[0].v[0] * 1000 + keep.b.v[0] + sizeof(struct out) + many[2].v[2];
}
