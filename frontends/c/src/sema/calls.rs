//! Calls (C11, 6.5.2.2), and the functions of the library that are provided.

use nbcc_base::text::counted;
use nbcc_base::{Diagnostic, Span};

use super::{Sema, Symbol};
use crate::codes;
use crate::sema::tree::{Expr, ExprKind, Library};
use crate::syntax::ast;
use crate::types::{Kind, Ty, Types};

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
        "pthread_create" | "thrd_create" | "signal" | "atomic_fetch_add" | "atomic_load"
        | "atomic_store" | "atomic_init" => "one thread runs the function",
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
                    let message = format!("a value of the type {text} is called");
                    let help = "a product is written with `*`; a function is called by its name";
                    self.error(&codes::TYPE, function.span, message, "no function", help);
                }
                return self.bad(span);
            }
        };
        let text = self.name(name).to_string();
        let number = match self.lookup(name) {
            Some(Symbol::Function(number)) => number,
            Some(symbol) => {
                self.called_value(symbol, &text, function.span);
                for arg in args {
                    self.expr(arg);
                }
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
                    (_, Some(_)) if text.starts_with("va_") && self.variadic => {}
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
        let open = self.functions[number].open;
        if self.refused.has(name) && values.len() != params.len() {
            return self.bad(span);
        }
        if !open && values.len() != params.len() {
            // Where an argument is wrong its number may be.
            if values.iter().all(|value| value.ty != Types::ERROR) {
                self.wrong_count(number, values.len(), span);
            }
            return self.bad(span);
        }
        let what = format!("a parameter of `{text}`");
        for (n, value) in values.iter_mut().enumerate() {
            let given = std::mem::replace(value, self.bad(span));
            *value = match params.get(n) {
                Some(&param) => self.assigned(given, param, &what),
                None => self.promoted_argument(given, &text),
            };
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
            if open {
                let given = values.iter().map(|value| (value.ty, value.span)).collect();
                self.loose.push((number, given, span));
            }
        }
        if self.current.number.is_none() {
            let message = "a call outside of functions";
            let help = "compute the value beforehand, or in the function";
            self.error(&codes::CONSTANT, span, message, "not constant", help);
            return self.bad(span);
        }
        Expr { kind: ExprKind::Call(number, values), ty: result, span }
    }

    /// Reports that what is called is no function.
    fn called_value(&mut self, symbol: Symbol, text: &str, span: Span) {
        let (ty, declared) = match symbol {
            Symbol::Local(local) => {
                let local = &self.current.locals[local as usize];
                (Some(local.ty), Some(local.span))
            }
            Symbol::Global(number) => (Some(self.globals[number].ty), None),
            Symbol::Typedef(of) => (Some(of.ty), None),
            _ => (None, None),
        };
        if ty == Some(Types::ERROR) {
            return;
        }
        let what = match (symbol, ty) {
            (Symbol::Typedef(_), _) => "a type".to_string(),
            (_, Some(ty)) => format!("a variable of the type {}", self.text(ty)),
            (_, None) => "a constant".to_string(),
        };
        let help = match ty.map(|ty| self.types.kind(ty)) {
            Some(Kind::Array(..) | Kind::Pointer(_)) => {
                "elements are named with brackets, `a[i]`; a product is written with `*`"
            }
            _ => "a product is written with `*`; else choose the name of a function",
        };
        let message = format!("`{text}` is called and is {what}");
        let error = Diagnostic::error(&codes::TYPE, message).at(span, "no function");
        let error = match declared {
            Some(declared) => error.and(declared, "declared here"),
            None => error,
        };
        self.diagnostics.push(error.help(help));
    }

    fn wrong_count(&mut self, number: usize, given: usize, span: Span) {
        let function = &self.functions[number];
        let (text, takes) = (self.name(function.name), function.params.len());
        let takes = counted(takes, "argument");
        let message = format!("`{text}` takes {takes} and is given {given}");
        let error = Diagnostic::error(&codes::ARGUMENTS, message);
        let mut error = error.at(span, counted(given, "argument"));
        if function.span.source == span.source {
            error = error.and(function.span, "declared here");
        }
        self.diagnostics.push(error.help("give an argument for each parameter"));
    }

    /// An argument for which no declaration names a parameter, after the default promotions.
    fn promoted_argument(&mut self, given: Expr, function: &str) -> Expr {
        if given.ty == Types::VOID {
            let message = format!("`{function}` is given what has no value");
            self.error(&codes::TYPE, given.span, message, "no value", "give a value");
            return self.bad(given.span);
        }
        match self.types.as_int(given.ty) {
            Some(int) => {
                let ty = self.types.int(int.promoted());
                self.convert(given, ty)
            }
            None => given,
        }
    }

    /// Compares calls with functions whose parameters only came to be known behind them. What C leaves
    /// undefined there is refused (6.5.2.2, 6).
    pub(super) fn check_loose(&mut self) {
        for (number, given, span) in std::mem::take(&mut self.loose) {
            let function = &self.functions[number];
            if function.open || function.body.is_none() {
                continue;
            }
            if given.len() != function.params.len() {
                self.wrong_count(number, given.len(), span);
                continue;
            }
            let params: Vec<Ty> = function.params.iter().map(|param| param.ty).collect();
            for ((ty, span), param) in given.into_iter().zip(params) {
                if self.is_passed_as(ty, param) {
                    continue;
                }
                let text = self.name(self.functions[number].name);
                let (from, to) = (self.text(ty), self.text(param));
                let message = format!("{from} given to a parameter of `{text}` of the type {to}");
                let help = "declare the function with its parameters before the call";
                self.error(&codes::TYPE, span, message, "not converted", help);
            }
        }
    }

    /// Whether a value that is passed without a conversion is one of the parameter's type.
    fn is_passed_as(&self, given: Ty, param: Ty) -> bool {
        match (self.types.as_int(given), self.types.as_int(param)) {
            (Some(given), Some(param)) => given.bits() == param.bits(),
            _ => match (self.types.pointee(given), self.types.pointee(param)) {
                (Some(given), Some(param)) => self.types.compatible(given.ty, param.ty),
                _ => self.types.compatible(given, param),
            },
        }
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
