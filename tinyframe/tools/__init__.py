"""Programs for those who work on tinyframe. They import the package; nothing imports them."""
