"""What the paper compares itself with: recurrent models, the layers of Table 1, FLOPs."""
