"""Pages: one HTML file in light and dark, which fetches nothing from elsewhere."""

from __future__ import annotations

from html import escape

STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --card: #ffffff; --ink: #1e293b; --quiet: #64748b; --rule: #e2e8f0;
  --blue: #2563eb; --soft: #bfd3fb; --track: #eef2f7; --bad: #dc7c5c; --good: #2f9e8f; --code: #f3f5f9; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151f; --card: #171e2b; --ink: #e2e8f0; --quiet: #94a3b8;
  --rule: #2b3648; --blue: #7fa9ff; --soft: #2f4a80; --track: #232d3f; --bad: #d9805f; --good: #3fb8a7;
  --code: #1d2635; } }
* { box-sizing: border-box; }
body { background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; margin: 0; }
main { max-width: 760px; margin: 0 auto; padding: 40px 20px 60px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 19px; margin: 0 0 10px; }
h2 b { color: var(--blue); letter-spacing: .06em; margin-right: 8px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 22px 24px;
  margin: 22px 0; }
p { margin: 10px 0; }
.lead, footer { color: var(--quiet); }
pre { background: var(--code); border-radius: 6px; padding: 12px 14px; overflow-x: auto; font-size: 13.5px;
  line-height: 1.5; margin: 12px 0; }
.scroll { overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; margin: 16px 0; }
"""


def page(title: str, body: str, *, style: str = "", words: str = "") -> str:
    """Return a page with a body, in the common style and perhaps one of its own; `words` close it."""
    footer = f"<footer>{words}</footer>" if words else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head><body><main>{body}{footer}</main></body></html>\n"
    )
