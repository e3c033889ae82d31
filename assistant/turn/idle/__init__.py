"""Work that is done for a chat while it is idle: titles and model summaries."""
