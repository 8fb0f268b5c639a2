"""For teaching: figures that move without a kernel."""
