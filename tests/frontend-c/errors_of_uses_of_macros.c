#define SET(p, v) do { (p)->x = (v); (p)->y = (v) } while (0)
struct s { int x, y; };
void f(struct s *p, int n)
{
    SET(p, n);
    SET(n, p);
}
//~ E3050 5:5-5:8 error: a `;` is missing here
//~     label 5:5-5:8: behind this
//~     label 1:9-1:12: macro `SET` is defined here
//~     help: write `;`
//~ E3053 6:9-6:10 error: `int` is no pointer
//~     label 6:9-6:10: points to nothing
//~     help: only arrays and pointers have elements: declare it as one of them
