// run: in_block(n=5)
// run: hidden(n=6)
// run: before(n=7)
// run: completed(n=1)
// run: single(n=4)
// run: through(n=3)
static int first = 77;
int in_block(int n)
{
    extern int first;
    return first + n;
}

static void set(int v) { first = v; }
int hidden(int n)
{
    static int first = 3;
    set(n);
    return 100 * first;
}

int before(int n)
{
    extern int later;
    later += 4;
    int get(int);
    return later + get(n);
}
int later = 9;
int get(int x) { return x * later; }

int table[];
static int element(int i) { return table[i]; }
int completed(int n) { return element(n); }
int table[3] = {7, 8, 9};

int one[];
int single(int n)
{
    one[0] = n;
    return one[0];
}

extern int pointed;
int through(int n)
{
    int *p = &pointed;
    *p += n;
    return pointed;
}
int pointed = 40;
