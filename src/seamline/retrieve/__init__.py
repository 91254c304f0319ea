"""THE SEAM: query and scope in, fused candidates with their stages out."""
