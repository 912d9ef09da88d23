"""What happens to the pages once Sphinx has made them, and while its templates are filled."""
