"""A table of the paper beside ours, for a document of one's own: booktabs, nothing else."""

from collections.abc import Sequence

from superfed.reproduce.compare import Line
from superfed.reproduce.words import METRICS, cells_of, explanation, group_title, grouped, headings, notes

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
    }
)


def latex(title: str, lines: Sequence[Line]) -> str:
    """A ``table`` environment."""
    words = headings(lines)
    columns = "l" + "r" * (len(words) - 2) + "l"
    body = [r"\toprule", _row(words), r"\midrule"]
    for number, group in enumerate(grouped(lines)):
        if number:
            body.append(r"\addlinespace")
        metric = METRICS.get(group[0].metric, group[0].metric)
        heading = escaped(f"{group_title(group)} ({metric})")
        body.append(rf"\multicolumn{{{len(words)}}}{{l}}{{\emph{{{heading}}}}} \\")
        body += [_row(cells_of(line, lines)) for line in group]
    body.append(r"\bottomrule")
    caption = escaped(" ".join([f"{title}.", *explanation(lines), *notes(lines)]))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            *body,
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escaped(text: str) -> str:
    return text.translate(SPECIAL)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"
