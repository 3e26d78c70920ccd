struct s {
    int a
    int b;
    unsinged c;
    int d[];
    int *e;
    void g;
    int f(int x);
};
int f(struct s *p) { return p->a + p->b + p->c; }
//~ E3050 2:10-2:10 error: a `;` is missing here
//~     label 2:10-2:10: behind this
//~     help: write `;`
//~ E3050 4:5-4:13 error: `unsinged` is no word of the language
//~     label 4:5-4:13: not known
//~     help: did you mean `unsigned`?
//~ E3039 5:9-5:10 error: flexible array members are not supported
//~     label 5:9-5:10: has no length
//~     help: give the array its length, or pass it as a parameter of its own
//~ E3038 6:10-6:11 error: pointers in structures are not supported
//~     label 6:10-6:11: holds a pointer
//~     help: keep an index into the array instead
//~ E3060 7:10-7:11 error: an object of the type `void`, which has no values
//~     label 7:10-7:11: no value
//~     help: give it a type with values, as `int`
//~ E3060 8:9-8:10 error: the type `int (int)` is not complete
//~     label 8:9-8:10: needs a complete type
//~     help: define its members before
