"""Parts of local protocols: fields, hashes, transforms, grids and intervals."""
