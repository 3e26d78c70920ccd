// run: typedefs(T=3, out=int32[6]=0)
typedef int T, *PT;
typedef struct node { T T; unsigned U; } U;
typedef T row[3];
typedef const row *crow;
static T use(PT p, T n) { return *p * n; }
int typedefs(int T, int out[6])
{
    int k = T * 2;
    { typedef long T; T wide = 5000000000; k += sizeof(wide) + (T)wide % 7; }
    U u = { .T = k, .U = 4 };
    row r = { 1, 2, 3 };
    crow c = (crow)&r;
    out[0] = u.T; out[1] = u.U; out[2] = use(&u.T, 2); out[3] = (*c)[1] + sizeof(row);
    for (int U = 0; U < 2; U++) out[4 + U] = U * T;
    struct node *n = &u;
    enum { A, B = 40 } e = B;
    return n->T + e + (sizeof(U) == 8);
}
