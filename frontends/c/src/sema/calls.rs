//! Calls (C11, 6.5.2.2), and the functions of the library that are provided.

use nbcc_base::Span;

use super::{Sema, Symbol};
use crate::codes;
use crate::sema::tree::{Expr, ExprKind, Library};
use crate::syntax::ast;
use crate::types::{Ty, Types};

/// The functions that are provided, and the header that declares each.
const PROVIDED: [(&str, Library, &str); 7] = [
    ("abs", Library::Abs, "stdlib.h"),
    ("labs", Library::Abs, "stdlib.h"),
    ("llabs", Library::Abs, "stdlib.h"),
    ("memcpy", Library::Memcpy, "string.h"),
    ("memmove", Library::Memmove, "string.h"),
    ("memset", Library::Memset, "string.h"),
    ("memcmp", Library::Memcmp, "string.h"),
];

/// Functions of the library that people try, and what to do instead.
fn refused(name: &str) -> Option<&'static str> {
    Some(match name {
        "malloc" | "calloc" | "realloc" | "free" | "alloca" | "aligned_alloc" => {
            "use arrays of a constant length, or array parameters"
        }
        "printf" | "puts" | "putchar" | "fprintf" | "sprintf" | "snprintf" | "scanf"
        | "getchar" | "fopen" | "fclose" | "fread" | "fwrite" => {
            "write what is of interest into an array that is not `const`: it is an output"
        }
        "setjmp" | "longjmp" | "exit" | "abort" | "atexit" => {
            "use `return`, or `assert` where the run is to end"
        }
        "rand" | "srand" | "time" | "clock" => "give the numbers as an input array",
        "qsort" | "bsearch" => "write the sort: it may be a few lines of loops",
        "div" | "ldiv" | "lldiv" => "use `/` and `%`",
        "strlen" | "strcpy" | "strncpy" | "strcmp" | "strncmp" | "strcat" | "memchr" | "strchr"
        | "atoi" | "strtol" | "strtoul" => "write it as a loop over the characters",
        "sin" | "cos" | "tan" | "sqrt" | "exp" | "log" | "pow" | "floor" | "ceil" | "fabs"
        | "round" | "atan2" | "sqrtf" | "sinf" | "cosf" => "use a table in fixed point",
        "pthread_create" | "thrd_create" | "signal" => "one thread runs the function",
        "va_start" | "va_arg" | "va_end" => "give the function all its parameters",
        _ => return None,
    })
}

impl Sema<'_> {
    pub(super) fn call(&mut self, function: &ast::Expr, args: &[ast::Expr], span: Span) -> Expr {
        let name = match function.kind {
            ast::ExprKind::Name(name) => name,
            _ => {
                let value = self.expr(function);
                if value.ty != Types::ERROR {
                    let text = self.text(value.ty);
                    let help = "call a function by its name";
                    self.error(
                        &codes::TYPE,
                        function.span,
                        format!("{text} is called"),
                        "no function",
                        help,
                    );
                }
                return self.bad(span);
            }
        };
        let text = self.name(name).to_string();
        let number = match self.lookup(name) {
            Some(Symbol::Function(number)) => number,
            Some(_) => {
                let message = format!("`{text}` is called and is no function");
                self.error(&codes::TYPE, function.span, message, "no function", "call a function");
                return self.bad(span);
            }
            None if text == "__nbcc_assert_fail" => return self.assert_fail(args, span),
            None => {
                let provided = PROVIDED.iter().find(|(known, ..)| *known == text);
                match (provided, refused(&text)) {
                    (Some((.., header)), _) => {
                        let message = format!("`{text}` is not declared");
                        let help = format!("write `#include <{header}>`");
                        self.error(&codes::UNKNOWN, function.span, message, "not known", help);
                    }
                    (_, Some(help)) => {
                        let message = format!("the library function `{text}` is not supported");
                        self.error(&codes::LIBRARY, function.span, message, "not provided", help);
                    }
                    _ if text.starts_with("__builtin_") || text.starts_with("__atomic_") => {
                        let message = format!("`{text}` is not supported");
                        let help = "write the operation in C: the compiler finds the opcodes";
                        self.error(&codes::LIBRARY, function.span, message, "not provided", help);
                    }
                    _ => self.unknown(name, function.span),
                }
                for arg in args {
                    self.expr(arg);
                }
                return self.bad(span);
            }
        };
        let (result, params) = {
            let function = &self.functions[number];
            let params: Vec<_> = function.params.iter().map(|param| param.ty).collect();
            (function.result, params)
        };
        let mut values: Vec<Expr> = args.iter().map(|arg| self.expr(arg)).collect();
        if values.len() != params.len() {
            let (takes, given) = (params.len(), values.len());
            let message = format!("`{text}` takes {takes} arguments and is given {given}");
            let help = "give an argument for each parameter";
            self.error(&codes::ARGUMENTS, span, message, format!("{given} arguments"), help);
            return self.bad(span);
        }
        let what = format!("a parameter of `{text}`");
        for (value, &param) in values.iter_mut().zip(&params) {
            let given = std::mem::replace(value, self.bad(span));
            *value = self.assigned(given, param, &what);
        }
        if values.iter().any(|value| value.ty == Types::ERROR) || result == Types::ERROR {
            return self.bad(span);
        }
        if self.functions[number].body.is_none()
            && let Some((_, library, _)) = PROVIDED.iter().find(|(known, ..)| *known == text)
            && self.is_provided(*library, &params, result)
        {
            return Expr { kind: ExprKind::Library(*library, values), ty: result, span };
        }
        if self.dead == 0 {
            self.current.calls.push((number, span));
        }
        if self.current.number.is_none() {
            let message = "a call outside of functions";
            let help = "compute the value beforehand, or in the function";
            self.error(&codes::CONSTANT, span, message, "not constant", help);
            return self.bad(span);
        }
        Expr { kind: ExprKind::Call(number, values), ty: result, span }
    }

    /// Whether a declaration is that of the library.
    fn is_provided(&self, library: Library, params: &[Ty], result: Ty) -> bool {
        let pointers = params.iter().filter(|&&ty| self.types.is_pointer(ty)).count();
        match library {
            Library::Abs => params.len() == 1 && params[0] == result && pointers == 0,
            Library::Memcpy | Library::Memmove | Library::Memcmp => {
                pointers == 2 && params.len() == 3
            }
            Library::Memset => pointers == 1 && params.len() == 3,
        }
    }

    fn assert_fail(&mut self, args: &[ast::Expr], span: Span) -> Expr {
        let text = match args {
            [ast::Expr { kind: ast::ExprKind::Text(bytes), .. }] => {
                String::from_utf8_lossy(bytes).into_owned()
            }
            _ => String::new(),
        };
        Expr { kind: ExprKind::AssertFail(text), ty: Types::VOID, span }
    }
}
