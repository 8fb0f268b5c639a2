"""A study, an overview or a leaderboard as files: for browsers, papers and programs."""

from permtest.report.files import write_files
from permtest.report.leaderboard import check_leaderboard, write_leaderboard
from permtest.report.overview import check_overview, report_files, write_overview
from permtest.report.pictures import MOST_CELLS
from permtest.report.study import check_writable, drawable, write_report

__all__ = [
    "MOST_CELLS",
    "check_leaderboard",
    "check_overview",
    "check_writable",
    "drawable",
    "report_files",
    "write_files",
    "write_leaderboard",
    "write_overview",
    "write_report",
]
