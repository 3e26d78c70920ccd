int f(int n)
{
    int a = 0x;
    int b = 08;
    int c = 1_000;
    int d = 0b12;
    int e = 12abc;
    int g = 99999999999999999999;
    int h = 0xfffffffffffffffff;
    int i = 'a;
    int j = 1.5;
    int k = 1e3;
    char l = '\q';
    char m = "\xg"[0];
    return a;
}
//~ E3003 3:13-3:15 error: `0x` is no number
//~     label 3:13-3:15: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3003 4:13-4:15 error: `08` is no number
//~     label 4:13-4:15: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3003 5:13-5:18 error: `1_000` is no number
//~     label 5:13-5:18: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3003 6:13-6:17 error: `0b12` is no number
//~     label 6:13-6:17: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3003 7:13-7:18 error: `12abc` is no number
//~     label 7:13-7:18: this literal
//~     help: write 10, 0x1f, 017 or 0b101, and u, l or ll behind it
//~ E3003 8:13-8:33 error: `99999999999999999999` does not fit 64 bits
//~     label 8:13-8:33: this literal
//~     help: write a number up to 0xffffffffffffffff
//~ E3003 9:13-9:32 error: `0xfffffffffffffffff` does not fit 64 bits
//~     label 9:13-9:32: this literal
//~     help: write a number up to 0xffffffffffffffff
//~ E3003 10:13-10:16 error: a character that does not end
//~     label 10:13-10:16: starts here
//~     help: close it with `'` on the same line
//~ E3020 11:13-11:16 error: the floating-point number `1.5` is not supported
//~     label 11:13-11:16: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
//~ E3020 12:13-12:16 error: the floating-point number `1e3` is not supported
//~     label 12:13-12:16: this literal
//~     help: scale it to an integer: 0.5 with 15 fraction bits is 16384
//~ E3003 13:14-13:18 error: '\q' has an escape that is none
//~     label 13:14-13:18: this literal
//~     help: there are \n \t \r \a \b \f \v \\ \' \x41 and \101
//~ E3003 14:14-14:19 error: "\xg" has an escape that is none
//~     label 14:14-14:19: this literal
//~     help: there are \n \t \r \a \b \f \v \\ \' \x41 and \101
