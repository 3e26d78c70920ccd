#include <stdint.h>;
#include <stdint.h> junk
#include
#include <>
#include ""
int16_t f(int16_t a) { return a; }
//~ W3011 1:20-1:21 warning: what stands behind the name of the file is ignored
//~     label 1:20-1:21: ignored
//~     help: remove it, or put it on a line of its own
//~ W3011 2:21-2:25 warning: what stands behind the name of the file is ignored
//~     label 2:21-2:25: ignored
//~     help: remove it, or put it on a line of its own
//~ E3004 3:2-3:9 error: `#include` without a file
//~     label 3:2-3:9: no name of a file
//~     help: write `#include "file.h"`
//~ E3004 4:10-4:12 error: `#include` without a file
//~     label 4:10-4:12: no name of a file
//~     help: write `#include <stdint.h>`
//~ E3004 5:10-5:12 error: `#include` without a file
//~     label 5:10-5:12: no name of a file
//~     help: write `#include "file.h"`
