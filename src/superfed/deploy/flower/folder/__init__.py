"""A federation's folder: certificates, keys, and a folder for each site."""
