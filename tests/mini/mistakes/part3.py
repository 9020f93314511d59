"""(function, what somebody writes instead, what they are told)"""

MISTAKES = [
    ("flat", """
        place = 0
        for i, size in zip(index, (1, *shape)):
            place = place * size + i
        return place
        """, "You multiplied the row by 3"),
    ("flat", """
        place = 0
        for i, size in zip(reversed(index), reversed(shape)):
            place = place * size + i
        return place
        """, "its place if the columns were written one after another"),
    ("flat", "return sum(i * size for i, size in zip(index, shape))", "the size of its own axis"),
    ("flat", "return sum(index)", "One step along the first axis skips a whole"),
    ("flat", "return index[0] * shape[1] + index[1]", "This is right for two axes"),
    ("flat", "print(index)", "returns nothing. Is there a `return`?"),
    ("flat", "return index.place", "AttributeError: 'tuple' object has no attribute 'place'"),
    ("unflat", """
        index = []
        for size in reversed(shape):
            index.append(place % size)
            place = place // size
        return tuple(index)
        """, "the right numbers, back to front"),
    ("unflat", """
        index = []
        for size in shape:
            index.append(place % size)
            place = place // size
        return tuple(index)
        """, "You started with the first axis"),
    ("unflat", """
        index = []
        for size in reversed(shape):
            index.insert(0, place % size)
            place = place // size
        return index
        """, "should be of type tuple, not list"),
    ("unflat", """
        index = []
        while place >= 0:
            place = place // 4
        return tuple(index)
        """, "stopped after 5 seconds"),
    ("Array.of", "return Array(shape, lambda index: values[index[0]])",
     "You counted a row as 1 element"),
    ("Array.moved", "return Array(shape, lambda index: self.at(index))",
     "The elements did not move"),
    ("Array.moved", "return Array(shape, source_index)", "`at` should give a number"),
    ("Array.moved", """
        import itertools
        stored = {i: self.at(source_index(i)) for i in itertools.product(*map(range, shape))}
        return Array(shape, stored.get)
        """, "Elements were computed when the Array was made"),
    ("Array.moved", """
        self.shape, old = shape, self.at
        self.at = lambda index: old(source_index(index))
        return self
        """, "You changed the Array itself"),
    ("Array.map", """
        return Array(self.shape, lambda i: function(*(o.at(i) for o in others), self.at(i)))
        """, "in the wrong order"),
    ("Array.sum", """
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        return Array(shape, lambda i: sum(
            self.at(i[:axis] + (k,) + i[axis + 1 :]) for k in range(self.shape[axis])))
        """, "An index has one number for each axis"),
    ("Array.map", "return Array(self.shape, lambda i: function(self.at(i), others[0].at(i)))",
     "IndexError"),
    ("Array.sum", """
        shape = self.shape[:axis] + (1,) + self.shape[axis + 1 :]
        return Array(shape, lambda i: sum(self.at((*i[:axis], k, *i[axis + 1 :]))
                                          for k in range(self.shape[axis])))
        """, "The summed axis should disappear"),
    ("Array.sum", """
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        return Array(shape, lambda i: sum(self.at((*i, k)) for k in range(self.shape[axis])))
        """, "Element"),
    ("Array.tolist", "return [self.at((i,)) for i in range(self.shape[0])]", "IndexError"),
]  # fmt: skip
