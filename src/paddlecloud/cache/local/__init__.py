"""The engine `local`: every partition holds a whole copy of the samples as plain files on its node."""
