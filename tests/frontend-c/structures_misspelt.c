struct point { int x, y };
struct point2 { int x; int y; }
int f(int n)
{
    struct pont p;
    point q;
    p.x = 1;
    return p.x + q.y;
}
//~ E3050 1:24-1:24 error: a `;` is missing here
//~     label 1:24-1:24: behind this
//~     help: write `;`
//~ E3050 2:31-2:32 error: a `;` is missing behind this `}`
//~     label 2:31-2:32: ends a type
//~     help: write `};`, so that what follows is no part of it
//~ E3060 5:17-5:18 error: the type `struct pont` is not complete
//~     label 5:17-5:18: needs a complete type
//~     help: did you mean `struct point`?
//~ E3052 6:5-6:10 error: there is no type `point`
//~     label 6:5-6:10: no type
//~     help: write `struct point`: it is a tag
