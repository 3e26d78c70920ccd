static int compute_sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int f(int a[4])
{
    return compute_sun(a, 4) + comptue_sum(a, 4);
}
//~ E3051 4:12-4:23 error: `compute_sun` is not declared
//~     label 4:12-4:23: not known
//~     help: did you mean `compute_sum`?
//~ E3051 4:32-4:43 error: `comptue_sum` is not declared
//~     label 4:32-4:43: not known
//~     help: did you mean `compute_sum`?
