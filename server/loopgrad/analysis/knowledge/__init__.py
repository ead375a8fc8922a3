"""What torch and the libraries around it do, as data and as small models."""
