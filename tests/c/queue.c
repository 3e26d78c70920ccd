// run: queue(n=30, in=int32[30]%9, out=int32[30]=0)
enum { SIZE = 8 };
struct ring { int data[SIZE]; unsigned head, tail; };
static struct ring r;
static int push(struct ring *q, int v) { if (q->tail - q->head == SIZE) return 0; q->data[q->tail++ % SIZE] = v; return 1; }
static int pop(struct ring *q, int *v) { if (q->head == q->tail) return 0; *v = q->data[q->head++ % SIZE]; return 1; }
int queue(int n, const int in[n], int out[n])
{
    int lost = 0, got = 0, v;
    for (int i = 0; i < n; i++) {
        if (!push(&r, in[i])) lost++;
        if (in[i] < 0 && pop(&r, &v)) out[got++] = v;
    }
    while (pop(&r, &v) && got < n) out[got++] = v + 100;
    return lost * 100 + got;
}
