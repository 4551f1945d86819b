"""Pictures of fitted models, as Plotly figures: plain data in, a figure out."""
