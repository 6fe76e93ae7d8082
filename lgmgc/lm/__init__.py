"""Language models: catalogue and store, loading, boundary scores, scheduling."""
