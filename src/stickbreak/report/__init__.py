"""Pictures of a fitted model: one HTML file that opens without a network."""

from stickbreak.report.build import build_report
from stickbreak.report.comparison import render_comparison, write_comparison
from stickbreak.report.components import build_component_report
from stickbreak.report.data import ComponentsData, ReportData
from stickbreak.report.write import render_html, write_report

__all__ = [
    "ComponentsData",
    "ReportData",
    "build_component_report",
    "build_report",
    "render_comparison",
    "render_html",
    "write_comparison",
    "write_report",
]
