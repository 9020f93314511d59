"""Pictures of graphs, for notebooks.

from tinyframe.viz import graph
graph(x)
"""

from tinyframe.viz.graphs import graph
from tinyframe.viz.layout import NoLayout
from tinyframe.viz.picture import Picture
from tinyframe.viz.rewrites import rewrites

__all__ = ["NoLayout", "Picture", "graph", "rewrites"]
