"""PaddleClas's commands on a small ResNet: pictures to classes."""
