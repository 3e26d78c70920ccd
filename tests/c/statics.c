// run: statics(n=6, out=int32[6]=0)
static int history[4];
static struct { int at; short weight[2]; } state = { .weight = { 3, 1 } };
static int *cursor = &history[1];
static const int *table, small[] = { 9, 8, 7 };
static int filter(int v)
{
    static int last, seen[3] = { -1, -1 };
    static unsigned char wraps = 254;
    history[state.at++ % 4] = v;
    seen[wraps++ % 3] = v;
    last = last * state.weight[1] + v * state.weight[0] + seen[0];
    return last;
}
int statics(int n, int out[n])
{
    for (int i = 0; i < n; i++) {
        out[i] = filter(i) + *cursor;
        if (++cursor == history + 4) cursor = history;
    }
    int before = table == 0;
    table = small;
    return history[0] + history[3] * 10 + table[2] * 100 + before * 1000;
}
