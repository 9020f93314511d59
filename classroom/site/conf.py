"""How Sphinx makes the site: its settings, by the names that it gives them."""

project = "tinyframe"
author = "The tinyframe authors"
extensions = ["myst_nb"]

nb_execution_mode = "off"  # what a cell printed is in the notebook
nb_merge_streams = True
myst_enable_extensions: list[str] = []  # no mathematics, so that no page asks for MathJax
myst_heading_anchors = 4
myst_html_meta = {
    "description": "A deep-learning framework that you can read, and a course that takes it apart."
}
suppress_warnings = ["misc.highlighting_failure", "myst.header", "toc.not_included"]
exclude_patterns = ["README.md"]  # the first page includes it

html_theme = "furo"
html_title = "tinyframe"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"
