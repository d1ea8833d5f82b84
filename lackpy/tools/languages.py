"""What a definition, a call and a name look like in each language, as tables over its grammar's node kinds.

One table is read by `find_definitions`, `find_callers` and `outline` alike; a new language is a new entry.
A path is a field's name, or a position among the named children (`0` first, `-1` last).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Step = str | int


@dataclass(frozen=True, slots=True)
class Def:
    """How one node kind defines something.

    Attributes:
        type: `class`, `method`, `function` (a `method` when directly in a class), or `scope` (a class body that
            is no definition of its own, such as a Rust `impl`).
        name: Path to the name.
        value: Kinds that the `value` (or `right`) field must have, e.g. a function bound to a variable.
        body: It counts only when it has a body (`struct s {…}`, not `struct s x`).
        owner: Path to the type that a method belongs to, where the language writes it at the method.
    """

    type: str
    name: Step = "name"
    value: frozenset[str] = frozenset()
    body: bool = False
    owner: Step | None = None


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where one node kind keeps the called name and, when it isn't part of it, the receiver.

    Attributes:
        name: Path to the callee; "" = the node's first token is the name.
        receiver: Path to what the call is made on.
        text: Regular expression that the node's text must match.
    """

    name: Step
    receiver: Step | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language's tables.

    Attributes:
        grammar: The parser's name for it.
        extensions: File name endings.
        definitions: Node kind → `Def`.
        calls: Node kind → `CallSite`.
        steps: Node kind inside a name → (path to the last name, path to what stands before it).
        whole: Kinds that are a name as they stand, whatever children they have.
        own_line: A definition's line is its node's first line; else the line of its name, since annotations and
            modifiers belong to the node.
        macro_calls: Calls inside macro arguments are bare tokens: a name before a parenthesis.
        definition_hint: Regular expression over bytes that every file with a definition of `NAME` matches; "" = the
            name itself. Saves parsing files that only mention a common name.
        call_hint: The same for a call of `NAME`.
    """

    grammar: str
    extensions: tuple[str, ...]
    definitions: Mapping[str, Def]
    calls: Mapping[str, CallSite]
    steps: Mapping[str, tuple[Step, Step | None]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    own_line: bool = False
    macro_calls: bool = False
    definition_hint: str = ""
    call_hint: str = ""


_CLASS = Def("class")
_FUNCTION = Def("function")
_METHOD = Def("method")
_CALL = CallSite("function")
_PARENTHESES: dict[str, tuple[Step, Step | None]] = {"parenthesized_expression": (0, None)}

_JS_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
_JS_DEFINITIONS = {
    "function_declaration": _FUNCTION,
    "generator_function_declaration": _FUNCTION,
    "class_declaration": _CLASS,
    "class": _CLASS,
    "method_definition": _METHOD,
    "variable_declarator": Def("function", value=_JS_FUNCTIONS),
    "assignment_expression": Def("function", name="left", value=_JS_FUNCTIONS),
    "pair": Def("method", name="key", value=_JS_FUNCTIONS),
}
_JS_CALLS = {
    "call_expression": _CALL,
    "new_expression": CallSite("constructor"),
}
_JSX_CALLS = {
    "jsx_opening_element": CallSite("name"),
    "jsx_self_closing_element": CallSite("name"),
}
_JS_STEPS: dict[str, tuple[Step, Step | None]] = {
    **_PARENTHESES,
    "member_expression": ("property", "object"),
    "non_null_expression": (0, None),
    "as_expression": (0, None),
    "sequence_expression": (-1, None),
    "await_expression": (0, None),
    "instantiation_expression": (0, None),
}
_TS_DEFINITIONS = {
    **_JS_DEFINITIONS,
    "abstract_class_declaration": _CLASS,
    "interface_declaration": _CLASS,
    "type_alias_declaration": _CLASS,
    "enum_declaration": _CLASS,
    "function_signature": _FUNCTION,
    "method_signature": _METHOD,
    "abstract_method_signature": _METHOD,
    "public_field_definition": Def("method", value=_JS_FUNCTIONS),
}
_C_DEFINITIONS = {
    "function_definition": Def("function", name="declarator"),
    "struct_specifier": Def("class", body=True),
    "union_specifier": Def("class", body=True),
    "enum_specifier": Def("class", body=True),
    "type_definition": Def("class", name="declarator"),
    "preproc_function_def": _FUNCTION,
}
_C_STEPS: dict[str, tuple[Step, Step | None]] = {
    **_PARENTHESES,
    "pointer_expression": ("argument", None),
    "field_expression": ("field", "argument"),
    "function_declarator": ("declarator", None),
    "pointer_declarator": ("declarator", None),
    "array_declarator": ("declarator", None),
    "parenthesized_declarator": (0, None),
    "attributed_declarator": (0, None),
}
_JVM_DEFINITIONS = {
    "class_declaration": _CLASS,
    "interface_declaration": _CLASS,
    "enum_declaration": _CLASS,
    "record_declaration": _CLASS,
    "annotation_type_declaration": _CLASS,
    "method_declaration": _METHOD,
    "constructor_declaration": _METHOD,
    "compact_constructor_declaration": _METHOD,
}

LANGUAGES: tuple[Language, ...] = (
    Language(
        "python",
        (".py", ".pyi"),
        {"function_definition": _FUNCTION, "class_definition": _CLASS},
        # The grammar reads `type(x).y = 1` as a type alias.
        {"call": _CALL, "type_alias_statement": CallSite("", text=r"^type\s*\(")},
        # It also reads `print(a, *f(b))` as a call of `*f`.
        {**_PARENTHESES, "attribute": ("attribute", "object"), "list_splat": (0, None)},
        own_line=True,
        definition_hint=r"(?:def|class)[\s\\]+NAME",
        call_hint=r"NAME[\s)\\]*(?:#[^\n]*[\s)\\]*)*\(",
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        {**_JS_DEFINITIONS, "field_definition": Def("method", name="property", value=_JS_FUNCTIONS)},
        {**_JS_CALLS, **_JSX_CALLS},
        _JS_STEPS,
    ),
    Language("typescript", (".ts", ".mts", ".cts"), _TS_DEFINITIONS, _JS_CALLS, _JS_STEPS),
    Language("tsx", (".tsx",), _TS_DEFINITIONS, {**_JS_CALLS, **_JSX_CALLS}, _JS_STEPS),
    Language(
        "go",
        (".go",),
        {
            "function_declaration": _FUNCTION,
            "method_declaration": Def("method", owner="receiver"),
            "type_spec": _CLASS,
            "type_alias": _CLASS,
            "method_elem": _METHOD,
        },
        {"call_expression": _CALL, "type_conversion_expression": CallSite("type")},
        {
            **_PARENTHESES,
            "selector_expression": ("field", "operand"),
            "index_expression": ("operand", None),
            "type_instantiation_expression": ("type", None),
            "generic_type": ("type", None),
            "qualified_type": ("name", "package"),
            "parameter_list": (0, None),
            "parameter_declaration": ("type", None),
            "pointer_type": (0, None),
        },
    ),
    Language(
        "rust",
        (".rs",),
        {
            "function_item": _FUNCTION,
            "function_signature_item": _FUNCTION,
            "struct_item": _CLASS,
            "enum_item": _CLASS,
            "union_item": _CLASS,
            "trait_item": _CLASS,
            "type_item": _CLASS,
            "impl_item": Def("scope", name="type"),
            "macro_definition": _FUNCTION,
        },
        {"call_expression": _CALL, "macro_invocation": CallSite("macro")},
        {
            **_PARENTHESES,
            "field_expression": ("field", "value"),
            "scoped_identifier": ("name", "path"),
            "scoped_type_identifier": ("name", "path"),
            "generic_function": ("function", None),
            "generic_type": ("type", None),
            "reference_type": ("type", None),
        },
        macro_calls=True,
    ),
    Language(
        "java",
        (".java",),
        _JVM_DEFINITIONS,
        {
            "method_invocation": CallSite("name", "object"),
            "object_creation_expression": CallSite("type"),
        },
        {"generic_type": (0, None), "scoped_type_identifier": (-1, 0)},
    ),
    Language("c", (".c", ".h"), _C_DEFINITIONS, {"call_expression": _CALL}, _C_STEPS),
    Language(
        "cpp",
        (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".cu", ".cuh"),
        {**_C_DEFINITIONS, "class_specifier": Def("class", body=True), "alias_declaration": _CLASS},
        {"call_expression": _CALL, "new_expression": CallSite("type")},
        {
            **_C_STEPS,
            "reference_declarator": (0, None),
            "qualified_identifier": ("name", "scope"),
            "template_function": ("name", None),
            "template_method": ("name", None),
            "template_type": ("name", None),
        },
        whole=frozenset({"destructor_name", "operator_name", "operator_cast"}),
    ),
    Language(
        "ruby",
        (".rb", ".rake", ".gemspec"),
        {
            "method": _FUNCTION,
            "singleton_method": _FUNCTION,
            "class": _CLASS,
            "module": _CLASS,
            "singleton_class": Def("scope", name="value"),
        },
        {"call": CallSite("method", "receiver")},
        {"scope_resolution": ("name", "scope")},
        whole=frozenset({"setter", "operator"}),
    ),
    Language(
        "csharp",
        (".cs",),
        {
            "class_declaration": _CLASS,
            "interface_declaration": _CLASS,
            "struct_declaration": _CLASS,
            "enum_declaration": _CLASS,
            "record_declaration": _CLASS,
            "delegate_declaration": _CLASS,
            "method_declaration": _METHOD,
            "constructor_declaration": _METHOD,
            "local_function_statement": Def("function"),
        },
        {"invocation_expression": _CALL, "object_creation_expression": CallSite("type")},
        {
            **_PARENTHESES,
            "member_access_expression": ("name", "expression"),
            "conditional_access_expression": (-1, 0),
            "member_binding_expression": ("name", None),
            "generic_name": (0, None),
            "qualified_name": ("name", "qualifier"),
        },
    ),
    Language(
        "php",
        (".php",),
        {
            "function_definition": _FUNCTION,
            "method_declaration": _METHOD,
            "class_declaration": _CLASS,
            "interface_declaration": _CLASS,
            "trait_declaration": _CLASS,
            "enum_declaration": _CLASS,
        },
        {
            "function_call_expression": _CALL,
            "member_call_expression": CallSite("name", "object"),
            "nullsafe_member_call_expression": CallSite("name", "object"),
            "scoped_call_expression": CallSite("name", "scope"),
            "object_creation_expression": CallSite(0),
        },
        {**_PARENTHESES, "qualified_name": (-1, 0)},
        whole=frozenset({"variable_name"}),
    ),
    Language(
        "kotlin",
        (".kt", ".kts"),
        {
            "function_declaration": Def("function", name="simple_identifier"),
            "class_declaration": Def("class", name="type_identifier"),
            "object_declaration": Def("class", name="type_identifier"),
        },
        {"call_expression": CallSite(0)},
        {"navigation_expression": (-1, 0), "navigation_suffix": (-1, None)},
    ),
    Language(
        "swift",
        (".swift",),
        {
            "function_declaration": _FUNCTION,
            "protocol_function_declaration": _METHOD,
            "class_declaration": _CLASS,
            "protocol_declaration": _CLASS,
        },
        {"call_expression": CallSite(0)},
        {"navigation_expression": (-1, 0), "navigation_suffix": (-1, None), "user_type": (-1, None)},
    ),
    Language(
        "scala",
        (".scala", ".sc"),
        {
            "function_definition": _FUNCTION,
            "function_declaration": _FUNCTION,
            "class_definition": _CLASS,
            "object_definition": _CLASS,
            "trait_definition": _CLASS,
            "enum_definition": _CLASS,
        },
        {"call_expression": _CALL, "instance_expression": CallSite(0)},
        {
            "field_expression": ("field", "value"),
            "generic_function": ("function", None),
            "generic_type": (0, None),
        },
    ),
    Language(
        "lua",
        (".lua",),
        {"function_declaration": _FUNCTION},
        {"function_call": CallSite("name")},
        {"dot_index_expression": ("field", "table"), "method_index_expression": ("method", "table")},
    ),
    Language(
        "bash",
        (".sh", ".bash"),
        {"function_definition": _FUNCTION},
        {"command": CallSite("name")},
        {"command_name": (0, None)},
    ),
)

BY_EXTENSION: Mapping[str, Language] = MappingProxyType(
    {extension: language for language in LANGUAGES for extension in language.extensions}
)


def language_of(path: str) -> Language | None:
    """Return the language of a file by its name, `None` when no table covers it."""
    dot = path.rfind(".")
    return BY_EXTENSION.get(path[dot:].lower()) if dot >= 0 else None
