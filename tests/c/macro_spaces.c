// run: macro_spaces(n=12, out=int64[12])
#include <stdint.h>
#define STR(x) #x
#define XSTR(x) STR(x)
#define NOTHING
#define NOTHING_OF()
#define LATER(x) x NOTHING_OF()
#define TAKES() 7
#define AROUND(x) [a x+b]
#define JOINED(x, y) [x ## y]
#define APART(x, y) [a x ## y]
%:define DIGRAPH(a, b) a %:%: b %:a
static int64_t hash(const char *s)
{
    int64_t v = 5381;
    while (*s)
        v = v * 33 + (unsigned char)*s++;
    return v;
}
void macro_spaces(int n, int64_t out<:n:>)
<%
    const int t[] = { 1, 2 };
    out[0] = hash(STR(<: %:%: <% :> %> %: a));
    out[1] = hash(XSTR(LATER(TAKES)()));
    out[2] = hash(XSTR(f NOTHING+g NOTHING -h+NOTHING i));
    out[3] = hash(XSTR(AROUND()));
    out[4] = hash(XSTR(AROUND(1)));
    out[5] = hash(XSTR(JOINED(, 5) JOINED(5,) JOINED( 5 , 6 )));
    out[6] = hash(XSTR(APART(, 5) APART(5,) APART(,)));
    out[7] = hash(XSTR(DIGRAPH(x, y)));
    out[8] = t JOINED(, 1);
    out[9] = hash(XSTR(NOTHING NOTHING a NOTHING NOTHING_OF( ) b));
    out[10] = hash(XSTR(NOTHING_OF NOTHING ()));
    out[11] = hash(XSTR(-NOTHING-NOTHING_OF()-));
%>
