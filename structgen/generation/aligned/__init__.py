"""Answers that are true to the model: samples of its own distribution over whole answers, with weights; and beams.

A mask decides token by token, and so changes the distribution: a model that is led into a corner has to write what is
left there. The target here is the model's distribution, given that the whole answer fits the schema.

    target       the distribution, and the prefixes of its answers
    reader       logits after many prefixes, in shared passes of the model
    smc          sequential Monte Carlo: particles that carry weights
    awrs         adaptive weighted rejection: tokens are drawn first, then checked
    asap         adaptive sampling: what is learned about dead corners steers the next draws
    beams        the most probable answers
    samples      values with weights
    answer       all of these, as the answer of a run
"""
