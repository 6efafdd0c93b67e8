"""What can be wrong with a proof: it does not hold, it takes too long to check, or its file is damaged."""

from solver.errors import Ttt4Error


class Refuted(Ttt4Error):
    """A proof does not hold; the message shows where."""

    kind = "refuted"


class CheckTooLong(Ttt4Error):
    """Checking a proof takes more steps than are allowed, so nothing is known of it."""

    kind = "check-too-long"


class ProofDamaged(Ttt4Error):
    """A proof file cannot be read: it is cut short, altered, or of another format."""

    kind = "proof-damaged"
    exit_code = 4
