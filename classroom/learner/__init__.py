"""The learner's side: an exercise checked at once, hints, and what has been done so far."""
