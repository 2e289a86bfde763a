"""The site, as `cargo xtask book` builds it from the pages and from what they link to."""

project = "Swath"
author = "The Swath developers"
project_copyright = author
extensions = ["myst_parser"]
# The links were pointed into the site before; anchors are those of the repository's pages.
myst_all_links_external = True
myst_heading_anchors = 6
html_theme = "furo"
html_title = "Swath"
# Files of the repository that are shown as they are.
html_extra_path = ["../shown"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
