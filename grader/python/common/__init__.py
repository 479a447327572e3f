"""Code that the other packages share: console, documents, reports, and building blocks of pages."""
