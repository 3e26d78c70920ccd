//! The tokens of the language. `Halide::` and `std::` before a name are skipped like white space,
//! so that code with and without qualifiers reads the same.

use logos::Logos;

use crate::syntax::ast::{Op, TypeWord};

/// What kind of mistake the lexer met. The offending text is the token's span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LexError {
    /// A character that starts no token.
    #[default]
    Character,
    /// `/*` without `*/`.
    Comment,
    /// `"` without its partner on the same line.
    Text,
    /// A number with letters that are no suffix.
    Number,
    /// A name with letters outside ASCII.
    Letters,
    /// `#define` and its like.
    Preprocessor,
}

fn block_comment(lexer: &mut Lexer<'_>) -> Result<(), LexError> {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Ok(())
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Err(LexError::Comment)
        }
    }
}

type Lexer<'a> = logos::Lexer<'a, Token>;

fn bad_letters(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Letters)
}

fn bad_number(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Number)
}

fn bad_text(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Text)
}

fn bad_preprocessor(_: &mut Lexer<'_>) -> Result<(), LexError> {
    Err(LexError::Preprocessor)
}

/// A token. Names and literals are read from the source text by their span.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"(Halide|std|Trace)[ \t]*::")]
#[logos(error = LexError)]
pub(crate) enum Token {
    /// A token that the parser never sees, because a lexer that skips it in a callback may use stack
    /// for each.
    #[token("/*", block_comment)]
    Comment,

    #[token("Func", |_| TypeWord::Func)]
    #[token("Var", |_| TypeWord::Var)]
    #[token("RVar", |_| TypeWord::RVar)]
    #[token("Expr", |_| TypeWord::Expr)]
    #[token("RDom", |_| TypeWord::RDom)]
    #[token("Tuple", |_| TypeWord::Tuple)]
    #[token("ImageParam", |_| TypeWord::ImageParam)]
    #[token("Type", |_| TypeWord::Type)]
    #[token("Target", |_| TypeWord::Target)]
    #[token("string", |_| TypeWord::Text)]
    #[token("FuncConfig", |_| TypeWord::Unfollowed)]
    #[token("GlobalConfig", |_| TypeWord::Unfollowed)]
    #[token("void", |_| TypeWord::Void)]
    #[token("auto", |_| TypeWord::Auto)]
    #[token("float", |_| TypeWord::C)]
    #[token("double", |_| TypeWord::C)]
    #[token("float16_t", |_| TypeWord::C)]
    #[token("bfloat16_t", |_| TypeWord::C)]
    #[token("bool", |_| TypeWord::C)]
    #[token("char", |_| TypeWord::C)]
    #[token("size_t", |_| TypeWord::C)]
    #[regex(r"u?int(8|16|32|64)_t", |_| TypeWord::C)]
    #[regex(r"(unsigned|signed|short|long)([ \t]+(int|char|short|long))*|int", |_| TypeWord::C)]
    Type(TypeWord),

    #[token("GeneratorParam")]
    GeneratorParam,
    #[token("vector")]
    Vector,
    #[token("Input")]
    #[token("GeneratorInput")]
    Input,
    #[token("Output")]
    #[token("GeneratorOutput")]
    Output,
    #[token("sizeof")]
    Sizeof,
    #[token("Param")]
    Param,
    #[token("Buffer")]
    Buffer,
    #[token("cast")]
    Cast,
    #[token("saturating_cast")]
    SaturatingCast,
    #[token("reinterpret")]
    Reinterpret,
    #[token("static_cast")]
    StaticCast,
    #[token("const")]
    #[token("constexpr")]
    Const,
    /// Words before a declaration or function that change nothing here.
    #[token("static")]
    #[token("inline")]
    #[token("virtual")]
    Static,
    #[token("override")]
    Override,
    #[token("class")]
    #[token("struct")]
    Class,
    #[token("public")]
    #[token("protected")]
    #[token("private")]
    Access,
    /// The macros that make a generator known by a name.
    #[token("HALIDE_REGISTER_GENERATOR")]
    #[token("HALIDE_REGISTER_GENERATOR_ALIAS")]
    Register,
    #[token("for")]
    For,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("return")]
    Return,
    #[token("using")]
    Using,
    #[token("namespace")]
    Namespace,
    #[token("true")]
    True,
    #[token("false")]
    False,

    #[token("while")]
    While,
    #[token("switch")]
    Switch,
    #[token("case")]
    Case,
    #[token("default")]
    Default,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("enum")]
    Enum,
    #[token("template")]
    Template,
    #[token("typename")]
    Typename,
    #[token("typedef")]
    Typedef,

    /// A word of C++ that this language does not have.
    #[regex("do|goto|union|new|delete|operator|try|throw")]
    Foreign,

    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    #[regex(r"[A-Za-z0-9_]*[^\x00-\x7f][A-Za-z0-9_[^\x00-\x7f]]*", bad_letters)]
    Name,
    #[regex(r"[0-9]+|0[xX][0-9a-fA-F]+", priority = 20)]
    #[regex(r"[0-9][0-9.]*[A-Za-z_][A-Za-z0-9_.]*", bad_number, priority = 1)]
    Int,
    #[regex(
        r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fF]|[0-9]+[eE][+-]?[0-9]+[fF]",
        priority = 20
    )]
    Float,
    #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+", priority = 20)]
    Double,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    #[regex(r#""([^"\\\n]|\\[^\n])*"#, bad_text)]
    Text,

    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenIndex,
    #[token("]")]
    CloseIndex,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("::")]
    Path,
    #[token("->")]
    Arrow,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("!")]
    Not,
    #[token("~")]
    Tilde,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("<")]
    Less,
    /// The `<` before a type in a call: the lexer itself never makes it.
    TemplateOpen,
    /// What no token can be made of, where it was reported.
    Bad,
    #[token(">")]
    Greater,
    #[token(">>")]
    ShiftRight,
    #[token("&")]
    Ampersand,

    #[token("*", |_| Op::Mul)]
    #[token("/", |_| Op::Div)]
    #[token("%", |_| Op::Mod)]
    #[token("<<", |_| Op::Shl)]
    #[token("<=", |_| Op::Le)]
    #[token(">=", |_| Op::Ge)]
    #[token("==", |_| Op::Eq)]
    #[token("!=", |_| Op::Ne)]
    #[token("^", |_| Op::Xor)]
    #[token("|", |_| Op::Or)]
    #[token("&&", |_| Op::LogicalAnd)]
    #[token("||", |_| Op::LogicalOr)]
    Op(Op),

    #[token("=")]
    Assign,
    #[token("+=", |_| Op::Add)]
    #[token("-=", |_| Op::Sub)]
    #[token("*=", |_| Op::Mul)]
    #[token("/=", |_| Op::Div)]
    #[token("%=", |_| Op::Mod)]
    #[token("<<=", |_| Op::Shl)]
    #[token(">>=", |_| Op::Shr)]
    #[token("&=", |_| Op::And)]
    #[token("|=", |_| Op::Or)]
    #[token("^=", |_| Op::Xor)]
    AssignOp(Op),
    #[token("++", |_| Op::Add)]
    #[token("--", |_| Op::Sub)]
    Step(Op),

    /// Lines that a file which is a pipeline by itself has no use for.
    #[regex(r"#[ \t]*(include|pragma)[^\n]*", allow_greedy = true, priority = 50)]
    Include,
    #[regex(r"#[^\n]*", bad_preprocessor, allow_greedy = true)]
    Preprocessor,
}
