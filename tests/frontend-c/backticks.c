```c
int f(int n) { return n; }
```
//~ E3001 1:1-1:2 error: unexpected character ```
//~     label 1:1-1:2: starts no token
//~     help: remove it, or put it into a comment
//~ E3001 3:1-3:2 error: unexpected character ```
//~     label 3:1-3:2: starts no token
//~     help: remove it, or put it into a comment
