"""What an unfinished build keeps: the records and pages that its tasks have made so far."""
