"""The parts of `build_book.py`: how one notebook becomes one page that needs no network."""
