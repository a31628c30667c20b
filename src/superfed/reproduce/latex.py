"""A table of the paper beside ours, for a document of one's own: booktabs and longtable, nothing else."""

import re
from collections.abc import Sequence

from superfed.reproduce.compare import Line
from superfed.reproduce.words import cells_of, group_heading, headings, laid_out

PAPER = "Hahn et al. (2022)"
"""Whose table it is, for a document that numbers its own."""
SPECIAL = str.maketrans(
    {
        "%": r"\%",
        "&": r"\&",
        "_": r"\_",
        "#": r"\#",
        "$": r"\$",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
        "±": r"$\pm$",
        "–": "--",
        "α": r"$\alpha$",
        "λ": r"$\lambda$",
        "ν": r"$\nu$",
        "μ": r"$\mu$",
        "×": r"$\times$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "−": "--",
        "†": r"$\dagger$",
    }
)
NEGATIVE = re.compile(r"(?<![\w.])-(?=\.?\d)")
"""A sign, and not the hyphen of a name or a range."""


def latex(title: str, lines: Sequence[Line]) -> str:
    """A ``longtable``, which goes on over pages: Table 4 has 264 rows. In small print, to fit between margins."""
    groups, sentences = laid_out(lines)
    words = headings(lines)
    columns = f"@{{}}l{'r' * (len(words) - 2)}l@{{}}"
    head, body = [r"\toprule", _row(words), r"\midrule"], list[str]()
    for number, group in enumerate(groups):
        if number:
            body.append(r"\addlinespace")
        body.append(rf"\multicolumn{{{len(words)}}}{{l}}{{\emph{{{escaped(group_heading(group))}}}}} \\*")
        body += [_row(cells_of(line, lines)) for line in group]
    below = [rf"\noindent {escaped(sentence)}\par" for sentence in sentences]
    if not groups:
        return "\n".join([*below, ""])
    return "\n".join(
        [
            r"{\footnotesize\setlength{\tabcolsep}{3pt}",
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{escaped(title)}.}} \\",
            *head,
            r"\endfirsthead",
            *head,
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
            *body,
            r"\end{longtable}",
            *below,
            "}",
            "",
        ]
    )


def escaped(text: str) -> str:
    return NEGATIVE.sub("$-$", text.translate(SPECIAL))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"
