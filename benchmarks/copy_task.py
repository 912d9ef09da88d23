"""The copy task: how many of 1,000 unseen sequences are given back whole, and how soon."""
