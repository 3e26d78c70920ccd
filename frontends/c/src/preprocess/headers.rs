//! The headers of the C library that are known, as texts. They hold what the language has of them:
//! types, limits, and the functions that are provided (C11, 7.10, 7.18 to 7.24).

/// The headers that there are.
pub(crate) const ALL: [&str; 7] =
    ["stdint.h", "stdbool.h", "stddef.h", "limits.h", "stdlib.h", "string.h", "assert.h"];

/// The header that declares or defines a name.
pub(crate) fn declaring(name: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let declares = |line: &str| match line.strip_prefix("#define ") {
        Some(rest) => rest.split(|c| !is_part(c)).next() == Some(name),
        None => {
            let mut parts = line.split(';');
            parts.any(|part| {
                part.trim().starts_with("typedef") && part.rsplit(' ').next() == Some(name)
            }) || line.contains(&format!(" {name}("))
                || line.contains(&format!("*{name}("))
        }
    };
    // `stdlib.h` has some of what `stddef.h` is for.
    ALL.into_iter().find(|header| text(header).is_some_and(|text| text.lines().any(declares)))
}

/// The text of a header of the library.
pub(super) fn text(name: &str) -> Option<&'static str> {
    Some(match name {
        "stdint.h" => STDINT,
        "stdbool.h" => STDBOOL,
        "stddef.h" => STDDEF,
        "limits.h" => LIMITS,
        "stdlib.h" => STDLIB,
        "string.h" => STRING,
        "assert.h" => ASSERT,
        _ => return None,
    })
}

const STDINT: &str = "#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef signed char int_least8_t; typedef short int_least16_t; typedef int int_least32_t;
typedef long int_least64_t;
typedef unsigned char uint_least8_t; typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t; typedef unsigned long uint_least64_t;
typedef signed char int_fast8_t; typedef long int_fast16_t; typedef long int_fast32_t;
typedef long int_fast64_t;
typedef unsigned char uint_fast8_t; typedef unsigned long uint_fast16_t;
typedef unsigned long uint_fast32_t; typedef unsigned long uint_fast64_t;
typedef long intmax_t; typedef unsigned long uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32767-1)
#define INT32_MIN (-2147483647-1)
#define INT64_MIN (-9223372036854775807L-1)
#define INT8_MAX (127)
#define INT16_MAX (32767)
#define INT32_MAX (2147483647)
#define INT64_MAX (9223372036854775807L)
#define UINT8_MAX (255)
#define UINT16_MAX (65535)
#define UINT32_MAX (4294967295U)
#define UINT64_MAX (18446744073709551615UL)
#define INT_LEAST8_MIN INT8_MIN
#define INT_LEAST16_MIN INT16_MIN
#define INT_LEAST32_MIN INT32_MIN
#define INT_LEAST64_MIN INT64_MIN
#define INT_LEAST8_MAX INT8_MAX
#define INT_LEAST16_MAX INT16_MAX
#define INT_LEAST32_MAX INT32_MAX
#define INT_LEAST64_MAX INT64_MAX
#define UINT_LEAST8_MAX UINT8_MAX
#define UINT_LEAST16_MAX UINT16_MAX
#define UINT_LEAST32_MAX UINT32_MAX
#define UINT_LEAST64_MAX UINT64_MAX
#define INT_FAST8_MIN INT8_MIN
#define INT_FAST16_MIN INT64_MIN
#define INT_FAST32_MIN INT64_MIN
#define INT_FAST64_MIN INT64_MIN
#define INT_FAST8_MAX INT8_MAX
#define INT_FAST16_MAX INT64_MAX
#define INT_FAST32_MAX INT64_MAX
#define INT_FAST64_MAX INT64_MAX
#define UINT_FAST8_MAX UINT8_MAX
#define UINT_FAST16_MAX UINT64_MAX
#define UINT_FAST32_MAX UINT64_MAX
#define UINT_FAST64_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c ## L
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c ## U
#define UINT64_C(c) c ## UL
#define INTMAX_C(c) c ## L
#define UINTMAX_C(c) c ## UL
";

const STDBOOL: &str = "#pragma once
#define bool _Bool
#define true 1
#define false 0
#define __bool_true_false_are_defined 1
";

const STDDEF: &str = "#pragma once
typedef unsigned long size_t; typedef long ptrdiff_t; typedef int wchar_t;
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
";

const LIMITS: &str = "#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define MB_LEN_MAX 16
#define SHRT_MIN (-32767-1)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647-1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L-1L)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL-1LL)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
";

const STDLIB: &str = "#pragma once
typedef unsigned long size_t; typedef int wchar_t;
#define NULL ((void *)0)
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
int abs(int j);
long labs(long j);
long long llabs(long long j);
";

const STRING: &str = "#pragma once
typedef unsigned long size_t;
#define NULL ((void *)0)
void *memcpy(void *restrict dest, const void *restrict src, size_t n);
void *memmove(void *dest, const void *src, size_t n);
void *memset(void *s, int c, size_t n);
int memcmp(const void *s1, const void *s2, size_t n);
";

/// May be included again with another `NDEBUG`.
const ASSERT: &str = "#undef assert
#undef static_assert
#define static_assert _Static_assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __nbcc_assert_fail(#condition))
#endif
";
