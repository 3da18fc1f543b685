"""What processors of models are made of: pictures, words and labels."""
