"""The harness: cases with bars, peers in environments of their own, interleaved rounds, reports."""
