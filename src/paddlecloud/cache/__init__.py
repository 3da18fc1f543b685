"""The data runtime of a SampleSet: brings the samples near the training and tells the truth about them."""
