int f(int n)
{
    break;
    continue;
    if (n) break;
    switch (n) { continue; }
    default: n = 2;
    case 3: n = 4;
    return n;
}
//~ E3059 3:5-3:11 error: `break` outside of a loop or switch
//~     label 3:5-3:11: leaves nothing
//~     help: remove it
//~ W3071 4:5-4:14 note: this is never reached
//~     label 4:5-4:14: behind a jump
//~     help: remove it, or the jump before it
//~ E3059 4:5-4:14 error: `continue` outside of a loop
//~     label 4:5-4:14: leaves nothing
//~     help: remove it
//~ E3059 5:12-5:18 error: `break` outside of a loop or switch
//~     label 5:12-5:18: leaves nothing
//~     help: remove it
//~ E3059 6:18-6:27 error: `continue` outside of a loop
//~     label 6:18-6:27: leaves nothing
//~     help: remove it
//~ E3059 7:5-7:20 error: `default` outside of a switch
//~     label 7:5-7:20: is for no value
//~     help: remove it
//~ E3059 8:10-8:11 error: `case` outside of a switch
//~     label 8:10-8:11: is for no value
//~     help: remove it
