"""Pictures of graphs, for notebooks.

from tinyframe.viz import graph
graph(x)
"""

from tinyframe.viz.compare import compare
from tinyframe.viz.graphs import graph
from tinyframe.viz.layout import NoLayout
from tinyframe.viz.picture import Picture

__all__ = ["NoLayout", "Picture", "compare", "graph"]
