"""Pictures of a fitted model: one HTML file that opens without a network."""

from stickbreak.report.build import build_report
from stickbreak.report.comparison import render_comparison, write_comparison
from stickbreak.report.components import build_component_report
from stickbreak.report.data import ComponentsData, MapData, ReportData
from stickbreak.report.document_map import build_map
from stickbreak.report.write import render_html, write_report

__all__ = [
    "ComponentsData",
    "MapData",
    "ReportData",
    "build_component_report",
    "build_map",
    "build_report",
    "render_comparison",
    "render_html",
    "write_comparison",
    "write_report",
]
