// run: spellings(n=0, out=int32[12]=0)
// run: spellings(n=3, out=int32[12]=0)
%:define JOIN(a, b) a %:%: b
#if (1, 2) == 2 && L'a' == 97
#define COMMA 1
#endif
struct part { int x, y; };
struct whole { struct part p; int z; };
static int length(char *s)
{
    int n = 0;
    while (*s++)
        n++;
    return n;
}
void spellings(int n, int out<:12:>)
<%
    int digraphs<:3:> = <% 1, 2, L'\xff' %>;
    char *text = "abc";
    char own[] = u8"hello";
    struct part t = { n, n + 1 };
    struct whole first = { .p = t, .p.x = 5, .z = 7 }, second = { .p = t, .p.y = 5 };
    struct part all[2] = { [0] = t, [0].x = 9, [1] = t };
    out[0] = digraphs[n % 3] + JOIN(1, 2);
    out[1] = length(text);
    text = n ? own : text;
    out[2] = length(text) + text[0] + length("");
    out[3] = first.p.x;
    out[4] = first.p.y;
    out[5] = second.p.x;
    out[6] = second.p.y;
    out[7] = all[0].y;
    out[8] = all[1].y;
    own[1] = 'x';
    out[9] = own[1];
    out[10] = sizeof "abc";
    out[11] = digraphs[2];
%>
