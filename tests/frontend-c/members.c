struct point { int x, y; };
int f(struct point *p, int n)
{
    struct point q;
    q->x = 1;
    p.x = 2;
    q.z = 3;
    p->yy = 2;
    n.x = 3;
    return *n + n[2];
}
//~ E3053 5:5-5:6 error: `struct point` is no pointer
//~     label 5:5-5:6: points to nothing
//~     help: members of a structure are named with `.`
//~ E3067 6:7-6:8 error: `struct point *` is a pointer
//~     label 6:7-6:8: no member
//~     help: write `->` instead of `.`
//~ E3067 7:7-7:8 error: `struct point` has no member `z`
//~     label 7:7-7:8: no member
//~     help: there are: x, y
//~ E3067 8:8-8:10 error: `struct point` has no member `yy`
//~     label 8:8-8:10: no member
//~     help: did you mean `y`?
//~ E3067 9:7-9:8 error: `int` has no members
//~     label 9:7-9:8: no member
//~     help: use a structure
//~ E3053 10:13-10:14 error: `int` is no pointer
//~     label 10:13-10:14: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
//~ E3053 10:17-10:18 error: `int` is no pointer
//~     label 10:17-10:18: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
