"""Pictures of graphs, for notebooks.

from tinyframe.viz import graph
graph(x)
"""

from tinyframe.viz.layout import NoLayout
from tinyframe.viz.picture import Picture, graph

__all__ = ["NoLayout", "Picture", "graph"]
