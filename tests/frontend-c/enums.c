enum color { RED GREEN, BLUE };
enum size { S = 1.5, M = x, L };
int f(enum colour c) { return RED + L; }
//~ E3050 1:17-1:17 error: a `,` is missing here
//~     label 1:17-1:17: behind this
//~     help: write `,`
//~ E3020 2:17-2:20 error: the floating-point number `1.5` is not supported
//~     label 2:17-2:20: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
//~ E3051 2:26-2:27 error: `x` is not declared
//~     label 2:26-2:27: not known
//~     help: declare it before
//~ E3060 3:7-3:18 error: the enumeration is not defined
//~     label 3:7-3:18: not known
//~     help: did you mean `enum color`?
