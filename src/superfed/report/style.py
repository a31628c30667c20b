"""How the page looks: light and dark, on a phone, on paper. Colours differ for people who see few, too.

The six colours keep a CIE76 distance above 28 from each other in normal vision and in simulated protanopia,
deuteranopia and tritanopia, and a contrast above 3:1 with the background. Lines differ in their marks as well.
"""

LIGHT = ("#0050d3", "#be830d", "#059a5f", "#ad1e91", "#684200", "#263534")
DARK = ("#3f7df5", "#e06839", "#28db8d", "#e888df", "#dae254", "#c5f7ee")
NUM_COLOURS = len(LIGHT)


def _colours(palette: tuple[str, ...]) -> str:
    return " ".join(f"--c{i}: {colour};" for i, colour in enumerate(palette))


LIGHT_VALUES = (
    f"--ground: #ffffff; --raised: #f5f6f8; --text: #1b1f24; --quiet: #5b6470; --rule: #d9dde3; {_colours(LIGHT)}"
)
DARK_VALUES = (
    f"--ground: #14171a; --raised: #1d2227; --text: #e8eaed; --quiet: #a2abb6; --rule: #363d45; {_colours(DARK)}"
)

_SERIES = "\n".join(
    f".stroke.c{i}, .band.c{i} {{ stroke: var(--c{i}); }} .mark.c{i}, .band.c{i} {{ fill: var(--c{i}); }}"
    for i in range(NUM_COLOURS)
)

STYLE = f"""
:root {{ color-scheme: light dark; {LIGHT_VALUES} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {DARK_VALUES} }} }}
* {{ box-sizing: border-box; }}
html {{ -webkit-text-size-adjust: 100%; }}
body {{
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 70rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}}
h1 {{ font-size: 1.75rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 0.75rem; }}
h3 {{ font-size: 1rem; margin: 1.25rem 0 0.5rem; }}
p, dl, figcaption {{ max-width: 48rem; overflow-wrap: anywhere; }}
.lead {{ font-size: 1.05rem; }}
.note, figcaption {{ color: var(--quiet); font-size: 0.9rem; }}
.warning {{ border-left: 0.25rem solid var(--c1); padding-left: 0.75rem; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }}
.note {{ margin: 0.5rem 0; }}
th, td {{ padding: 0.4rem 0.75rem; text-align: right; vertical-align: top; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; padding-left: 0; }}
thead th {{ border-bottom: 2px solid var(--rule); vertical-align: bottom; font-weight: 600; }}
tbody tr + tr > * {{ border-top: 1px solid var(--rule); }}
tbody th {{ font-weight: 600; }}
tbody th small, td small {{ display: block; font-weight: 400; color: var(--quiet); font-size: 0.88em; }}
tbody th small {{ white-space: normal; min-width: 9rem; max-width: 18rem; }}
td.same {{ color: var(--quiet); text-align: center; }}
td.words, th.words {{ text-align: left; }}
td.headline, th.headline {{ background: var(--raised); }}
td.best {{ font-weight: 700; }}
code {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 0.85em; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0 0 0.4rem 1rem; }}
dl.facts {{ display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; font-size: 0.9rem; }}
dl.facts dd {{ margin: 0; }}
details {{ margin: 0.75rem 0; font-size: 0.9rem; }}
summary {{ cursor: pointer; color: var(--quiet); }}
figure {{ margin: 0; }}
svg.chart {{ display: block; width: 100%; height: auto; }}
.chart text {{ font-size: 13px; fill: var(--quiet); }}
.chart text.title, .chart text.name {{ fill: var(--text); }}
.grid {{ stroke: var(--rule); fill: none; }}
.axis {{ stroke: var(--quiet); fill: none; }}
.hair {{ stroke: var(--quiet); stroke-width: 0.75; fill: none; }}
.stroke {{ fill: none; stroke-width: 2.25; stroke-linejoin: round; }}
.band {{ fill-opacity: 0.13; stroke-opacity: 0.3; stroke-width: 1; }}
.mark {{ stroke: var(--ground); stroke-width: 1; }}
{_SERIES}
.legend {{ list-style: none; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0.5rem 0; padding: 0; }}
.legend li {{ font-size: 0.9rem; overflow-wrap: anywhere; }}
.chart.narrow {{ display: none; }}
@media screen and (max-width: 44rem) {{
  .chart.wide {{ display: none; }}
  .chart.narrow {{ display: block; }}
  h1 {{ font-size: 1.4rem; }}
  dl.facts {{ display: block; }}
}}
@media print {{
  html {{ font-size: 9.5pt; }}
  body {{ max-width: none; padding: 0; }}
  .scroll {{ overflow: visible; }}
  th, td {{ padding: 0.2rem 0.35rem; }}
  figure, tr {{ break-inside: avoid; }}
  h2 {{ break-after: avoid; }}
}}
"""
