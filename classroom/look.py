"""How a page looks that a command here writes: one file of HTML that needs nothing else, light or
dark as its reader likes it, on a phone or on paper. A portfolio, feedback, a class are such pages.

Nothing is told by red and green. What is right is blue and what isn't is orange, which all eyes
tell apart (Okabe and Ito, Color Universal Design, 2008), and a word always says it too.
"""

from __future__ import annotations

import html

STYLE = """
:root{color-scheme:light dark;--page:#faf8f4;--card:#fff;--ink:#1c2430;--soft:#5d6673;
--line:#e4dfd5;--main:#2459b8;--pale:#dbe6f8;--warm:#b43c0a;--miss:#e3ddd1}
@media(prefers-color-scheme:dark){:root{--page:#12161d;--card:#1a2029;--ink:#e8eaee;--soft:#a0a9b6;
--line:#2c3440;--main:#7fb0ff;--pale:#22324d;--warm:#ff9a62;--miss:#2c3440}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:46rem;margin:0 auto;padding:3.5rem 1.25rem 4rem}
h1{font:700 clamp(2.3rem,8vw,3.6rem)/1.05 Georgia,"Times New Roman",serif;letter-spacing:-.02em;
margin:0 0 .6rem;overflow-wrap:anywhere}
header p{color:var(--soft);font-size:1.1rem;margin:.2rem 0;max-width:38rem}
h2{font:700 1.6rem/1.2 Georgia,"Times New Roman",serif;margin:0 0 .5rem}
h3{font-size:1rem;font-weight:600;margin:0;line-height:1.35}
p{margin:.4rem 0}
section{margin-top:3.2rem}
section>p{color:var(--soft);max-width:38rem}
.tiles{display:flex;flex-wrap:wrap;gap:1px;margin-top:2.2rem;background:var(--line);
border:1px solid var(--line);border-radius:14px;overflow:hidden}
.tiles div{flex:1 1 9rem;background:var(--card);padding:1.1rem 1.1rem 1.2rem}
.tiles b{display:block;font:700 2.1rem/1.1 Georgia,"Times New Roman",serif;color:var(--main)}
.tiles span{display:block;margin-top:.35rem;color:var(--soft);font-size:.86rem;line-height:1.4}
ul{list-style:none;margin:1.3rem 0 0;padding:0}
.rows li{padding:.75rem 0;border-top:1px solid var(--line)}
.rows p,.cards p{color:var(--soft);font-size:.9rem;margin:.25rem 0 0}
.bar{height:8px;border-radius:4px;background:var(--miss);overflow:hidden;margin-top:.45rem}
.bar{display:flex}
.bar i.light{opacity:.45}
.bar i{display:block;height:100%;border-radius:4px;background:var(--main);min-width:3px}
figure{margin:1.3rem 0 0;background:var(--card);border:1px solid var(--line);border-radius:14px;
padding:1rem .8rem .9rem}
figcaption{color:var(--soft);font-size:.9rem;padding:.5rem .5rem 0}
svg{display:block;width:100%;height:auto;max-width:560px;margin:0 auto}
svg text{font:10px system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;fill:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:.7;fill:none}
@media print{:root{color-scheme:light;--page:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;
--main:#2459b8;--pale:#dbe6f8;--warm:#b43c0a;--miss:#ddd}
body{font-size:11pt}main{max-width:none;padding:0}section{margin-top:1.6rem}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
li,figure,.tiles{break-inside:avoid}h2,section>p{break-after:avoid}}
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">{mark}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def document(title: str, body: str, style: str = "", mark: str = "") -> str:
    """The whole page. title: as text; body: as HTML; style: what this kind of page needs more."""
    return PAGE.format(title=html.escape(title), body=body, style=STYLE + style, mark=mark)


def bar(*shares: float) -> str:
    """A bar that is filled to so many percent; a second share follows in a lighter colour. Words
    beside it say the same."""
    filled = (
        f'<i{" class=light" * (n > 0)} style="width:{min(100.0, share):.1f}%"></i>'
        for n, share in enumerate(shares)
        if share > 0
    )
    return f'<div class="bar">{"".join(filled)}</div>'


def counted(number: int, thing: str) -> str:
    """1 student, 2 students."""
    return f"{number} {thing}{'s' * (number != 1)}"
