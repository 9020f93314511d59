"""Programs for developers of tinyframe. They import the package; nothing imports them."""
