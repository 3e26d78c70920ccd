int a; int a(int n);
int f(int n, int n) { int x; int x; long x; return x; }
int f(int n) { return n; }
struct s { int a; int a; };
struct s { int b; };
enum { A, B, A };
typedef int t; typedef long t;
//~ E3058 2:18-2:19 error: `n` is defined twice
//~     label 2:18-2:19: defined again
//~     label 2:11-2:12: first defined here
//~     help: remove one, or choose another name
//~ E3058 2:34-2:35 error: `x` is defined twice
//~     label 2:34-2:35: defined again
//~     label 2:27-2:28: first defined here
//~     help: remove one, or choose another name
//~ E3058 2:42-2:43 error: `x` is defined twice
//~     label 2:42-2:43: defined again
//~     label 2:34-2:35: first defined here
//~     help: remove one, or choose another name
//~ E3058 3:5-3:6 error: `f` is defined twice
//~     label 3:5-3:6: defined again
//~     label 2:5-2:6: first defined here
//~     help: remove one, or choose another name
//~ E3058 4:23-4:24 error: `a` is defined twice
//~     label 4:23-4:24: defined again
//~     label 4:1-4:27: first defined here
//~     help: remove one, or choose another name
//~ E3058 5:1-5:20 error: a structure is defined twice
//~     label 5:1-5:20: again
//~     help: remove one definition, or choose another tag
//~ E3058 6:14-6:15 error: `A` is defined twice
//~     label 6:14-6:15: defined again
//~     label 6:8-6:9: first defined here
//~     help: remove one, or choose another name
//~ E3058 7:29-7:30 error: `t` is defined twice
//~     label 7:29-7:30: defined again
//~     label 7:13-7:14: first defined here
//~     help: remove one, or choose another name
