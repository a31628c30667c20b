"""How the pictures of holdings look: in the page's colours, also where a picture stands alone."""

import re

from superfed.report.style import DARK_VALUES, LIGHT_VALUES, STYLE

RULES = """
figure + figure { margin-top: 2rem; }
figcaption { margin-top: 0.5rem; }
.dot, .bar, .part0 { fill: var(--c0); }
.part1 { fill: var(--c0); fill-opacity: 0.62; }
.part2 { fill: var(--c0); fill-opacity: 0.34; }
.part3 { fill: var(--rule); }
.area { fill: var(--c0); fill-opacity: 0.28; stroke: var(--c0); stroke-width: 2; stroke-linejoin: round; }
.hover { fill: transparent; }
.dot:hover, .bar:hover, .column:hover rect { fill: var(--c1); }
.chart text.heading { fill: var(--text); font-size: 17px; font-weight: 600; }
"""

# A picture may be opened by programs that know neither the page's rules nor CSS variables.
_FONT = 'text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }'
_ALONE = "\n".join(
    [
        ".ground { fill: var(--ground); }",
        *(line for line in STYLE.splitlines() if line.startswith((".chart text", ".grid", ".axis"))),
        RULES,
    ]
)


def _in_colours(palette: str) -> str:
    colours = dict(re.findall(r"(--\w+): (#\w+);", palette))
    return re.sub(r"var\((--\w+)\)", lambda used: str(colours[used[1]]), _ALONE)


STYLE_ALONE = (
    f"{_FONT}\n{_in_colours(LIGHT_VALUES)}\n@media (prefers-color-scheme: dark) {{\n{_in_colours(DARK_VALUES)}\n}}"
)
